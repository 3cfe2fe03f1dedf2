"""Widest paths of the weakest voxel, over all 26 neighbours, on the CPU.

The strength of a path is the lowest level of its voxels; a voxel's connectedness is that of the
strongest path from a start. A bucket queue (Dial 1969) empties levels from the highest down, so
each voxel is expanded once, with its final level; voxels below the floor are never touched.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numba import njit

from .levels import level_of
from .open_voxels import open_voxels
from .reached import Reached

if TYPE_CHECKING:
    from FuzzyVesselCoreLib.gpu.device import CudaDevice

TOP = 65535


def widest_paths(
    contrast: np.ndarray,
    inside: np.ndarray | None,
    starts: Sequence[Sequence[int]],
    unit: float,
    floor: int,
    rivals: tuple[np.ndarray, float] | None = None,
    gpu: "CudaDevice | None" = None,
) -> Reached:
    """The voxels connected to the starts: the weakest voxel of the strongest path.

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
    rivals : (ndarray, float32, of the same shape; float), optional
        Where the array is above the number, voxels of other objects. Their paths spread in the same
        way, and a voxel belongs to the stronger path, to the starts in a tie (iterative relative
        connectedness, Ciesielski, Udupa and Zhuge 2007); voxels of other objects are left out.
    gpu : CudaDevice, optional
        Computes the paths, inside its ``with`` block, with the same result.

    Returns
    -------
    Reached
    """
    if gpu is not None:
        return _on_device(contrast, inside, starts, unit, floor, rivals, gpu)
    ours = np.array([np.ravel_multi_index(s, contrast.shape) for s in starts], np.int64)
    voxels, theirs = open_voxels(contrast, inside, unit, floor, rivals)
    count = int(np.bitwise_count(voxels).sum())
    queue = np.empty((2, count), np.int32 if contrast.size < 2**31 else np.int64)
    found = np.empty(count, np.int64), np.empty(count, np.uint16), np.empty(count, np.float32)
    shape = np.array(contrast.shape, np.int64)
    # Two buckets per level: rivals wait until the level's voxels of the starts are expanded.
    heads = np.full(2 * TOP + 2, -1, np.int64)
    flat = contrast.ravel()
    size = _spread(flat, ours, theirs, shape, float(unit), voxels, heads, queue, *found)
    return Reached(*(values[:size].copy() for values in found))


def _on_device(
    contrast: np.ndarray,
    inside: np.ndarray | None,
    starts: Sequence[Sequence[int]],
    unit: float,
    floor: int,
    rivals: tuple[np.ndarray, float] | None,
    gpu: "CudaDevice",
) -> Reached:
    from .cuda_reached import reached_voxels
    from .cuda_widest_paths import cuda_widest_paths

    mask = None if inside is None else gpu.put(inside)
    others = None if rivals is None else (gpu.put(rivals[0]), rivals[1])
    on_device = gpu.put(contrast)
    levels = cuda_widest_paths(on_device, mask, starts, unit, floor, gpu, others)
    return reached_voxels(levels, on_device, gpu)


@njit(cache=True, nogil=True)
def _spread(contrast, starts, theirs, shape, unit, unseen, heads, queue, voxels, levels, values):
    """Fill the lists of the starts' voxels; returns their length. Clears the bits of `unseen`."""
    queued, following = queue[0], queue[1]
    bucket, count = _first_entries(contrast, starts, theirs, unit, unseen, queue, heads)
    found, one, six, low_six = 0, np.uint64(1), np.uint64(6), np.uint64(63)
    plane, row = shape[1] * shape[2], shape[2]
    while bucket >= 0:
        entry = heads[bucket]
        if entry < 0:
            bucket -= 1
            continue
        heads[bucket] = following[entry]
        voxel = np.int64(queued[entry])
        top, own = bucket >> 1, bucket & 1
        if own:
            voxels[found], levels[found], values[found] = voxel, top, contrast[voxel]
            found += 1
        k, j, i = voxel // plane, voxel // row % shape[1], voxel % row
        span = np.uint64(min(i + 1, row - 1) - max(i - 1, 0) + 1)
        for ok in range(max(k - 1, 0), min(k + 2, shape[0])):
            for oj in range(max(j - 1, 0), min(j + 2, shape[1])):
                first = np.uint64(ok * plane + oj * row + max(i - 1, 0))
                word, shift = first >> six, first & low_six
                bits = unseen[word] >> shift
                if shift + span > np.uint64(64):
                    bits |= unseen[word + one] << (np.uint64(64) - shift)
                bits &= (one << span) - one
                while bits:
                    step = np.uint64(0)
                    while not (bits >> step) & one:
                        step += one
                    bits &= bits - one
                    other = first + step
                    unseen[other >> six] &= ~(one << (other & low_six))
                    level = min(level_of(contrast[other], unit), top)
                    place = 2 * level + own
                    queued[count], following[count], heads[place] = other, heads[place], count
                    count += 1
    return found


@njit(cache=True)
def _first_entries(contrast, starts, theirs, unit, unseen, queue, heads):
    """Queue the starts and the rivals; returns the highest bucket and the number of entries."""
    queued, following = queue[0], queue[1]
    bucket, count, one = 0, 0, np.uint64(1)
    for voxel in starts:
        word, bit = voxel >> 6, one << np.uint64(voxel & 63)
        if unseen[word] & bit:
            unseen[word] &= ~bit
            own = 2 * level_of(contrast[voxel], unit) + 1
            queued[count], following[count], heads[own] = voxel, heads[own], count
            count += 1
            bucket = max(bucket, own)
    for word in range(theirs.size):
        if not theirs[word]:
            continue
        for bit in range(64):
            if theirs[word] & unseen[word] & (one << np.uint64(bit)):
                unseen[word] &= ~(one << np.uint64(bit))
                own = 2 * level_of(contrast[64 * word + bit], unit)
                queued[count], following[count], heads[own] = 64 * word + bit, heads[own], count
                count += 1
                bucket = max(bucket, own)
    return bucket, count
