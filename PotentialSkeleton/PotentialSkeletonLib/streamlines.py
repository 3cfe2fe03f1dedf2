"""Curves that follow the force (Zhao et al. 2016, section 1, step 4), compiled.

A curve is the flow of the force as it is between the voxels, trilinear: its zeros are the critical
points, so from a saddle it leads to another critical point. It ends there, at a curve that was
traced before, or where the object ends.

On a tube of constant width the force along the tube is some 1/200 of the force across it: steps
that follow the force alone would have to be as short. A step is therefore the exact flow of the
force and its Jacobian at a place (exponential Euler, see `flow.flow`): across the tube it settles
on the valley at once, and its length is spent along it.
"""

import numpy as np
from numba import njit

from .flow import flow, workroom
from .tiles import NOT_HERE
from .zeros import load

CRITICAL_POINT, CURVE, STALL, NO_TILE = 0, 1, 2, 3
NEAR = 0.5  # voxels within which a curve ends at a critical point or another curve
SHORTEST_STEP = 1e-4  # voxels: below it the force has no way out
START = 0.3  # voxels from a saddle to the first point of its curves
LOOK_BACK = 32  # points in which a curve must get on by more than NEAR
ALIKE = 1e-3  # eigenvalues that differ by no larger share are taken to be the same
TIE = 1e-6  # squared voxels: of two points as near, the one that was filed first counts
NO_POINT = NO_CURVE = NO_BLOCK = -1
SIDE = 3  # power of 2 of the voxels along the side of a block


