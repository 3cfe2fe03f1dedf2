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

    Returns
    -------
    ndarray, int64
        Flat indices; more than `limit` of them where the search was ended, none where the start is
        below the threshold.
    """
    mask = np.empty(0, np.uint8) if inside is None else inside.ravel()
    flat = int(np.ravel_multi_index(start, values.shape))
    seen = np.zeros(values.size, np.uint8)
    shape = np.array(values.shape, np.int64)
    lowest = np.float32(threshold)
    found, count = _fill(values.ravel(), mask, flat, shape, lowest, limit, seen)
    return found[:count].copy()


@njit(cache=True)
def _fill(values, mask, start, shape, threshold, limit, seen):
    found = np.empty(1024, np.int64)
    count = 0
    if values[start] >= threshold and (mask.size == 0 or mask[start]):
        found[0] = start
        seen[start] = 1
        count = 1
    plane, row = shape[1] * shape[2], shape[2]
    done = 0
    while done < count and count <= limit:
        voxel = found[done]
        done += 1
        if found.size - count < 27:
            found = doubled(found)
        k, j, i = voxel // plane, voxel // row % shape[1], voxel % row
        for dk in range(-1, 2):
            if not 0 <= k + dk < shape[0]:
                continue
            for dj in range(-1, 2):
                if not 0 <= j + dj < shape[1]:
                    continue
                for di in range(-1, 2):
                    if not 0 <= i + di < shape[2]:
                        continue
                    other = voxel + dk * plane + dj * row + di
                    if seen[other] or values[other] < threshold:
                        continue
                    if mask.size and not mask[other]:
                        continue
                    seen[other] = 1
                    found[count] = other
                    count += 1
    return found, count
