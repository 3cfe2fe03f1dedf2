"""Dilation and erosion of a mask by a cube of 3 x 3 x 3 voxels, 64 voxels of a row at a time.

Bit n of word w is voxel 64 w + n of its row; beyond the volume voxels are 0. By NumPy: an eighth of
the bytes of the mask go through memory, and nothing waits for a compiler.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

WORD = 64
ONE, HIGHEST = np.uint64(1), np.uint64(WORD - 1)
WORDS: Any = np.dtype("<u8")  # bytes in the order of the voxels


def pack(mask: np.ndarray) -> np.ndarray:
    """Return the bits of a mask of bool or uint8 (K, J, I) as uint64 (K, J, words)."""
    some = np.packbits(mask, axis=2, bitorder="little")
    depth, rows, used = some.shape
    bits = np.zeros((depth, rows, -(-mask.shape[2] // WORD) * 8), np.uint8)
    bits[:, :, :used] = some
    return bits.view(WORDS)


def unpack(bits: np.ndarray, width: int) -> np.ndarray:
    """Return the first voxels of rows of words (rows, words) as uint8 (rows, width), 0 or 1."""
    return np.unpackbits(bits.view(np.uint8), axis=-1, count=width, bitorder="little")


def dilate(bits: np.ndarray, width: int) -> np.ndarray:
    """Set each voxel that is set or has a neighbour that is; `width` is the length of a row."""
    result = moved_up(bits)
    result |= moved_down(bits)
    result |= bits
    for axis in (1, 0):
        result = _with_both_sides(result, axis, np.bitwise_or)
    result[:, :, -1] &= np.uint64(0xFFFFFFFFFFFFFFFF) >> np.uint64(-width % WORD)
    return result


def erode(bits: np.ndarray) -> np.ndarray:
    """Keep each voxel that is set and whose 26 neighbours all are."""
    result = moved_up(bits)
    result &= moved_down(bits)
    result &= bits
    for axis in (1, 0):
        result = _with_both_sides(result, axis, np.bitwise_and)
        result.swapaxes(0, axis)[[0, -1]] = 0
    return result


def moved_up(bits: np.ndarray) -> np.ndarray:
    """Move all voxels by one along I; what leaves the last word is lost."""
    moved = bits << ONE
    moved[:, :, 1:] |= bits[:, :, :-1] >> HIGHEST
    return moved


def moved_down(bits: np.ndarray) -> np.ndarray:
    """Move all voxels by one against I; what leaves the first word is lost."""
    moved = bits >> ONE
    moved[:, :, :-1] |= bits[:, :, 1:] << HIGHEST
    return moved


def _with_both_sides(bits: np.ndarray, axis: int, combine: Callable[..., np.ndarray]) -> np.ndarray:
    """Combine each word with those before and after it along an axis."""
    result = bits.copy()
    source, target = bits.swapaxes(0, axis), result.swapaxes(0, axis)
    combine(target[1:], source[:-1], out=target[1:])
    combine(target[:-1], source[1:], out=target[:-1])
    return result
