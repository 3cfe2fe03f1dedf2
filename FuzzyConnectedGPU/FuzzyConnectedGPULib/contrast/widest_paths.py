"""Widest paths of the weakest voxel, over all 26 neighbours, on the CPU.

The strength of a path is the lowest level of its voxels; a voxel's connectedness is that of the
strongest path from a start. A bucket queue (Dial 1969) empties levels from the highest down, so
each voxel is expanded once, with its final level; voxels below the floor are never touched.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numba import njit

from .filters import by_slabs

STEPS = 256  # levels per unit of contrast; the level of the unit itself is exact
TOP = 65535  # the highest level


@dataclass(frozen=True)
class Reached:
    """Voxels (flat indices, each once, in any order) with their level above 0 and their contrast.

    A list, as they are few compared with the volume.
    """

    voxels: np.ndarray
    levels: np.ndarray
    contrast: np.ndarray
    _typical: dict = field(default_factory=dict, repr=False)

    @property
    def is_strong(self) -> np.ndarray:
        """Whether the level of each voxel is at least `STEPS`."""
        return self.levels >= STEPS

    @cached_property
    def strong(self) -> np.ndarray:
        """The contrast of the voxels whose level is at least `STEPS`."""
        return self.contrast[self.is_strong]

    def typical(self, threshold: float) -> float | None:
        """The 90th percentile of the `strong` ones from a threshold on; None without any."""
        if threshold not in self._typical:
            found = self.strong[self.strong >= threshold]
            self._typical[threshold] = float(np.percentile(found, 90)) if found.size else None
        return self._typical[threshold]


def lowest_open(unit: float, floor: int) -> np.float32:
    """The least contrast whose level reaches the floor: levels never fall as contrasts rise."""

    def level(contrast: np.float32) -> float:
        return float(np.floor(np.float64(contrast) / unit * STEPS))

    lowest = np.float32(floor / STEPS * unit)
    while level(lowest) >= floor:
        lowest = np.nextafter(lowest, np.float32(-np.inf))
    while level(lowest) < floor:
        lowest = np.nextafter(lowest, np.float32(np.inf))
    return lowest


def widest_paths(
    contrast: np.ndarray,
    inside: np.ndarray | None,
    starts: Sequence[Sequence[int]],
    unit: float,
    floor: int,
    competing: tuple[np.ndarray, float] | None = None,
    limit: int | None = None,
) -> Reached | None:
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
    competing : (ndarray, float32, of the same shape; float), optional
        Where the array is above the number, voxels of other objects. Their paths spread in the same
        way, and a voxel belongs to the stronger path, to the starts in a tie (iterative relative
        connectedness, Ciesielski, Udupa and Zhuge 2007); voxels of other objects are left out.
    limit : int, optional
        The search ends as soon as there are more voxels.

    Returns
    -------
    Reached or None
        None where there are more voxels than the limit.

    Examples
    --------
    >>> contrast = np.array([[[9, 4, 6, 1]]], np.float32)
    >>> found = widest_paths(contrast, None, [(0, 0, 0)], 4.0, 128)
    >>> found.voxels.tolist(), found.levels.tolist()
    ([0, 1, 2], [576, 256, 256])
    """
    lowest, passable = lowest_open(unit, floor), np.empty(contrast.shape, bool)
    others: list[np.ndarray] = [np.empty(0, np.int64)]

    def open_planes(first: int, last: int) -> None:
        planes = slice(first, last)
        np.greater_equal(contrast[planes], lowest, out=passable[planes])
        if inside is not None:
            passable[planes] &= inside[planes] > 0
        if competing is not None:
            starting = passable[planes] & (competing[0][planes] > np.float32(competing[1]))
            others.append(np.flatnonzero(starting) + first * starting[0].size)

    by_slabs(open_planes, len(contrast), contrast.size, np)
    count = np.count_nonzero(passable)
    unseen = np.packbits(passable, axis=None, bitorder="little")  # fits into a cache
    ours = np.array([np.ravel_multi_index(s, contrast.shape) for s in starts], np.int64)
    theirs = np.concatenate(others)
    queue = np.empty((2, count), np.int32 if contrast.size < 2**31 else np.int64)
    found = np.empty(count, np.int64), np.empty(count, np.uint16), np.empty(count, np.float32)
    # Two buckets a level: competing structures wait until the voxels of the starts are expanded.
    heads = np.full(2 * TOP + 2, -1, np.int64)
    shape = np.array(contrast.shape, np.int64)
    most = count if limit is None else limit
    first = ours, theirs, unseen, heads, queue
    size = _spread(contrast.ravel(), shape, float(unit), *first, most, *found)
    voxels, levels, values = (each[:size].copy() for each in found)
    return Reached(voxels, levels, values) if size <= most else None


@njit(cache=True)
def _level(value, unit):
    return np.int64(min(max(np.floor(np.float64(value) / unit * 256), 0.0), 65535.0))


@njit(cache=True, nogil=True)
def _spread(
    contrast, shape, unit, starts, theirs, unseen, heads, queue, most, voxels, levels, values
):
    """Fill the lists of the starts' voxels; returns their length. Clears the bits of all seen."""
    queued, following = queue[0], queue[1]
    bucket, count, found = -1, 0, 0
    for own in range(1, -1, -1):
        for voxel in starts if own else theirs:
            bit = np.uint8(1 << (voxel & 7))
            if unseen[voxel >> 3] & bit:
                unseen[voxel >> 3] ^= bit
                place = 2 * _level(contrast[voxel], unit) + own
                queued[count], following[count], heads[place] = voxel, heads[place], count
                count += 1
                bucket = max(bucket, place)
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
            if found == most:
                return found + 1
            voxels[found], levels[found], values[found] = voxel, top, contrast[voxel]
            found += 1
        k, j, i = voxel // plane, voxel // row % shape[1], voxel % row
        for ok in range(max(k - 1, 0), min(k + 2, shape[0])):
            for oj in range(max(j - 1, 0), min(j + 2, shape[1])):
                line = ok * plane + oj * row
                for other in range(line + max(i - 1, 0), line + min(i + 2, row)):
                    bit = np.uint8(1 << (other & 7))
                    if unseen[other >> 3] & bit:
                        unseen[other >> 3] ^= bit
                        place = 2 * min(_level(contrast[other], unit), top) + own
                        queued[count], following[count], heads[place] = other, heads[place], count
                        count += 1
    return found
