"""Widest paths of the weakest voxel, over all 26 neighbours, on the CPU and on CUDA.

The strength of a path is the lowest level of its voxels; a voxel's connectedness is that of the
strongest path from a start. A bucket queue (Dial 1969) empties levels from the highest down, so
each voxel is expanded once, with its final level; voxels below the floor are never touched. Other
files need `paths_of_clicks`, `component_at` and `levels_of_paths`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numba import njit

from FuzzyVesselCoreLib.gpu.device import CudaDevice, DeviceArray
from FuzzyVesselCoreLib.gpu.kernels import check_voxel_count, int32s, launch_per_item, pointer

from .contrast_map import ContrastMap, array_of
from .filters import SLAB, Voxel, by_slabs

PATH_LEVEL = 256  # of the path contrast, exactly; levels are proportional to contrasts
TOP = 65535  # the highest level
WEAKEST = 0.5  # share of the path contrast below which paths of clicks are not followed


@dataclass(frozen=True)
class ConnectedVoxels:
    """A list of voxels (flat indices, each once, in any order) with their levels and contrasts.

    They are few compared with the volume. Levels are above 0.
    """

    voxels: np.ndarray
    levels: np.ndarray
    contrast: np.ndarray

    @property
    def strength(self) -> np.ndarray:
        """The strength (float32) of each voxel's path, in multiples of the path contrast."""
        return self.levels.astype(np.float32) / np.float32(PATH_LEVEL)  # exact

    @property
    def is_strong(self) -> np.ndarray:
        """Whether the strength is at least the path contrast."""
        return self.levels >= PATH_LEVEL

    @cached_property
    def contrast_of_strong(self) -> np.ndarray:
        """The contrast of the voxels whose path is strong."""
        return self.contrast[self.is_strong]


def paths_of_clicks(
    mapped: ContrastMap,
    clicks: list[Voxel],
    starts: list[Voxel],
    path_contrast: float,
) -> ConnectedVoxels:
    """The widest paths of clicks from their starts through a map's contrast.

    Competing structures, far brighter than the clicks, spread as well, and keep what they reach by
    stronger paths. The paths of one start are cached, as runs with further clicks need them again.
    """
    above = mapped.competing_above(clicks)

    def search() -> ConnectedVoxels:
        return _search(mapped, mapped.contrast, starts, path_contrast, WEAKEST, above)

    if len(starts) > 1:
        return search()
    return mapped.first_paths((starts, path_contrast, above), search)


def component_at(
    mapped: ContrastMap, values: Any, voxel: Voxel, least: float, limit: int
) -> ConnectedVoxels | None:
    """The 26-connected component of a voxel among the values of at least `least`, above 0.

    The values are the map's contrast or difference. None where it has more voxels than the limit.
    """
    return _search(mapped, values, [voxel], float(np.float32(least)), 1.0, None, limit)


def _search(
    mapped: ContrastMap, values: Any, starts: list[Voxel], path_contrast: float,
    weakest: float, above: float | None, limit: int | None = None,
) -> Any:  # fmt: skip
    """The paths through values of at least this share of the path contrast, where the map is."""
    floor, mask, gpu = int(weakest * PATH_LEVEL), array_of(mapped.mask), mapped.gpu
    competing = None if above is None else (array_of(mapped.smooth), above)
    if gpu is None:
        return widest_paths(values, mask, starts, path_contrast, floor, competing, limit)
    return widest_paths_on_device(
        array_of(values), mask, starts, path_contrast, floor, gpu, competing, limit
    )


def levels_of_paths(capacities: np.ndarray, points: np.ndarray) -> np.ndarray:
    """The level (uint16) of the strongest path from points (flat indices) to each voxel.

    The level of a path is the lowest capacity (uint16) of its voxels; no path passes 0.
    """
    starts = np.stack(np.unravel_index(points, capacities.shape), axis=1)
    found = widest_paths(capacities.astype(np.float32), None, starts.tolist(), PATH_LEVEL, 1)
    assert found is not None  # there is no limit
    levels = np.zeros(capacities.shape, np.uint16)
    levels.reshape(-1)[found.voxels] = found.levels
    return levels


