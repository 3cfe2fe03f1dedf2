"""Dilation and erosion of a mask by a cube of 3 x 3 x 3 voxels, 64 voxels of a row at a time.

Compiled. Bit n of word w is voxel 64 w + n of its row; beyond the volume voxels are 0.
"""

import numpy as np

from ..jit.decorators import compiled, compiled_inside
from .components.runs import START, run_end

WORD = 64
ZERO, ONE, HIGHEST = np.uint64(0), np.uint64(1), np.uint64(WORD - 1)


@compiled
def pack(mask: np.ndarray) -> np.ndarray:
    """Return the bits of a mask of uint8 (K, J, I) as uint64 (K, J, words)."""
    depth, rows, width = mask.shape
    words = (width + WORD - 1) // WORD
    bits = np.zeros((depth, rows, words), np.uint64)
    for k in range(depth):
        for j in range(rows):
            row = mask[k, j]
            for word in range(words):
                some = row[word * WORD : min((word + 1) * WORD, width)]
                if run_end(some, START, np.uint8(0)) == some.size:
                    continue
                here = ZERO
                for n in range(some.size):
                    here |= np.uint64(some[n] != 0) << np.uint64(n)
                bits[k, j, word] = here
    return bits


@compiled
def dilate(bits: np.ndarray, width: int) -> np.ndarray:
    """Set each voxel that is set or has a neighbour that is; `width` is the length of a row."""
    depth, rows, words = bits.shape
    result = np.zeros_like(bits)
    end = np.uint64(0xFFFFFFFFFFFFFFFF) >> np.uint64(words * WORD - width)
    for k in range(depth):
        columns = np.empty((rows, words), np.uint64)
        for j in range(rows):
            for word in range(words):
                here = bits[k, j, word]
                if k > 0:
                    here |= bits[k - 1, j, word]
                if k < depth - 1:
                    here |= bits[k + 1, j, word]
                columns[j, word] = here
        for j in range(rows):
            before = ZERO
            for word in range(words):
                here = or_of_rows(columns, j, word)
                after = or_of_rows(columns, j, word + 1) if word < words - 1 else ZERO
                result[k, j, word] = (
                    here | here << ONE | before >> HIGHEST | here >> ONE | after << HIGHEST
                )
                before = here
            result[k, j, words - 1] &= end
    return result


@compiled_inside
def or_of_rows(columns: np.ndarray, j: int, word: int) -> np.uint64:
    """Return the bits that are set in a row or in one of those beside it."""
    here = columns[j, word]
    if j > 0:
        here |= columns[j - 1, word]
    if j < columns.shape[0] - 1:
        here |= columns[j + 1, word]
    return here


@compiled
def erode(bits: np.ndarray) -> np.ndarray:
    """Keep each voxel that is set and whose 26 neighbours all are."""
    depth, rows, words = bits.shape
    result = np.zeros_like(bits)
    for k in range(1, depth - 1):
        columns = np.empty((rows, words), np.uint64)
        for j in range(rows):
            for word in range(words):
                columns[j, word] = bits[k - 1, j, word] & bits[k, j, word] & bits[k + 1, j, word]
        for j in range(1, rows - 1):
            before = ZERO
            for word in range(words):
                here = and_of_rows(columns, j, word)
                after = and_of_rows(columns, j, word + 1) if word < words - 1 else ZERO
                lower = here << ONE | before >> HIGHEST
                higher = here >> ONE | after << HIGHEST
                result[k, j, word] = here & lower & higher
                before = here
    return result


@compiled_inside
def and_of_rows(columns: np.ndarray, j: int, word: int) -> np.uint64:
    """Return the bits that are set in a row and in both beside it."""
    return columns[j - 1, word] & columns[j, word] & columns[j + 1, word]
