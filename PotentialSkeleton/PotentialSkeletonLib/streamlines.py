"""Curves that follow the force (Zhao et al. 2016, section 1, step 4), compiled.

A curve is the flow of the force as it is between the voxels, trilinear: its zeros are the critical
points, so from a saddle it leads to another critical point. It ends there, at a curve that was
traced before, or where the object ends.

On a tube of constant width the force along the tube is some 1/200 of the force across it: steps
that follow the force alone would have to be as short. A step is therefore the exact flow of the
force and its Jacobian at a place (exponential Euler, see `flow`): across the tube it settles on
the valley at once, and its length is spent along it.
"""

import numpy as np
from numba import njit

from .zeros import load, trilinear

CRITICAL_POINT, CURVE, STALL = 0, 1, 2
NEAR = 0.5  # voxels within which a curve ends at a critical point or another curve
STEP = 0.25  # longest step, in voxels
SHORTEST_STEP = 1e-4  # voxels: below it the force has no way out
START = 0.3  # voxels from a saddle to the first point of its curves
LOOK_BACK = 32  # points in which a curve must get on by more than NEAR
ALIKE = 1e-3  # eigenvalues that differ by no larger share are taken to be the same
DOUBLINGS = 64  # of the time that a step may take
TIE = 1e-6  # squared voxels: of two points as near, the one that was filed first counts
NO_POINT = NO_CURVE = NO_BLOCK = -1
SIDE = 3  # power of 2 of the voxels along the side of a block


class Tracer:
    """Traces curves one after the other, each as far as those before it.

    Parameters
    ----------
    vectors : ndarray, shape (K, J, I, 3)
        Forces, 0 where there is none.
    mask : ndarray of bool or uint8, shape (K, J, I)
        Not 0 in the object; no curve leaves it.
    ends : ndarray of float, (n, 3)
        Critical points at which curves end, in voxels K, J, I.
    """

    def __init__(self, vectors, mask, ends):
        self.vectors, self.mask = vectors, mask.view(np.uint8)
        self.points = np.empty((256, 3))
        self.following = np.empty(256, np.int64)  # next point in the same voxel
        self.curve_of = np.empty(256, np.int64)
        # Points lie in few blocks of voxels: only those have room for each voxel's first point.
        self.blocks = np.full([(n >> SIDE) + 1 for n in mask.shape], NO_BLOCK, np.int32)
        self.first_in = np.empty((4, 1 << 3 * SIDE), np.int32)
        self.count = 0
        self.curves = []
        if len(ends):
            self._file(np.array(ends, float), NO_CURVE)

    def trace(self, start, lead=(), own=NO_POINT):
        """Follow the force from `start`.

        Parameters
        ----------
        start : array_like, (3,)
        lead : array_like, (n, 3)
            Points that stand before the start.
        own : int
            Number, among `ends`, of the critical point that the curve comes from.

        Returns
        -------
        points : ndarray, (n, 3)
        ending : int
            `CRITICAL_POINT`, `CURVE` or `STALL`.
        """
        path, ending = follow(
            self.vectors, self.mask, np.array(start, float), own, 4 * sum(self.mask.shape),
            self.points, self.following, self.curve_of, self.blocks, self.first_in,
        )  # fmt: skip
        return (np.concatenate([np.reshape(lead, (-1, 3)), path]) if len(lead) else path), ending

    def keep(self, points):
        """Add a curve, so that later curves end at it."""
        self._file(points, len(self.curves))
        self.curves.append(points)

    def _file(self, points, curve):
        while self.count + len(points) > len(self.points):
            self.points = np.concatenate([self.points, np.empty_like(self.points)])
            self.following = np.concatenate([self.following, np.empty_like(self.following)])
            self.curve_of = np.concatenate([self.curve_of, np.empty_like(self.curve_of)])
        self.first_in = file_points(
            points, curve, self.count, self.points, self.following, self.curve_of, self.blocks,
            self.first_in,
        )  # fmt: skip
        self.count += len(points)