def lowest_open(path_contrast: float, floor: int) -> np.float32:
    """The least contrast whose level reaches the floor: levels never fall as contrasts rise."""

    def level(contrast: np.float32) -> float:
        return float(np.floor(np.float64(contrast) / path_contrast * PATH_LEVEL))

    lowest = np.float32(floor / PATH_LEVEL * path_contrast)
    while level(lowest) >= floor:
        lowest = np.nextafter(lowest, np.float32(-np.inf))
    while level(lowest) < floor:
        lowest = np.nextafter(lowest, np.float32(np.inf))
    return lowest


def widest_paths(
    contrast: np.ndarray,
    mask: np.ndarray | None,
    starts: Sequence[Sequence[int]],
    path_contrast: float,
    floor: int,
    competing: tuple[np.ndarray, float] | None = None,
    limit: int | None = None,
) -> ConnectedVoxels | None:
    """The voxels connected to the starts (K, J, I): the weakest voxel of the strongest path.

    A contrast (float32, K, J, I) of `path_contrast` has the level `PATH_LEVEL`; levels are rounded
    down, so that a voxel has at least that level just where its contrast is at least that, and
    those below the floor (at least 1) count as 0. Paths stay where the mask is not 0. `competing`
    is an array and a number: voxels above it are of other objects. Their paths spread in the same
    way, and a voxel belongs to the stronger path, to the starts in a tie (iterative relative
    connectedness, Ciesielski, Udupa and Zhuge 2007); voxels of other objects are left out. Returns
    None where there are more voxels than the limit: the search ends as soon as there are.
    """
    lowest, passable = lowest_open(path_contrast, floor), np.empty(contrast.shape, bool)
    others: list[np.ndarray] = [np.empty(0, np.int64)]

    def open_planes(first: int, last: int) -> None:
        planes = slice(first, last)
        np.greater_equal(contrast[planes], lowest, out=passable[planes])
        if mask is not None:
            passable[planes] &= mask[planes] > 0
        if competing is not None:
            starting = passable[planes] & (competing[0][planes] > np.float32(competing[1]))
            others.append(np.flatnonzero(starting) + first * starting[0].size)

    by_slabs(open_planes, len(contrast), contrast.size, np)
    count = np.count_nonzero(passable)
    unseen = np.packbits(passable, axis=None, bitorder="little")  # fits into a cache
    ours = np.array([np.ravel_multi_index(s, contrast.shape) for s in starts], np.int64)
    theirs = np.concatenate(others)
    queue = np.empty((2, count), np.int32 if contrast.size < 2**31 else np.int64)
    voxels = np.empty(count, np.int64)
    levels, values = np.empty(count, np.uint16), np.empty(count, np.float32)
    # Two buckets a level: competing structures wait until the voxels of the starts are expanded.
    heads = np.full(2 * TOP + 2, -1, np.int64)
    shape = np.array(contrast.shape, np.int64)
    most = count if limit is None else limit
    size = _propagate(
        contrast.ravel(), shape, float(path_contrast), ours, theirs, unseen, heads, queue, most,
        voxels, levels, values,
    )  # fmt: skip
    if size > most:
        return None
    return ConnectedVoxels(voxels[:size].copy(), levels[:size].copy(), values[:size].copy())


@njit(cache=True)
def _level(value, path_contrast):
    return np.int64(
        min(max(np.floor(np.float64(value) / path_contrast * PATH_LEVEL), 0.0), float(TOP))
    )


@njit(cache=True, nogil=True)
def _propagate(
    contrast, shape, path_contrast, starts, theirs, unseen, heads, queue, most,
    voxels, levels, values,
):  # fmt: skip
    """Fill the lists of the starts' voxels; returns their length. Clears the bits of all seen."""
    queued, following = queue[0], queue[1]
    bucket, count, found = -1, 0, 0
    for own in range(1, -1, -1):
        for voxel in starts if own else theirs:
            bit = np.uint8(1 << (voxel & 7))
            if unseen[voxel >> 3] & bit:
                unseen[voxel >> 3] ^= bit
                place = 2 * _level(contrast[voxel], path_contrast) + own
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
                        place = 2 * min(_level(contrast[other], path_contrast), top) + own
                        queued[count], following[count], heads[place] = other, heads[place], count
                        count += 1
    return found


