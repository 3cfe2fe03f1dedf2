"""One step along a force that is trilinear between the voxels, compiled."""

import numpy as np
from numba import njit

from .zeros import trilinear

STEP = 0.25  # longest step, in voxels
DOUBLINGS = 64  # of the time that a step may take


@njit(cache=True)
def workroom():
    """Arrays that `flow` works in: it is called at each step."""
    matrices, vectors = np.empty((DOUBLINGS + 4, 3, 3)), np.empty((DOUBLINGS + 2, 3))
    return matrices[:DOUBLINGS], vectors[:DOUBLINGS], matrices[DOUBLINGS:], vectors[DOUBLINGS:]


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
    room : tuple
        From `workroom`.

    Returns
    -------
    float
        Length of the way; 0 where there is no force.
    """
    spread, ways, (jacobian, square, cube, mean), (force, longer) = room
    trilinear(corners, place, force, jacobian)
    speed = length_of(force)
    step[:] = 0
    if speed == 0:
        return 0.0
    steepest = 1e-12
    for row in range(3):
        force[row] /= speed
        for column in range(3):
            jacobian[row, column] /= speed
            steepest = max(steepest, abs(jacobian[row, column]))
    time = min(STEP / 16, 0.125 / steepest)
    for row in range(3):
        for column in range(3):
            jacobian[row, column] *= time
    multiply(jacobian, jacobian, square)
    multiply(square, jacobian, cube)
    for row in range(3):
        for column in range(3):
            one, two, three = jacobian[row, column], square[row, column], cube[row, column]
            spread[0, row, column] = one + two / 2 + three / 6
            mean[row, column] = one / 2 + two / 6 + three / 24
        spread[0, row, row] += 1
        mean[row, row] += 1
        ways[0, row] = time * dot(mean[row], force)
    last = 0
    while last + 1 < DOUBLINGS:
        onward(spread[last], ways[last], ways[last], ways[last + 1])
        if not length_of(ways[last + 1]) <= STEP or is_same(ways[last + 1], ways[last]):
            break
        multiply(spread[last], spread[last], spread[last + 1])
        last += 1
    step[:] = ways[last]
    for n in range(last, max(last - 6, -1), -1):
        onward(spread[n], step, ways[n], longer)
        if dot(longer, longer) <= STEP * STEP:
            step[:] = longer
    return length_of(step)


@njit(cache=True, inline="always")
def dot(a, b):
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@njit(cache=True, inline="always")
def length_of(way):
    return np.sqrt(dot(way, way))


@njit(cache=True, inline="always")
def is_same(a, b):
    return max(abs(a[0] - b[0]), abs(a[1] - b[1]), abs(a[2] - b[2])) < 1e-9


@njit(cache=True, inline="always")
def onward(spread, way, following, whole):
    """Set `whole` to the way that begins with `following` and spreads what came before."""
    for row in range(3):
        whole[row] = following[row] + dot(spread[row], way)


@njit(cache=True)
def multiply(first, second, product):
    """Set `product` to that of two other matrices (3, 3)."""
    for row in range(3):
        for column in range(3):
            product[row, column] = (
                first[row, 0] * second[0, column]
                + first[row, 1] * second[1, column]
                + first[row, 2] * second[2, column]
            )
