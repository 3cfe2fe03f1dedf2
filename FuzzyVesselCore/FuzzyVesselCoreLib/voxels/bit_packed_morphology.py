"""Growing and shrinking of a mask by cubes, 64 voxels of a row at a time; compiled.

Bit n of word w is voxel 64 w + n of its row. What lies beyond the volume counts as 0.
"""

import numpy as np
from numba import njit

from .components.run_length import end_of

WORD = 64
ZERO, ONE, LAST = np.uint64(0), np.uint64(1), np.uint64(WORD - 1)


def classes_and_wanted(mask, layers, look):
    """Classes of the voxels of a mask, grown by some layers, and which of their forces are wanted.

    Parameters
    ----------
    mask : ndarray of bool, shape (K, J, I)
    layers : int
        Of 26 neighbours.
    look : callable
        Called between steps; raises to cancel.

    Returns
    -------
    classes : ndarray of uint8, shape (K, J, I)
        See `voxel_classes.classify_voxels`.
    wanted : ndarray of bool, shape (K, J, I)
        The inner voxels, and the boundary voxels without an inner one among their 26 neighbours.
    """
    solid = packed(mask.view(np.uint8))
    for _ in range(layers):
        look()
        solid = grown(solid, mask.shape[2])
    look()
    no_surface = shrunk(solid)
    inner = shrunk(no_surface)
    look()
    near_inner = grown(inner, mask.shape[2])
    classes, wanted = np.zeros(mask.shape, np.uint8), np.zeros(mask.shape, bool)
    unpack(solid, no_surface, inner, near_inner, classes, wanted)
    return classes, wanted


@njit(cache=True)
def packed(mask):
    """Bits of a mask (K, J, I); uint64 (K, J, words)."""
    depth, rows, width = mask.shape
    words = (width + WORD - 1) // WORD
    bits = np.zeros((depth, rows, words), np.uint64)
    for k in range(depth):
        for j in range(rows):
            row = mask[k, j]
            for word in range(words):
                some = row[word * WORD : min((word + 1) * WORD, width)]
                if end_of(some, 0, np.uint8(0)) == some.size:
                    continue
                here = ZERO
                for n in range(some.size):
                    here |= np.uint64(some[n] != 0) << np.uint64(n)
                bits[k, j, word] = here
    return bits


@njit(cache=True)
def grown(bits, width):
    """A voxel is set where it or one of its 26 neighbours is; `width` is the length of a row."""
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
                here = beside_or(columns, j, word)
                after = beside_or(columns, j, word + 1) if word < words - 1 else ZERO
                result[k, j, word] = (
                    here | here << ONE | before >> LAST | here >> ONE | after << LAST
                )
                before = here
            result[k, j, words - 1] &= end
    return result


@njit(cache=True)
def beside_or(columns, j, word):
    here = columns[j, word]
    if j > 0:
        here |= columns[j - 1, word]
    if j < columns.shape[0] - 1:
        here |= columns[j + 1, word]
    return here


@njit(cache=True)
def shrunk(bits):
    """A voxel is set where it and all of its 26 neighbours are."""
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
                here = beside_and(columns, j, word)
                after = beside_and(columns, j, word + 1) if word < words - 1 else ZERO
                before_it, after_it = here << ONE | before >> LAST, here >> ONE | after << LAST
                result[k, j, word] = here & before_it & after_it
                before = here
    return result


@njit(cache=True)
def beside_and(columns, j, word):
    return columns[j - 1, word] & columns[j, word] & columns[j + 1, word]


@njit(cache=True)
def unpack(solid, no_surface, inner, near_inner, classes, wanted):
    """Set the classes, and what is wanted; both are 0 before."""
    depth, rows, width = classes.shape
    for k in range(depth):
        for j in range(rows):
            for word in range(solid.shape[2]):
                one, two, three = solid[k, j, word], no_surface[k, j, word], inner[k, j, word]
                if one == ZERO:
                    continue
                chosen = three | two & ~near_inner[k, j, word]
                first = word * WORD
                last = min(first + WORD, width)
                spread_bits(
                    one, two, three, chosen, classes[k, j, first:last], wanted[k, j, first:last]
                )


@njit(cache=True)
def spread_bits(one, two, three, chosen, classes, wanted):
    for n in range(classes.size):
        bit = np.uint64(n)
        classes[n] = (one >> bit & ONE) + (two >> bit & ONE) + (three >> bit & ONE)
        wanted[n] = chosen >> bit & ONE != ZERO
