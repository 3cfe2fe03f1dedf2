"""Local minima among 26 neighbours, in a reproducible order; compiled loops."""

import numpy as np

from FuzzyVesselCoreLib.jit.decorators import compiled, inlined
from FuzzyVesselCoreLib.progress import Progress
from FuzzyVesselCoreLib.threads import in_parts
from FuzzyVesselCoreLib.voxels.components.runs import START, run_end

from .voxel_list import listed

TIE = 1e-4  # smaller differences can be rounding errors: the position decides
VOXELS_PER_SLAB = 1 << 20  # between two checks of the progress


def local_minima(
    values: np.ndarray, spans: np.ndarray, highest: float | np.float32, progress: Progress
) -> np.ndarray:
    """Return the voxels (n, 3) that are not above `highest` nor above their 26 neighbours."""
    found = [np.empty((0, 3), np.int64)]
    for first, last in inner_slabs(values.shape):

        def work(low: int, high: int, first: int = first) -> np.ndarray:
            return minima_of_planes(values, spans, float(highest), first + low, first + high)

        found += in_parts(work, last - first, (last - first) * values[0].size)
        progress.check()
    return np.concatenate(found)


def lowest_first(values: np.ndarray) -> np.ndarray:
    """Return indices that sort values; values equal within `TIE` stay in their order."""
    order = np.argsort(values, kind="stable")
    group = np.cumsum(np.diff(values[order], prepend=values[order[:1]]) > TIE)
    return order[np.lexsort((order, group))]


def inner_slabs(shape: tuple[int, ...]) -> list[tuple[int, int]]:
    """Return the first plane and the end of slabs of all planes but the outermost two."""
    step = max(1, VOXELS_PER_SLAB // max(1, shape[1] * shape[2]))
    return [(n, min(n + step, shape[0] - 1)) for n in range(1, shape[0] - 1, step)]


def whole_rows(shape: tuple[int, ...]) -> np.ndarray:
    """Return the `spans_of` a volume that is nowhere 0."""
    return np.broadcast_to(np.array([0, shape[2]], np.int32), (*shape[:2], 2)).copy()


@compiled
def spans_of(volume: np.ndarray) -> np.ndarray:
    """Return the first voxel of each row that is not 0, and the end of the last; (K, J, 2)."""
    spans = np.zeros((volume.shape[0], volume.shape[1], 2), np.int32)
    for k in range(volume.shape[0]):
        for j in range(volume.shape[1]):
            row, last = volume[k, j], volume.shape[2]
            first = run_end(row, START, np.uint8(0))
            if first < last:
                while row[last - 1] == 0:
                    last -= 1
                spans[k, j, 0], spans[k, j, 1] = first, last
    return spans


@inlined
def is_lowest(values: np.ndarray, k: int, j: int, i: int) -> bool:
    """Return whether none of the 26 neighbours is lower, or equal within `TIE` and earlier."""
    here = values[k, j, i]
    for n in range(27):
        other = values[k + n // 9 - 1, j + n // 3 % 3 - 1, i + n % 3 - 1]
        if other < here - TIE or (n < 13 and other <= here + TIE):
            return False
    return True


def minima_of_planes(
    values: np.ndarray, spans: np.ndarray, highest: float, first: int, last: int
) -> np.ndarray:
    """Find the local minima in the spans of rows of some planes; (n, 3)."""
    return listed(lambda seeds: list_minima(values, spans, highest, first, last, seeds))


@compiled
def list_minima(
    values: np.ndarray,
    spans: np.ndarray,
    highest: float,
    first: int,
    last: int,
    seeds: np.ndarray,
) -> int:
    """Count the local minima of some planes, and list as many as there is room for."""
    count = 0
    for row in range(first * values.shape[1], last * values.shape[1]):
        k, j = divmod(row, values.shape[1])
        if not 0 < j < values.shape[1] - 1:
            continue
        for i in range(max(spans[k, j, 0], 1), min(spans[k, j, 1], values.shape[2] - 1)):
            if values[k, j, i] <= highest and is_lowest(values, k, j, i):
                if count < len(seeds):
                    seeds[count, 0], seeds[count, 1], seeds[count, 2] = k, j, i
                count += 1
    return count
