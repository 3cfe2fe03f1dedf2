"""Widest paths of the weakest voxel, over all 26 neighbours, on the CPU.

The strength of a path is the lowest level of its voxels; a voxel's connectedness is that of the
strongest path from a start. A bucket queue (Dial 1969) empties levels from the highest down, so
each voxel is expanded once, with its final level; voxels below the floor are never touched.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numba import njit

if TYPE_CHECKING:
    from FuzzyVesselCoreLib.gpu.device import CudaDevice

TOP = 65535
# Levels per unit of contrast; the level of the unit itself is exact.
STEPS = 256


def widest_paths(
    contrast: np.ndarray,
    inside: np.ndarray | None,
    starts: Sequence[Sequence[int]],
    unit: float,
    floor: int,
    rivals: np.ndarray | None = None,
    gpu: "CudaDevice | None" = None,
) -> np.ndarray:
    """Connectedness of all voxels to the starts: the weakest voxel of the strongest path.

    Parameters
    ----------
    contrast : ndarray, shape (K, J, I), float32
    inside : ndarray of uint8, same shape, or None
        Paths stay where it is not 0.
    starts : sequence of (K, J, I)
    unit : float
        A contrast of `unit` has the level `STEPS`; levels are rounded down, so that a voxel has
        at least the level STEPS just where its contrast is at least the unit.
    floor : int
        Levels below it count as 0; at least 1.
    rivals : ndarray of int, optional
        Flat indices of voxels of other objects. Their paths spread in the same way, and a voxel
        belongs to the stronger path, to the starts in a tie (iterative relative connectedness,
        Ciesielski, Udupa and Zhuge 2007); voxels of other objects have level 0.
    gpu : CudaDevice, optional
        Computes the levels, inside its ``with`` block, with the same result.

    Returns
    -------
    ndarray, uint16, of the same shape
        Levels, 0 where there is no path.
    """
    if gpu is not None:
        return _on_device(contrast, inside, starts, unit, floor, rivals, gpu)
    levels = np.zeros(contrast.shape, np.uint16)
    following = np.empty(contrast.size, np.int32 if contrast.size < 2**31 else np.int64)
    mask = np.empty(0, np.uint8) if inside is None else inside.ravel()
    flat = np.array([np.ravel_multi_index(s, contrast.shape) for s in starts], np.int64)
    theirs = np.empty(0, np.uint8)
    if rivals is not None and len(rivals):
        theirs = np.zeros(contrast.size, np.uint8)
        theirs[rivals] = 1
        theirs[flat] = 0
        flat = np.concatenate([flat, np.asarray(rivals, np.int64)])
    shape = np.array(contrast.shape, np.int64)
    arrays = levels.ravel(), following, theirs
    _spread(contrast.ravel(), mask, flat, shape, float(unit), floor, *arrays)
    if theirs.size:
        levels.ravel()[theirs > 0] = 0
    return levels


def _on_device(
    contrast: np.ndarray,
    inside: np.ndarray | None,
    starts: Sequence[Sequence[int]],
    unit: float,
    floor: int,
    rivals: np.ndarray | None,
    gpu: "CudaDevice",
) -> np.ndarray:
    from .cuda_widest_paths import cuda_widest_paths

    mask = None if inside is None else gpu.put(inside)
    others = None
    if rivals is not None and len(rivals):
        is_rival = np.zeros(contrast.shape, np.float32)
        is_rival.ravel()[rivals] = 1
        others = gpu.put(is_rival), 0.5
    return gpu.get(cuda_widest_paths(gpu.put(contrast), mask, starts, unit, floor, gpu, others))


@njit(cache=True)
def _level(value, unit):
    level = np.floor(np.float64(value) / unit * STEPS)
    return np.int64(min(max(level, 0.0), 65535.0))


@njit(cache=True)
def _spread(contrast, mask, starts, shape, unit, floor, levels, following, theirs):
    # Two buckets per level: rivals wait until the level's voxels of the starts are expanded.
    heads = np.full(2 * TOP + 2, -1, np.int64)
    bucket = 0
    for voxel in starts:
        level = _level(contrast[voxel], unit)
        if level >= floor and levels[voxel] == 0 and (mask.size == 0 or mask[voxel]):
            levels[voxel] = level
            own = 0 if theirs.size and theirs[voxel] else 1
            following[voxel] = heads[2 * level + own]
            heads[2 * level + own] = voxel
            bucket = max(bucket, 2 * level + own)
    plane, row = shape[1] * shape[2], shape[2]
    while bucket >= 2 * floor:
        voxel = heads[bucket]
        if voxel < 0:
            bucket -= 1
            continue
        heads[bucket] = following[voxel]
        top, own = bucket >> 1, bucket & 1
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
                    if levels[other] or (mask.size and not mask[other]):
                        continue
                    level = min(_level(contrast[other], unit), top)
                    if level >= floor:
                        # Reached first by the strongest path: no better one follows.
                        levels[other] = level
                        if theirs.size:
                            theirs[other] = 1 - own
                        following[other] = heads[2 * level + own]
                        heads[2 * level + own] = other