def grow_core(tracer, points):
    """Yield the curves of level 1: from each saddle both ways along each eigenvector leading away.

    Parameters
    ----------
    tracer : Tracer
    points : list of CriticalPoint
        The tracer's `ends`, in its order.

    Yields
    ------
    ndarray, (n, 3)
        Begins at its saddle.
    """
    for own, point in enumerate(points):
        if not point.kind.startswith("saddle"):
            continue
        for direction in _ways_out(point):
            for sign in (1.0, -1.0):
                start = point.position + sign * START * direction
                curve, _ = tracer.trace(start, lead=point.position, own=own)
                tracer.keep(curve[2:])
                yield curve


def _ways_out(point):
    """Unit vectors (n, 3) that span the directions along which the force leads away.

    Eigenvectors of a symmetric place are known but for their sign or, where eigenvalues are alike,
    for a turn among them; both are fixed by the axes K, J, I, and rounding decides nothing.
    """
    ways = []
    rising, vectors = point.eigenvalues.real, point.eigenvectors
    outward = np.flatnonzero(rising > 0)
    while len(outward):
        alike = np.flatnonzero(rising[outward] <= rising[outward[0]] * (1 + ALIKE))
        group, outward = outward[alike], outward[len(alike) :]
        some = vectors[:, group]
        # A complex pair spans a plane as its real and imaginary parts.
        plane = np.linalg.svd(np.hstack([some.real, some.imag]))[0][:, : len(group)]
        ways.extend(_along_axes(plane))
    return ways


def _along_axes(basis):
    """Orthonormal vectors that span what the columns of a basis (3, n) do, close to the axes."""
    found = []
    for _ in range(basis.shape[1]):
        shadows = basis @ basis.T - sum(np.outer(way, way) for way in found)
        axis = np.argmax(np.round(np.diag(shadows), 3))
        found.append(shadows[axis] / np.linalg.norm(shadows[axis]))
    return found


@njit(cache=True)
def file_points(points, curve, count, filed, following, curve_of, blocks, first_in):
    """File the points of a curve, or ends; the room for first points, which may have grown."""
    used = blocks.max() + 1
    for n in range(points.shape[0]):
        k, j, i = round(points[n, 0]), round(points[n, 1]), round(points[n, 2])
        block = blocks[k >> SIDE, j >> SIDE, i >> SIDE]
        if block == NO_BLOCK:
            if used == first_in.shape[0]:
                first_in = np.concatenate((first_in, np.empty_like(first_in)))
            block = blocks[k >> SIDE, j >> SIDE, i >> SIDE] = used
            first_in[used] = NO_POINT
            used += 1
        voxel = within_block(k, j, i)
        filed[count + n] = points[n]
        curve_of[count + n] = curve
        following[count + n] = first_in[block, voxel]
        first_in[block, voxel] = count + n
    return first_in


@njit(cache=True, inline="always")
def within_block(k, j, i):
    last = (1 << SIDE) - 1
    return (k & last) << 2 * SIDE | (j & last) << SIDE | i & last


