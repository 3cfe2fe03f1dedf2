"""One step along a force that is trilinear between the voxels, compiled.

Vectors and matrices are tuples of numbers here, row after row: they stay in registers.
"""

import numpy as np
from numba import njit

from ..critical_points.trilinear import force_and_slopes

STEP = 0.25  # longest step, in voxels
DOUBLINGS = 64  # of the time that a step may take
TRIED_AGAIN = 6  # of the last doublings


@njit(cache=True)
def workroom():
    """Array that `flow` works in: it is called at each step."""
    return np.empty((DOUBLINGS, 12))


@njit(cache=True)
def flow(corners, place, step, room):
    """Where the force, linear round a place in the unit cell, leads: at most `STEP` away.

    The linear flow has an exact solution. It is summed for a short time, and the time is doubled as
    long as the way is not too long; then the last doublings are tried again, each as a whole.

    Parameters
    ----------
    corners : ndarray, (8, 3)
        Force at the corners of the cell.
    place : ndarray, (3,)
        Within the cell.
    step : ndarray, (3,)
        Is set to the way.
    room : ndarray
        From `workroom`.

    Returns
    -------
    float
        Length of the way; 0 where there is no force.
    """
    force, jacobian = force_and_slopes(corners, place[0], place[1], place[2])
    speed = length_of(force)
    if speed == 0:
        step[:] = 0
        return 0.0
    force = (force[0] / speed, force[1] / speed, force[2] / speed)
    jacobian = divided(jacobian, speed)
    steepest = 1e-12
    for slope in jacobian:
        steepest = max(steepest, abs(slope))
    time = min(STEP / 16, 0.125 / steepest)
    spread, mean = for_a_time(jacobian, time)
    way = times(mean, force)
    way = (time * way[0], time * way[1], time * way[2])
    last = 0
    keep(room[0], spread, way)
    while last + 1 < DOUBLINGS:
        longer = onward(spread, way, way)
        if not length_of(longer) <= STEP or is_same(longer, way):
            break
        spread, way = product(spread, spread), longer
        last += 1
        keep(room[last], spread, way)
    for n in range(last, max(last - TRIED_AGAIN, -1), -1):
        spread, following = kept(room[n])
        longer = onward(spread, way, following)
        if dot(longer, longer) <= STEP * STEP:
            way = longer
    step[0], step[1], step[2] = way
    return length_of(way)


@njit(cache=True)
def for_a_time(jacobian, time):
    """What spreads a way in a short time, and what it makes of the force, by their series."""
    a, b, c, d, e, f, g, h, i = jacobian
    one = (a * time, b * time, c * time, d * time, e * time, f * time, g * time, h * time, i * time)
    two = product(one, one)
    three = product(two, one)
    spread = (
        spread_of(one[0], two[0], three[0]) + 1,
        spread_of(one[1], two[1], three[1]),
        spread_of(one[2], two[2], three[2]),
        spread_of(one[3], two[3], three[3]),
        spread_of(one[4], two[4], three[4]) + 1,
        spread_of(one[5], two[5], three[5]),
        spread_of(one[6], two[6], three[6]),
        spread_of(one[7], two[7], three[7]),
        spread_of(one[8], two[8], three[8]) + 1,
    )
    mean = (
        mean_of(one[0], two[0], three[0]) + 1,
        mean_of(one[1], two[1], three[1]),
        mean_of(one[2], two[2], three[2]),
        mean_of(one[3], two[3], three[3]),
        mean_of(one[4], two[4], three[4]) + 1,
        mean_of(one[5], two[5], three[5]),
        mean_of(one[6], two[6], three[6]),
        mean_of(one[7], two[7], three[7]),
        mean_of(one[8], two[8], three[8]) + 1,
    )
    return spread, mean


@njit(cache=True)
def spread_of(one, two, three):
    return one + two / 2 + three / 6


@njit(cache=True)
def mean_of(one, two, three):
    return one / 2 + two / 6 + three / 24


@njit(cache=True)
def keep(row, spread, way):
    (row[0], row[1], row[2], row[3], row[4], row[5], row[6], row[7], row[8]) = spread
    row[9], row[10], row[11] = way


@njit(cache=True)
def kept(row):
    spread = (row[0], row[1], row[2], row[3], row[4], row[5], row[6], row[7], row[8])
    return spread, (row[9], row[10], row[11])


@njit(cache=True)
def divided(m, by):
    return (
        m[0] / by, m[1] / by, m[2] / by, m[3] / by, m[4] / by, m[5] / by, m[6] / by, m[7] / by,
        m[8] / by,
    )  # fmt: skip


@njit(cache=True)
def dot(a, b):
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@njit(cache=True)
def length_of(way):
    return np.sqrt(dot(way, way))


@njit(cache=True)
def is_same(a, b):
    return max(abs(a[0] - b[0]), abs(a[1] - b[1]), abs(a[2] - b[2])) < 1e-9


@njit(cache=True)
def times(m, way):
    return (
        m[0] * way[0] + m[1] * way[1] + m[2] * way[2],
        m[3] * way[0] + m[4] * way[1] + m[5] * way[2],
        m[6] * way[0] + m[7] * way[1] + m[8] * way[2],
    )


@njit(cache=True)
def onward(spread, way, following):
    """The way that begins with `following` and spreads what came before."""
    more = times(spread, way)
    return following[0] + more[0], following[1] + more[1], following[2] + more[2]


@njit(cache=True)
def product(a, b):
    """Product of two matrices."""
    return (
        a[0] * b[0] + a[1] * b[3] + a[2] * b[6],
        a[0] * b[1] + a[1] * b[4] + a[2] * b[7],
        a[0] * b[2] + a[1] * b[5] + a[2] * b[8],
        a[3] * b[0] + a[4] * b[3] + a[5] * b[6],
        a[3] * b[1] + a[4] * b[4] + a[5] * b[7],
        a[3] * b[2] + a[4] * b[5] + a[5] * b[8],
        a[6] * b[0] + a[7] * b[3] + a[8] * b[6],
        a[6] * b[1] + a[7] * b[4] + a[8] * b[7],
        a[6] * b[2] + a[7] * b[5] + a[8] * b[8],
    )
