"""numpy in the role of CuPy, with arrays that show when a kernel writes outside of them."""

import numpy as np

MARGIN = 256  # bytes before and behind an array; also the alignment of CuPy's arrays
_MARK = 0x6B
_GARBAGE = 0xA5


class _Block(np.ndarray):
    """The memory of one array with its margins; `inside` is the array's own part."""

    inside = slice(0)


def guarded_empty(shape, dtype=float):
    """An uninitialised array between two margins; as on a GPU, it holds garbage."""
    size = int(np.prod(shape, dtype=np.int64)) * np.dtype(dtype).itemsize
    block = _Block(size + 3 * MARGIN, dtype=np.uint8)
    # Never 0: memory begins before the margin, also where it happens to be aligned.
    start = 2 * MARGIN - block.ctypes.data % MARGIN
    block.inside = slice(start, start + size)
    block.fill(_MARK)
    block[block.inside] = _GARBAGE
    return block.view(np.ndarray)[block.inside].view(dtype).reshape(shape)


def guarded_copy(array):
    """A copy in C order between two margins."""
    copy = guarded_empty(np.shape(array), np.asarray(array).dtype)
    copy[...] = array
    return copy


def guarded_block(array):
    """The guarded memory in which an array lies, or None; `inside` is the part to be used."""
    while isinstance(array, np.ndarray) and not isinstance(array, _Block):
        array = array.base
    return array if isinstance(array, _Block) else None


def is_overrun(block):
    """Whether the margins of guarded memory were written to."""
    outside = (block[: block.inside.start], block[block.inside.stop :])
    return any(np.any(part != _MARK) for part in outside)


class GuardedNumpy:
    """The module numpy, whose functions that make arrays make guarded ones."""

    def __getattr__(self, name):
        return getattr(np, name)

    def empty(self, shape, dtype=float):
        return guarded_empty(shape, dtype)

    def zeros(self, shape, dtype=float):
        return self.full(shape, 0, dtype)

    def ones(self, shape, dtype=float):
        return self.full(shape, 1, dtype)

    def full(self, shape, value, dtype=None):
        array = guarded_empty(shape, np.asarray(value).dtype if dtype is None else dtype)
        array.fill(value)
        return array

    def empty_like(self, array, dtype=None):
        return self.empty(array.shape, dtype or array.dtype)

    def zeros_like(self, array, dtype=None):
        return self.zeros(array.shape, dtype or array.dtype)

    def ones_like(self, array, dtype=None):
        return self.ones(array.shape, dtype or array.dtype)

    def full_like(self, array, value, dtype=None):
        return self.full(array.shape, value, dtype or array.dtype)

    def array(self, values, dtype=None):
        return guarded_copy(np.asarray(values, dtype))

    def asarray(self, values, dtype=None):
        """On a GPU this copies what is not there yet; here it always copies."""
        return self.array(values, dtype)

    def asnumpy(self, array):
        return np.array(array)
