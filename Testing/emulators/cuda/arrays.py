"""numpy in the role of CuPy, with arrays that show when a kernel writes outside of them."""

import ctypes
import weakref

import numpy as np

MARGIN = 256  # bytes before and behind an array; also the alignment of CuPy's arrays
_MARKS = b"\x6b" * (2 * MARGIN)  # of the larger margin
_GARBAGE = 0xA5


class _Block(np.ndarray):
    """The memory of one array with its margins; `inside` is the array's own part."""

    inside = slice(0)
    address = 0


def guarded_empty(shape, dtype=float):
    """An uninitialised array between two margins; as on a GPU, it holds garbage."""
    size = int(np.prod(shape, dtype=np.int64)) * np.dtype(dtype).itemsize
    block = _Block(size + 3 * MARGIN, dtype=np.uint8)
    block.address = block.ctypes.data
    # Never 0: memory begins before the margin, also where it happens to be aligned.
    start = 2 * MARGIN - block.address % MARGIN
    block.inside = slice(start, start + size)
    for address, length in _margins(block):
        ctypes.memmove(address, _MARKS, length)
    inside = block.view(np.ndarray)[block.inside]
    inside.fill(_GARBAGE)
    return inside.view(dtype).reshape(shape)


def guarded_block(array):
    """The guarded memory in which an array lies, or None; `inside` is the part to be used."""
    while isinstance(array, np.ndarray) and not isinstance(array, _Block):
        array = array.base
    return array if isinstance(array, _Block) else None


def is_overrun(array):
    """Whether the margins of a guarded array were written to."""
    block = guarded_block(array)
    return block is not None and any(
        ctypes.string_at(*margin) != _MARKS[: margin[1]] for margin in _margins(block)
    )


def _margins(block):
    """Address and length of the bytes before and behind the array."""
    start, stop = block.inside.start, block.inside.stop
    return (block.address, start), (block.address + stop, block.size - stop)


class GuardedNumpy:
    """The module numpy, whose functions that make arrays make guarded ones.

    Attributes
    ----------
    used, peak : int
        Bytes that its arrays have, in pieces of 512 as on a GPU, and the most that they had.
    """

    def __init__(self):
        self.used = self.peak = 0

    def __getattr__(self, name):
        return getattr(np, name)

    def empty(self, shape, dtype=float):
        array = guarded_empty(shape, dtype)
        size = max(-(-array.nbytes // 512), 1) * 512
        weakref.finalize(guarded_block(array), self._count, -size)
        self._count(size)
        return array

    def _count(self, size):
        self.used += size
        self.peak = max(self.peak, self.used)

    def zeros(self, shape, dtype=float):
        return self.full(shape, 0, dtype)

    def ones(self, shape, dtype=float):
        return self.full(shape, 1, dtype)

    def full(self, shape, value, dtype=None):
        array = self.empty(shape, np.asarray(value).dtype if dtype is None else dtype)
        array.fill(value)
        return array

    def empty_like(self, array, dtype=None):
        return self.empty(array.shape, dtype or array.dtype)

    def array(self, values, dtype=None):
        values = np.asarray(values, dtype)
        array = self.empty(values.shape, values.dtype)
        array[...] = values
        return array

    def asarray(self, values, dtype=None):
        """On a GPU this copies what is not there yet; here it always copies."""
        return self.array(values, dtype)