@njit(cache=True)
def flow(corners, place, step):
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

    Returns
    -------
    float
        Length of the way; 0 where there is no force.
    """
    force, jacobian = np.empty(3), np.empty((3, 3))
    trilinear(corners, place, force, jacobian)
    speed = np.sqrt((force * force).sum())
    step[:] = 0
    if speed == 0:
        return 0.0
    force /= speed
    jacobian /= speed
    time = min(STEP / 16, 0.125 / max(np.abs(jacobian).max(), 1e-12))
    jacobian *= time
    spread, ways = np.empty((DOUBLINGS, 3, 3)), np.empty((DOUBLINGS, 3))
    square = times(jacobian, jacobian)
    cube = times(square, jacobian)
    spread[0] = jacobian + square / 2 + cube / 6
    mean = jacobian / 2 + square / 6 + cube / 24
    for axis in range(3):
        spread[0, axis, axis] += 1
        mean[axis, axis] += 1
        ways[0, axis] = 0
    for row in range(3):
        ways[0, row] = time * (mean[row] * force).sum()
    last = 0
    while last + 1 < DOUBLINGS:
        for row in range(3):
            ways[last + 1, row] = ways[last, row] + (spread[last, row] * ways[last]).sum()
        length = np.sqrt((ways[last + 1] * ways[last + 1]).sum())
        if not length <= STEP or np.abs(ways[last + 1] - ways[last]).max() < 1e-9:
            break
        spread[last + 1] = times(spread[last], spread[last])
        last += 1
    step[:] = ways[last]
    longer = np.empty(3)
    for n in range(last, max(last - 6, -1), -1):
        for row in range(3):
            longer[row] = ways[n, row] + (spread[n, row] * step).sum()
        if (longer * longer).sum() <= STEP * STEP:
            step[:] = longer
    return np.sqrt((step * step).sum())


@njit(cache=True)
def times(first, second):
    """Product of two matrices (3, 3)."""
    product = np.empty((3, 3))
    for row in range(3):
        for column in range(3):
            product[row, column] = (
                first[row, 0] * second[0, column]
                + first[row, 1] * second[1, column]
                + first[row, 2] * second[2, column]
            )
    return product


@njit(cache=True)
def holds(mask, place):
    """Whether the voxel nearest to a place is in the mask."""
    k, j, i = round(place[0]), round(place[1]), round(place[2])
    if not (0 <= k < mask.shape[0] and 0 <= j < mask.shape[1] and 0 <= i < mask.shape[2]):
        return False
    return mask[k, j, i] != 0


@njit(cache=True)
def nearest_ahead(place, step, own, filed, following, shape, blocks, first_in):
    """Index of the nearest filed point but `own` within `NEAR` of a place and not behind it.

    `NO_POINT` if there is none. What lies behind is where a curve comes from, not where it leads.
    """
    best, found = NEAR * NEAR, NO_POINT
    for k in range(round(place[0]) - 1, round(place[0]) + 2):
        for j in range(round(place[1]) - 1, round(place[1]) + 2):
            for i in range(round(place[2]) - 1, round(place[2]) + 2):
                if not (0 <= k < shape[0] and 0 <= j < shape[1] and 0 <= i < shape[2]):
                    continue
                block = blocks[k >> SIDE, j >> SIDE, i >> SIDE]
                if block == NO_BLOCK:
                    continue
                n = first_in[block, within_block(k, j, i)]
                while n >= 0:
                    way = filed[n] - place
                    away = (way * way).sum()
                    if away < best and n != own and (way * step).sum() >= 0:
                        best, found = away - TIE, n
                    n = following[n]
    return found


@njit(cache=True)
def follow(vectors, mask, start, own, longest, filed, following, curve_of, blocks, first_in):
    """The flow of the force from a place; points (n, 3) and how the curve ended."""
    points = np.empty((256, 3))
    points[0] = start
    count = 1
    if not holds(mask, start):
        return points[:0], STALL
    place, step, travelled = start.copy(), np.empty(3), 0.0
    corners, low = np.empty((8, 3)), np.empty(3)
    while travelled < longest:
        if count == points.shape[0]:
            points = np.concatenate((points, np.empty_like(points)))
        low[:] = np.floor(place)
        if low.min() < 0 or (
            low[0] + 1 >= vectors.shape[0]
            or low[1] + 1 >= vectors.shape[1]
            or low[2] + 1 >= vectors.shape[2]
        ):
            break
        load(vectors, int(low[0]), int(low[1]), int(low[2]), corners)
        length = flow(corners, place - low, step)
        end = nearest_ahead(place, step, own, filed, following, mask.shape, blocks, first_in)
        if end >= 0:
            points[count] = filed[end]
            return points[: count + 1], CRITICAL_POINT if curve_of[end] < 0 else CURVE
        if length < SHORTEST_STEP or not holds(mask, place + step):
            break
        place = place + step
        travelled += length
        points[count] = place
        count += 1
        if count > LOOK_BACK and ((place - points[count - LOOK_BACK]) ** 2).sum() < NEAR * NEAR:
            break  # round and round a sink
    return points[:count], STALL