class Tracer:
    """Traces curves one after the other, each as far as those before it.

    Parameters
    ----------
    field : Tiles
        Of the forces, (K, J, I, 3), 0 where there is none, and of what is not 0 where curves may
        run; bool or uint8 (K, J, I).
    ends : ndarray of float, (n, 3)
        Critical points at which curves end, in voxels K, J, I.
    """

    def __init__(self, field, ends):
        self.field = field
        self.points = np.empty((256, 3))
        self.following = np.empty(256, np.int64)  # next point in the same voxel
        self.curve_of = np.empty(256, np.int64)
        # Points lie in few blocks of voxels: only those have room for each voxel's first point.
        self.blocks = np.full([(n >> SIDE) + 1 for n in field.shape], NO_BLOCK, np.int32)
        self.first_in = np.empty((4, 1 << 3 * SIDE), np.int32)
        self.used = 0  # blocks
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
        field, longest = self.field, 4 * sum(self.field.shape)
        path, count, travelled, ending = np.empty((256, 3)), 0, 0.0, NO_TILE
        path[0] = start
        tile = np.empty(3, np.int64)
        while ending == NO_TILE:
            path, count, travelled, ending = follow(
                *field.volumes, field.numbers, field.side, field.shape, tile,
                path, count, travelled, longest, own,
                self.points, self.following, self.curve_of, self.blocks, self.first_in,
            )  # fmt: skip
            if ending == NO_TILE:
                field.add(tile)
        path = path[:count]
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
        self.first_in, self.used = file_points(
            points, curve, self.count, self.points, self.following, self.curve_of, self.blocks,
            self.first_in, self.used,
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
def file_points(points, curve, count, filed, following, curve_of, blocks, first_in, used):
    """File the points of a curve, or ends; the blocks' first points, and how many are used."""
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
    return first_in, used


@njit(cache=True, inline="always")
def within_block(k, j, i):
    last = (1 << SIDE) - 1
    return (k & last) << 2 * SIDE | (j & last) << SIDE | i & last


@njit(cache=True)
def state_at(free, numbers, side, shape, place, tile):
    """State of the voxel nearest to a place; `NOT_HERE` and its tile if that was not fetched."""
    k, j, i = round(place[0]), round(place[1]), round(place[2])
    if not (0 <= k < shape[0] and 0 <= j < shape[1] and 0 <= i < shape[2]):
        return 0
    tile[0], tile[1], tile[2] = k >> side, j >> side, i >> side
    number = numbers[tile[0], tile[1], tile[2]]
    if number == NOT_HERE:
        return NOT_HERE
    last = (1 << side) - 1
    return np.int64(free[number, k & last, j & last, i & last])


@njit(cache=True)
def nearest_ahead(place, step, own, filed, following, shape, blocks, first_in):
    """Index of the nearest filed point but `own` within `NEAR` of a place and not behind it.

    `NO_POINT` if there is none. What lies behind is where a curve comes from, not where it leads.
    """
    best, found = NEAR * NEAR, NO_POINT
    middle_k, middle_j, middle_i = round(place[0]), round(place[1]), round(place[2])
    for k in range(max(middle_k - 1, 0), min(middle_k + 2, shape[0])):
        for j in range(max(middle_j - 1, 0), min(middle_j + 2, shape[1])):
            for i in range(max(middle_i - 1, 0), min(middle_i + 2, shape[2])):
                block = blocks[k >> SIDE, j >> SIDE, i >> SIDE]
                if block == NO_BLOCK:
                    continue
                n = first_in[block, within_block(k, j, i)]
                while n >= 0:
                    way_k, way_j = filed[n, 0] - place[0], filed[n, 1] - place[1]
                    way_i = filed[n, 2] - place[2]
                    away = way_k * way_k + way_j * way_j + way_i * way_i
                    if (
                        away < best
                        and n != own
                        and (way_k * step[0] + way_j * step[1] + way_i * step[2] >= 0)
                    ):
                        best, found = away - TIE, n
                    n = following[n]
    return found


@njit(cache=True)
def follow(
    forces, free, numbers, side, shape, tile, points, count, travelled, longest, own,
    filed, following, curve_of, blocks, first_in,
):  # fmt: skip
    """Follow the flow of the force from the last of a curve's `count` points.

    `points[0]` is where the curve begins, also as long as there is none. Where a tile of the field
    is missing the curve ends as `NO_TILE`, and goes on when the tile was fetched.

    Returns
    -------
    points, count, travelled
        Of the curve as it is now.
    ending : int
    """
    if count == 0:
        state = state_at(free, numbers, side, shape, points[0], tile)
        if state <= 0:
            return points, 0, travelled, STALL if state == 0 else NO_TILE
        count = 1
    place, ahead, step = points[count - 1].copy(), np.empty(3), np.empty(3)
    corners, within, low = np.empty((8, 3)), np.empty(3), np.empty(3, np.int64)
    last, room = (1 << side) - 1, workroom()
    while travelled < longest:
        if count == points.shape[0]:
            points = np.concatenate((points, np.empty_like(points)))
        is_between = True
        for axis in range(3):
            low[axis] = np.floor(place[axis])
            within[axis] = place[axis] - low[axis]
            is_between = is_between and 0 <= low[axis] < shape[axis] - 1
            tile[axis] = low[axis] >> side
        if not is_between:
            break
        number = numbers[tile[0], tile[1], tile[2]]
        if number == NOT_HERE:
            return points, count, travelled, NO_TILE
        load(forces[number], low[0] & last, low[1] & last, low[2] & last, corners)
        length = flow(corners, within, step, room)
        end = nearest_ahead(place, step, own, filed, following, shape, blocks, first_in)
        if end >= 0:
            points[count] = filed[end]
            return points, count + 1, travelled, CRITICAL_POINT if curve_of[end] < 0 else CURVE
        if length < SHORTEST_STEP:
            break
        for axis in range(3):
            ahead[axis] = place[axis] + step[axis]
        state = state_at(free, numbers, side, shape, ahead, tile)
        if state == NOT_HERE:
            return points, count, travelled, NO_TILE
        if state == 0:
            break
        place[:] = ahead
        travelled += length
        points[count] = place
        count += 1
        if count > LOOK_BACK and apart(place, points[count - LOOK_BACK]) < NEAR * NEAR:
            break  # round and round a sink
    return points, count, travelled, STALL


@njit(cache=True, inline="always")
def apart(a, b):
    """Squared distance."""
    return (a[0] - b[0]) ** 2 + (a[1] - b[1]) ** 2 + (a[2] - b[2]) ** 2