# ---- Widest paths of the weakest voxel on CUDA: tiles that may still rise are visited

KERNELS = Path(__file__).with_name("widest_paths.cu")
SIDE, THREADS = 8, 64  # as in the kernels
ROUNDS = 16  # launched before the host checks whether tiles are marked


def widest_paths_on_device(
    contrast: DeviceArray,
    mask: DeviceArray | None,
    starts: Sequence[Sequence[int]],
    path_contrast: float,
    floor: int,
    gpu: CudaDevice,
    competing: tuple[DeviceArray, float] | None = None,
    limit: int | None = None,
) -> ConnectedVoxels | None:
    """The result of `widest_paths.widest_paths`, with the same parameters, but device arrays."""
    xp, shape = gpu.xp, contrast.shape
    check_voxel_count(contrast.size)
    capacity, levels = xp.empty(shape, np.uint16), xp.empty(shape, np.uint16)
    smooth, brighter = (None, 0.0) if competing is None else competing
    owners = None if competing is None else xp.empty(shape, np.uint8)
    rounds = _Rounds(shape, starts, gpu)
    scale = lowest_open(path_contrast, floor), np.float64(path_contrast), np.float64(PATH_LEVEL)
    others = pointer(smooth), np.float32(brighter)
    inputs = contrast, pointer(mask), rounds.tiles, *scale, *others
    outputs = capacity, levels, pointer(owners), rounds.marked
    launch_per_item(gpu, KERNELS, "find_capacities", contrast.size, inputs + outputs)
    rounds.run("begin_paths", "raise_levels", capacity, levels)
    if competing is not None:
        del capacity, outputs
        rounds.run("begin_owners", "spread_owners", levels, owners)
        ours = owners, np.uint32(levels.size), levels
        launch_per_item(gpu, KERNELS, "keep_ours", levels.size, ours)
    return _listed(levels.ravel(), contrast.ravel(), gpu, limit)


def _listed(
    levels: DeviceArray, contrast: DeviceArray, gpu: CudaDevice, limit: int | None
) -> ConnectedVoxels | None:
    """The voxels with a level above 0, in the order of the volume; None beyond the limit."""
    found: tuple[list, list, list] = [np.empty(0, np.int64)], [], []
    count = 0
    for first in range(0, levels.size, SLAB):
        part = slice(first, first + SLAB)
        places = gpu.xp.flatnonzero(levels[part])
        count += int(places.size)
        if limit is not None and count > limit:
            return None
        found[0].append(gpu.get(places) + first)
        found[1].append(gpu.get(levels[part][places]))
        found[2].append(gpu.get(contrast[part][places]))
    voxels, reached, values = (np.concatenate(each) for each in found)
    return ConnectedVoxels(voxels, reached, values)


class _Rounds:
    """Rounds of visits to tiles, and the marks of those to visit in this round and the next."""

    def __init__(self, shape: Sequence[int], starts: Sequence[Any], gpu: CudaDevice) -> None:
        self._gpu, self.tiles = gpu, gpu.record(*int32s(shape))
        self._count = int(np.prod([-(-n // SIDE) for n in shape]))
        self.marked, self._next = (gpu.xp.zeros(self._count, np.uint8) for _ in range(2))
        self._any = gpu.xp.zeros(1, np.int32)
        self._starts = gpu.put(np.array(starts, np.int32).reshape(-1, 3))

    def run(self, begin: str, visit: str, fixed: DeviceArray, rising: DeviceArray) -> None:
        """From the starts on, visit tiles until none is marked."""
        gpu, count = self._gpu, len(self._starts)
        arrays = (fixed, self.tiles, rising) if begin == "begin_paths" else (self.tiles, rising)
        if count:
            args = self._starts, np.int32(count), *arrays, self.marked
            gpu.kernel(KERNELS, begin)((-(-count // THREADS),), (THREADS,), args)
        kernel = gpu.kernel(KERNELS, visit)
        while True:
            for n in range(ROUNDS):
                if n == ROUNDS - 1:
                    self._any.fill(0)  # only marks of the last round count
                args = fixed, rising, self.tiles, self.marked, self._next, self._any
                kernel((self._count,), (THREADS,), args)
                self.marked, self._next = self._next, self.marked
            if not int(gpu.get(self._any)[0]):
                return
