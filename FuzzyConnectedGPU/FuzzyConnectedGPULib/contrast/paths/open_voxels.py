"""Voxels that paths may pass, as bits: 64 voxels a word, so that they fit into a cache."""

import numpy as np
from numba import njit, prange

NEVER = np.float32(1e-5)  # relative margin below the floor: no path there, whatever the rounding


def open_voxels(
    contrast: np.ndarray,
    inside: np.ndarray | None,
    unit: float,
    floor: int,
    rivals: tuple[np.ndarray, float] | None,
) -> tuple[np.ndarray, np.ndarray]:
    """Voxels of at least the floor inside the mask, and those of rivals among them.

    Parameters are those of `widest_paths.widest_paths`.

    Returns
    -------
    passable, theirs : ndarray, uint64
        Voxel n is bit ``n % 64`` of word ``n // 64``; `theirs` is empty without rivals.
    """
    size, words = contrast.size, -(-contrast.size // 64)
    passable = np.empty(words, np.uint64)
    mask = np.empty(0, np.uint8) if inside is None else inside.ravel()
    low = certainly_low(unit, floor)
    _passable(contrast.ravel(), mask, float(unit), floor, low, size, passable)
    theirs = np.empty(0, np.uint64)
    if rivals is not None:
        theirs = np.empty(words, np.uint64)
        _brighter(rivals[0].ravel(), np.float32(rivals[1]), passable, theirs)
    return passable, theirs


def certainly_low(unit: float, floor: int) -> np.float32:
    """A contrast below which no voxel reaches the floor."""
    return np.float32(floor / 256 * unit) * (1 - NEVER)


@njit(cache=True)
def level_of(value: float, unit: float) -> np.int64:
    """Level of a contrast."""
    level = np.floor(np.float64(value) / unit * 256)
    return np.int64(min(max(level, 0.0), 65535.0))


@njit(parallel=True, cache=True)
def _passable(contrast, mask, unit, floor, low, size, passable):
    for word in prange(passable.size):
        bits, first = np.uint64(0), 64 * word
        for n in range(min(64, size - first)):
            value = contrast[first + n]
            if value < low or (mask.size and not mask[first + n]):
                continue
            if level_of(value, unit) >= floor:
                bits |= np.uint64(1) << np.uint64(n)
        passable[word] = bits


@njit(parallel=True, cache=True)
def _brighter(smooth, brighter, passable, theirs):
    for word in prange(passable.size):
        bits, left = np.uint64(0), passable[word]
        for n in range(64):
            bit = np.uint64(1) << np.uint64(n)
            if left & bit and smooth[64 * word + n] > brighter:
                bits |= bit
        theirs[word] = bits
