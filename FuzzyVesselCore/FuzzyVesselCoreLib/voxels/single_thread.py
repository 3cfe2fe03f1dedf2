"""Small volumes are worked on in the calling thread: to wake others takes longer than the work."""

from contextlib import contextmanager
from math import prod

from numba import get_num_threads, set_num_threads

SMALL = 1 << 17  # voxels


@contextmanager
def own_thread_if_small(shape):
    """Run the compiled loops within in the calling thread if a volume of this shape is small."""
    threads = get_num_threads()
    if prod(shape) < SMALL:
        set_num_threads(1)
    try:
        yield
    finally:
        set_num_threads(threads)
