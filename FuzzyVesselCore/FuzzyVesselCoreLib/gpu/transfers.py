"""Copies of large arrays between pageable host memory and the device.

Transfers are fast only from and to pinned memory. So each of several threads copies chunks through
a pinned buffer of its own: while the device copies one, others are filled or emptied.
"""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from ..threads import usable_cores

CHUNK_BYTES = 8 << 20
MAX_THREADS = 8  # more are bound by the memory
PINNED_THRESHOLD = 16 << 20  # bytes; smaller arrays are copied as fast without buffers


def to_device(xp: Any, array: np.ndarray) -> Any:
    """Copy a numpy array, also a box of a larger one, to an array (C order) on the device."""
    device = xp.empty(array.shape, array.dtype)
    if array.nbytes < PINNED_THRESHOLD:
        device.set(np.ascontiguousarray(array))
        return device

    def move(part: slice, buffer: np.ndarray, stream: Any) -> None:
        np.copyto(buffer, array[part])
        device[part].set(buffer, stream=stream)

    _by_chunks(xp, array.shape, array.dtype, move)
    return device


def to_host(xp: Any, array: Any) -> np.ndarray:
    """Copy an array of the current device (C-contiguous) into a new numpy array."""
    if array.nbytes < PINNED_THRESHOLD:
        return xp.asnumpy(array)
    host = np.empty(array.shape, array.dtype)

    def move(part: slice, buffer: np.ndarray, stream: Any) -> None:
        array[part].get(out=buffer, stream=stream, blocking=True)
        np.copyto(host[part], buffer)

    _by_chunks(xp, array.shape, array.dtype, move)
    return host


def _by_chunks(xp: Any, shape: tuple[int, ...], dtype: np.dtype, move: Callable) -> None:
    """Call ``move(part, buffer, stream)`` by threads for parts along the first axis."""
    import cupyx

    plane = int(np.prod(shape[1:], dtype=np.int64))
    step = max(1, CHUNK_BYTES // (plane * dtype.itemsize))
    parts = [slice(n, min(n + step, shape[0])) for n in range(0, shape[0], step)]
    launched, use_device = xp.cuda.get_current_stream().record(), xp.cuda.Device().use
    own = threading.local()

    def work(part: slice) -> None:
        if not hasattr(own, "stream"):
            use_device()  # threads have the first one by default
            own.stream = xp.cuda.Stream(non_blocking=True)
            own.stream.wait_event(launched)  # whatever uses the memory until now
            own.buffer = cupyx.empty_pinned((step, *shape[1:]), dtype)
        move(part, own.buffer[: part.stop - part.start], own.stream)
        own.stream.synchronize()

    with ThreadPoolExecutor(min(usable_cores(), MAX_THREADS, len(parts))) as pool:
        list(pool.map(work, parts))
