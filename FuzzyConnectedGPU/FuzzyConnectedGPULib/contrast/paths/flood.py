"""Flood fill over 26 neighbours, on the CPU."""

from collections.abc import Sequence

import numpy as np

from FuzzyVesselCoreLib.jit.decorators import compiled, compiled_inside
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


@compiled
def _fill(values, mask, start, shape, threshold, sign, limit, seen):
    """Voxels of the component, run by run: a run goes along I, as far as it can."""
    found, count = np.empty(1024, np.int64), 0
    runs, run_count = np.empty((1024, 2), np.int64), 0  # first and last voxel
    height, width = shape[1], shape[2]
    if not _is_open(start, values, mask, threshold, sign, seen):
        return found, 0
    todo, line = np.int64(0), start // width
    found, count, runs, run_count, _ = _add_run(
        start, line * width, width, values, mask, threshold, sign, seen, found, count, runs, 0
    )
    while todo < run_count and count <= limit:
        first, last = runs[todo]
        todo += 1
        line = first // width
        k, j = line // height, line % height
        for ok in range(max(k - 1, 0), min(k + 2, shape[0])):
            for oj in range(max(j - 1, 0), min(j + 2, height)):
                begin = (ok * height + oj) * width
                shift = begin - line * width
                other = max(first - 1 + shift, begin)
                end = min(last + 1 + shift, begin + width - 1)
                while other <= end:
                    if _is_open(other, values, mask, threshold, sign, seen):
                        found, count, runs, run_count, other = _add_run(
                            other, begin, width, values, mask, threshold, sign, seen, found,
                            count, runs, run_count,
                        )  # fmt: skip
                    other += 1
    return found, count


@compiled_inside
def _is_open(voxel, values, mask, threshold, sign, seen):
    if sign * values[voxel] < threshold or (mask.size and not mask[voxel]):
        return False
    return not (seen[voxel >> 6] >> np.uint64(voxel & 63)) & np.uint64(1)


@compiled_inside
def _add_run(
    voxel, begin, width, values, mask, threshold, sign, seen, found, count, runs, run_count
):
    """List the voxels that are connected with one along its row; also returns the last of them."""
    first, last = voxel, voxel
    while first > begin and _is_open(first - 1, values, mask, threshold, sign, seen):
        first -= 1
    while last < begin + width - 1 and _is_open(last + 1, values, mask, threshold, sign, seen):
        last += 1
    while found.size - count < width:
        found = doubled(found)
    for each in range(first, last + 1):
        seen[each >> 6] |= np.uint64(1) << np.uint64(each & 63)
        found[count] = each
        count += 1
    if run_count == runs.shape[0]:
        runs = doubled(runs)
    runs[run_count, 0], runs[run_count, 1] = first, last
    return found, count, runs, run_count + 1, last
