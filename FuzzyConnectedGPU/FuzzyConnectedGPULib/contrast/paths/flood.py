"""Flood fill over 26 neighbours, on the CPU."""

from collections.abc import Sequence

import numpy as np
from numba import njit

from FuzzyVesselCoreLib.voxels.growing_arrays import doubled


def component(
    values: np.ndarray,
    inside: np.ndarray | None,
    start: Sequence[int],
    threshold: float,
    limit: int,
    sign: int = 1,
) -> np.ndarray:
    """The 26-connected component of a voxel among the voxels of at least a threshold.

    Parameters
    ----------
    values : ndarray, shape (K, J, I), float32
    inside : ndarray of uint8, same shape, or None
    start : (K, J, I)
    threshold : float
    limit : int
        The search ends as soon as there are more voxels.
    sign : int
        -1: of the negative values, which need not be computed.

    Returns
    -------
    ndarray, int64
        Flat indices; more than `limit` of them where the search was ended, none where the start is
        below the threshold.
    """
    mask = np.empty(0, np.uint8) if inside is None else inside.ravel()
    flat = int(np.ravel_multi_index(start, values.shape))
    seen = np.zeros(-(-values.size // 64), np.uint64)
    shape = np.array(values.shape, np.int64)
    bound = np.float32(threshold), np.float32(sign)
    found, count = _fill(values.ravel(), mask, flat, shape, *bound, limit, seen)
    return found[:count].copy()


@njit(cache=True, nogil=True)
def _fill(values, mask, start, shape, threshold, sign, limit, seen):
    found = np.empty(1024, np.int64)
    count = 0
    if sign * values[start] >= threshold and (mask.size == 0 or mask[start]):
        found[0] = start
        seen[start >> 6] |= np.uint64(1) << np.uint64(start & 63)
        count = 1
    plane, row = shape[1] * shape[2], shape[2]
    done = 0
    while done < count and count <= limit:
        voxel = found[done]
        done += 1
        if found.size - count < 27:
            found = doubled(found)
        k, j, i = voxel // plane, voxel // row % shape[1], voxel % row
        low, high = max(i - 1, 0), min(i + 2, row)
        for ok in range(max(k - 1, 0), min(k + 2, shape[0])):
            for oj in range(max(j - 1, 0), min(j + 2, shape[1])):
                first = ok * plane + oj * row
                for other in range(first + low, first + high):
                    word, bit = other >> 6, np.uint64(1) << np.uint64(other & 63)
                    if seen[word] & bit or sign * values[other] < threshold:
                        continue
                    if mask.size and not mask[other]:
                        continue
                    seen[word] |= bit
                    found[count] = other
                    count += 1
    return found, count
