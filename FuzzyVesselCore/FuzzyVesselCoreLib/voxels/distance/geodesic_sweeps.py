"""Geodesic distance by sweeps forward and backward in the order of memory."""

import numpy as np

from ...jit.decorators import compiled, compiled_inside, inlined
from ...progress import Progress
from ...threads import in_parts, usable_cores

FAR = np.int32(1 << 30)  # not reached; a step more is no overflow
VOXELS_PER_SLICE = 1 << 20  # of the volume, between two checks of the progress
MIN_PLANES_PER_THREAD = 4
MAX_SWEEPS = 8  # forward and backward: in a winding object more would take longer than the queue


def sweep_all(
    distances: np.ndarray,
    sources: np.ndarray,
    offsets: np.ndarray,
    weights: np.ndarray,
    progress: Progress,
) -> bool:
    """Find the distances by sweeps; False, with no distance found, if `MAX_SWEEPS` do not suffice.

    A slab of planes is swept until neither direction changes it or the slabs beside it.

    Parameters
    ----------
    distances : ndarray of int32, shape (K, J, I)
        `FAR` in the object, -1 elsewhere; changed in place.
    sources : ndarray of int
        Flat indices.
    offsets, weights : ndarray of int, (26,)
        From `neighbour_steps`.
    progress : Progress
    """
    weights = weights.astype(np.int32)
    distances.reshape(-1)[sources] = 0
    planes, step = distances.shape[0], max(1, VOXELS_PER_SLICE // distances[0].size)
    slabs = [(first, min(first + step, planes - 1)) for first in range(1, planes - 1, step)]
    due = np.zeros(len(slabs), int)  # sweeps that can still change a slab
    due[(sources // distances[0].size - 1) // step] = 2
    parts = max(1, min(usable_cores(), step // MIN_PLANES_PER_THREAD))
    for n in range(2 * MAX_SWEEPS):
        side = 1 if n % 2 == 0 else -1
        for slab in range(len(slabs))[::side]:
            if due[slab] == 0:
                continue
            due[slab] -= 1
            # The first 13 steps lead back in memory, the last 13 are their opposites.
            if sweep(distances, side * offsets[:13], weights[:13], *slabs[slab], parts):
                due[max(slab - 1, 0) : slab + 2] = 2
            progress.check()
        if not due.any():
            return True
    np.copyto(distances, FAR, where=distances >= 0)
    return False


def sweep(
    distances: np.ndarray,
    offsets: np.ndarray,
    weights: np.ndarray,
    first: int,
    last: int,
    parts: int,
) -> int:
    """Sweep some planes, in parallel parts; return how many distances fell.

    A part may read a plane of another part while it changes: distances only fall, and each is the
    length of a path, so the next sweep finds what this one missed.
    """

    def work(low: int, high: int) -> int:
        bounds = (first + (last - first) * part // parts for part in (low, high))
        return sweep_planes(distances, offsets, weights, *bounds)

    return sum(in_parts(work, parts, (last - first) * distances[0].size))


@compiled
def sweep_planes(
    distances: np.ndarray, offsets: np.ndarray, weights: np.ndarray, low: int, high: int
) -> int:
    """Sweep row by row, against the offsets."""
    flat, rows, length = distances.reshape(-1), distances.shape[1], distances.shape[2]
    forward = offsets[0] < 0
    best = np.empty(length - 2, np.int32)
    changed = 0
    for n in range(low * rows + 1, high * rows - 1):
        start = (n if forward else (low + high) * rows - 1 - n) * length + 1
        row = flat[start : start + length - 2]  # the border is empty
        highest = 0
        for i in range(row.size):
            best[i] = row[i]
            highest = max(highest, row[i])
        if highest == 0:
            continue
        for side in range(12):
            lower_by_row(best, flat[start + offsets[side] : start + offsets[side] + length - 2],
                     weights[side])  # fmt: skip
        changed += lower_along_row(row, best, weights[12], forward)
    return changed


@inlined
def lower_by_row(best: np.ndarray, other: np.ndarray, weight: int) -> None:
    """Lower distances by those of another row; voxels outside, below 0, stay and give none."""
    for i in range(best.size):
        there = other[i] + weight if other[i] >= 0 else FAR
        best[i] = min(best[i], there)


@compiled_inside
def lower_along_row(row: np.ndarray, best: np.ndarray, weight: int, forward: bool) -> int:
    """Take a row's best distances, and those from one voxel to the next; return how many fell."""
    before, changed = FAR, 0
    for n in range(row.size):
        i = n if forward else row.size - 1 - n
        if row[i] < 0:
            before = FAR
            continue
        before = min(best[i], before + weight)
        if before < row[i]:
            row[i] = before
            changed += 1
    return changed
