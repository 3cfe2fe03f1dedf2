"""Paths across the gaps between a skeleton and curves that do not reach it."""

from heapq import heappop, heappush

import numpy as np

from FuzzyVesselCoreLib.jit.decorators import compiled, inlined
from FuzzyVesselCoreLib.progress import Progress

from ..field.tiles import Tiles
from ..tracing.centring import depth_at

SKELETON, CURVE, GAP_PATH, SEEN, TAKEN = 1, 2, 4, 8, 16  # states of voxels
FIRST = np.float32(-np.inf)  # key of the voxels of curves
MAX_SEEN = 1 << 18  # voxels from one end, after which the search for a path is given up


def gap_paths(
    skeleton: np.ndarray,
    curves: np.ndarray,
    ends: np.ndarray,
    depths: Tiles,
    states: np.ndarray,
    progress: Progress,
) -> np.ndarray:
    """Voxels by which ends are connected with a skeleton, along the middle of the object.

    From each end the deepest voxel adjacent to those that were taken is taken next, those of curves
    before all others, until the skeleton is reached, or the path of an earlier end: voxels that
    thinning by depth would leave to the last. With those adjacent to them all holes can be closed
    that the object does not have.

    Parameters
    ----------
    skeleton, curves, ends : ndarray of int
        Flat indices, off the array's border, of voxels of one component.
    depths : Tiles
        Distance to the outside, float32; 0 outside of the object.
    states : ndarray of uint8
        Workspace of as many voxels as the array has, all 0; and so again at the end.
    progress : Progress

    Returns
    -------
    ndarray of int
        Flat indices, ascending; voxels of curves are among them.
    """
    states[curves] = CURVE
    states[skeleton] = SKELETON
    paths = [skeleton[:0]]
    for end in ends:
        progress.check()
        missing = end
        while missing >= 0:
            depths.require(np.stack(np.unravel_index([missing], depths.shape), axis=1), reach=1)
            tiles = depths.volumes[0], depths.numbers, depths.side, depths.shape
            taken, missing = climb(states, end, MAX_SEEN, tiles)
        paths.append(taken)
    found = np.unique(np.concatenate(paths))
    for voxels in (skeleton, curves, found):
        states[voxels] = 0
    return found


@compiled
def climb(
    states: np.ndarray, end: np.int64, max_seen: int, tiles: tuple
) -> tuple[np.ndarray, np.int64]:
    """Voxels taken from an end to the skeleton, with those adjacent to them, about `max_seen`.

    And the last one taken if depths round it were not fetched yet, else -1.
    """
    _, numbers, side, shape = tiles
    row, plane = shape[2], shape[1] * shape[2]
    seen, missing, reached = [end], np.int64(-1), False
    waiting = [(FIRST, end)]
    states[end] |= SEEN
    while missing < 0 and not reached and waiting and len(seen) < max_seen:
        here = heappop(waiting)[1]
        reached = has_neighbour(states, here, row, plane, SKELETON | GAP_PATH)
        states[here] |= TAKEN
        k, j, i = here // plane, here // row % shape[1], here % row
        for n in range(27):
            other = here + (n // 9 - 1) * plane + (n // 3 % 3 - 1) * row + n % 3 - 1
            if states[other] & SEEN:
                continue
            a, b, c = k + n // 9 - 1, j + n // 3 % 3 - 1, i + n % 3 - 1
            if numbers[a >> side, b >> side, c >> side] < 0:
                missing = here
                break
            depth = depth_at(tiles, a, b, c)
            if depth > 0:
                states[other] |= SEEN
                seen.append(other)
                heappush(waiting, (FIRST if states[other] & CURVE else -depth, other))
    for voxel in seen:
        if states[voxel] & TAKEN and missing < 0:
            states[voxel] |= GAP_PATH
        states[voxel] &= ~np.uint8(SEEN | TAKEN)
    return np.array(seen), missing


@inlined
def has_neighbour(
    states: np.ndarray, voxel: int | np.int64, row: int, plane: int, flags: int
) -> bool:
    """Whether a voxel or a neighbour of it has one of the flags."""
    for n in range(27):
        if states[voxel + (n // 9 - 1) * plane + (n // 3 % 3 - 1) * row + n % 3 - 1] & flags:
            return True
    return False
