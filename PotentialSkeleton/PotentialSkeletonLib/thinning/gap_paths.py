"""What lies between a skeleton and curves that do not reach it."""

from heapq import heappop, heappush

import numpy as np
from numba import njit

from ..tracing.curve_voxels import depth_at

THERE, CURVE, BRIDGE, SEEN, TAKEN = 1, 2, 4, 8, 16  # states of voxels
FIRST = np.float32(-np.inf)  # key of the voxels of curves
MOST_SEEN = 1 << 18  # voxels from one end, after which the search for a bridge is given up


def bridges(skeleton, curves, ends, depths, states, report=None):
    """Voxels by which ends are connected with a skeleton, along the middle of the object.

    From each end the deepest voxel beside those that were taken is taken next, those of curves
    before all others, until the skeleton is reached, or the bridge of an end before: voxels that
    thinning by depth would leave to the last. With those beside them all holes can be closed that
    the object does not have.

    Parameters
    ----------
    skeleton, curves, ends : ndarray of int
        Flat indices, off the array's border, of voxels of one component.
    depths : Tiles
        Distance to the outside, float32; 0 outside of the object.
    states : ndarray of uint8
        Room for as many voxels as the array has, all 0; and so again at the end.
    report : callable, optional
        Called between ends; raises to cancel.

    Returns
    -------
    ndarray of int
        Flat indices, rising; voxels of curves are among them.
    """
    shape = np.array(depths.shape)
    states[curves] = CURVE
    states[skeleton] = THERE
    found = [skeleton[:0]]
    for end in ends:
        if report is not None:
            report()
        missing = end
        while missing >= 0:
            depths.require(np.stack(np.unravel_index([missing], depths.shape), axis=1), reach=1)
            tiles = depths.volumes[0], depths.numbers, depths.side
            taken, missing = climb(states, end, MOST_SEEN, shape, *tiles)
        found.append(taken)
    found = np.unique(np.concatenate(found))
    for voxels in (skeleton, curves, found):
        states[voxels] = 0
    return found


@njit(cache=True)
def climb(states, end, most, shape, depth, numbers, side):
    """Voxels taken from an end to what is there, with those beside them, about `most`.

    And the last one taken if depths beside it are not here yet, else -1.
    """
    tiles = depth, numbers, side, shape
    row, plane = shape[2], shape[1] * shape[2]
    seen, missing, reached = [end], np.int64(-1), False
    waiting = [(FIRST, end)]
    states[end] |= SEEN
    while missing < 0 and not reached and waiting and len(seen) < most:
        here = heappop(waiting)[1]
        reached = is_beside(states, here, row, plane, THERE | BRIDGE)
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
            deep = depth_at(tiles, a, b, c)
            if deep > 0:
                states[other] |= SEEN
                seen.append(other)
                heappush(waiting, (FIRST if states[other] & CURVE else -deep, other))
    for voxel in seen:
        if states[voxel] & TAKEN and missing < 0:
            states[voxel] |= BRIDGE
        states[voxel] &= ~np.uint8(SEEN | TAKEN)
    return np.array(seen), missing


@njit(cache=True)
def is_beside(states, voxel, row, plane, flags):
    """Whether a voxel or a neighbour of it has one of the flags."""
    for n in range(27):
        if states[voxel + (n // 9 - 1) * plane + (n // 3 % 3 - 1) * row + n % 3 - 1] & flags:
            return True
    return False
