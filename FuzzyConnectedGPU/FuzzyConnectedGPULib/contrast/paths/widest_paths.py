"""Widest paths of the weakest voxel, over all 26 neighbours, on the CPU.

The strength of a path is the lowest level of its voxels; a voxel's connectedness is that of the
strongest path from a start. A bucket queue (Dial 1969) empties levels from the highest down, so
each voxel is expanded once, with its final level; voxels below the floor are never touched.
"""

import numpy as np
from numba import njit

TOP = 65535
# One step of the levels is this share of the unit that a caller gives, whose level is exact.
STEPS = 256


def widest_paths(contrast, inside, starts, unit, floor, rivals=None, gpu=None):
    """Connectedness of all voxels to the starts, by the weakest voxel on the way.

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
        Flat indices of voxels of other objects. They spread in the same way, and a voxel belongs to
        whom the stronger path leads first, to the starts where both do (iterative relative
        connectedness, Ciesielski, Udupa and Zhuge 2007); what is theirs has level 0.
    gpu : CudaDevice, optional
        The card that does it, inside its ``with`` block; the levels are the same.

    Returns
    -------
    ndarray, uint16, of the same shape
        Levels, 0 where no path leads.
    """
    if gpu is not None:
        from .cuda_widest_paths import widest_paths as on_card

        mask = None if inside is None else gpu.put(inside)
        others = None
        if rivals is not None and len(rivals):
            others = np.zeros(contrast.shape, np.float32)
            others.ravel()[rivals] = 1
            others = gpu.put(others), 0.5
        return gpu.get(on_card(gpu.put(contrast), mask, starts, unit, floor, gpu, others))
    levels = np.zeros(contrast.shape, np.uint16)
    following = np.empty(contrast.size, np.int32 if contrast.size < 2**31 else np.int64)
    mask = np.empty(0, np.uint8) if inside is None else inside.ravel()
    flat = np.array([np.ravel_multi_index(s, contrast.shape) for s in starts], np.int64)
    shape = np.array(contrast.shape, np.int64)
    if rivals is None or not len(rivals):
        theirs = np.empty(0, np.uint8)
    else:
        theirs = np.zeros(contrast.size, np.uint8)
        theirs[rivals] = 1
        theirs[flat] = 0
        flat = np.concatenate([flat, np.asarray(rivals, np.int64)])
    arrays = levels.ravel(), following, theirs
    _spread(contrast.ravel(), mask, flat, shape, float(unit), floor, *arrays)
    if theirs.size:
        levels.ravel()[theirs > 0] = 0
    return levels


@njit(cache=True)
def _level(value, unit):
    level = np.floor(np.float64(value) / unit * STEPS)
    return np.int64(min(max(level, 0.0), 65535.0))


@njit(cache=True)
def _spread(contrast, mask, starts, shape, unit, floor, levels, following, theirs):
    # Two buckets a level: what is theirs waits until the level has nothing of the starts' own.
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
                        # Reached first by the strongest path: no better one comes later.
                        levels[other] = level
                        if theirs.size:
                            theirs[other] = 1 - own
                        following[other] = heads[2 * level + own]
                        heads[2 * level + own] = other


def voxels_above_0(levels):
    """Flat indices (int64, rising) of the voxels whose level is not 0."""
    return _above_0(levels.ravel())


@njit(cache=True)
def _above_0(levels):
    count = 0
    for level in levels:
        count += level > 0
    found = np.empty(count, np.int64)
    count = 0
    for voxel in range(levels.size):
        if levels[voxel]:
            found[count] = voxel
            count += 1
    return found


def component(values, inside, start, threshold, most):
    """The voxels of at least a threshold that hang together with a start, over 26 neighbours.

    Parameters
    ----------
    values : ndarray, shape (K, J, I), float32
    inside : ndarray of uint8, same shape, or None
    start : (K, J, I)
    threshold : float
    most : int
        The search ends as soon as there are more voxels than that.

    Returns
    -------
    ndarray, int64
        Flat indices; more than `most` of them where the search was ended, none where the start is
        below the threshold.
    """
    mask = np.empty(0, np.uint8) if inside is None else inside.ravel()
    flat = int(np.ravel_multi_index(start, values.shape))
    seen = np.zeros(values.size, np.uint8)
    shape = np.array(values.shape, np.int64)
    return _fill(values.ravel(), mask, flat, shape, np.float32(threshold), most, seen)


@njit(cache=True)
def _fill(values, mask, start, shape, threshold, most, seen):
    found = np.empty(1024, np.int64)
    count = 0
    if values[start] >= threshold and (mask.size == 0 or mask[start]):
        found[0] = start
        seen[start] = 1
        count = 1
    plane, row = shape[1] * shape[2], shape[2]
    done = 0
    while done < count and count <= most:
        voxel = found[done]
        done += 1
        if found.size - count < 27:
            larger = np.empty(2 * found.size, np.int64)
            larger[:count] = found[:count]
            found = larger
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
    return found[:count].copy()
