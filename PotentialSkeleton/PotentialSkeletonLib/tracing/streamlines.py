"""Curves that follow the force (Zhao et al. 2016, section 1, step 4), compiled.

A curve is the flow of the force as it is between the voxels, trilinear: its zeros are the critical
points, so from a saddle it leads to another critical point. It ends there, at a curve that was
traced before, or where the object ends.

On a tube of constant width the force along the tube is some 1/200 of the force across it: steps
that follow the force alone would have to be as short. A step is therefore the exact flow of the
force and its Jacobian at a place (exponential Euler, see `flow.flow`): across the tube it settles
on the valley at once, and its length is spent along it.
"""

from itertools import pairwise

import numpy as np
from numba import njit

from ..critical_points.sign_changes import load_corners
from ..field.tiles import MISSING
from .integrator import flow, workroom
from .spatial_point_index import NEAR, NO_POINT, empty_file, file_points, nearest_ahead

CRITICAL_POINT, CURVE, STALL, NO_TILE = 0, 1, 2, 3
SHORTEST_STEP = 1e-4  # voxels: below it the force has no way out
START = 0.3  # voxels from a saddle to the first point of its curves
LOOK_BACK = 32  # points in which a curve must get on by more than NEAR
ALIKE = 1e-3  # eigenvalues that differ by no larger share are taken to be the same
A_CURVE, NO_CURVE = 0, -1  # what a filed point belongs to
CURVES_A_SLICE = 32  # traced between two looks at the progress callback


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
        self._file = empty_file(field.shape)
        if len(ends):
            self._file = file_points(np.array(ends, float), NO_CURVE, self._file)

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
        (path,), (ending,) = self._trace(np.array([start], float), np.array([own]), False)
        return (np.concatenate([np.reshape(lead, (-1, 3)), path]) if len(lead) else path), ending

    def trace_and_keep(self, starts, owns):
        """Follow the force from each of the starts (n, 3) in turn, and keep all but the starts.

        `owns` (n,) are their numbers as for `trace`. Returns a list of points (n, 3).
        """
        return self._trace(starts, owns, True)[0]

    def keep(self, points):
        """Add a curve, so that later curves end at it."""
        self._file = file_points(np.asarray(points, float), A_CURVE, self._file)

    def _trace(self, starts, owns, keep):
        field, longest, tile = self.field, 4 * sum(self.field.shape), np.empty(3, np.int64)
        path, lengths = np.empty((1024, 3)), np.zeros(len(starts), np.int64)
        endings = np.full(len(starts), NO_TILE)
        done, travelled = 0, 0.0
        while True:
            path, done, travelled, self._file = follow_each(
                *field.volumes, field.numbers, field.side, field.shape, tile, starts, owns, keep,
                path, lengths, endings, done, travelled, longest, self._file,
            )  # fmt: skip
            if done == len(starts):
                break
            field.add(tile)
        ends = np.cumsum(lengths).tolist()
        return [path[a:b] for a, b in pairwise([0, *ends])], endings.tolist()


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
    saddles = [n for n, point in enumerate(points) if point.kind.startswith("saddle")]
    ways = ways_out([points[n] for n in saddles])
    owns = np.repeat(np.array(saddles, int), np.array([len(some) for some in ways], int))
    positions = np.array([point.position for point in points]).reshape(-1, 3)[owns]
    steps = START * np.array([way for some in ways for way in some]).reshape(-1, 3)
    starts = np.stack([positions + steps, positions - steps], axis=1).reshape(-1, 3)
    owns = np.repeat(owns, 2)
    for first in range(0, len(starts), CURVES_A_SLICE):
        some = slice(first, first + CURVES_A_SLICE)
        paths = tracer.trace_and_keep(starts[some], owns[some])
        for own, path in zip(owns[some].tolist(), paths):
            yield np.concatenate([points[own].position[None], path])


def ways_out(points):
    """For each point unit vectors that span the directions along which the force leads away.

    Eigenvectors of a symmetric place are known but for their sign or, where eigenvalues are alike,
    for a turn among them; both are fixed by the axes K, J, I, and rounding decides nothing.

    Parameters
    ----------
    points : list of CriticalPoint

    Returns
    -------
    list of list of ndarray, (3,)
    """
    groups = []  # number of the point, vectors of eigenvalues that are alike
    for number, point in enumerate(points):
        rising = point.eigenvalues.real.tolist()
        outward = [n for n in range(3) if rising[n] > 0]
        while outward:
            limit = rising[outward[0]] * (1 + ALIKE)
            alike = sum(rising[n] <= limit for n in outward)
            groups.append((number, point.eigenvectors[:, outward[0] : outward[0] + alike]))
            outward = outward[alike:]
    ways = [[] for _ in points]
    for (number, _), found in zip(groups, _spanning([vectors for _, vectors in groups])):
        ways[number].extend(found)
    return ways


def _spanning(groups):
    """Orthonormal vectors that span what the columns of each group (3, n) do, close to the axes."""
    found = [None] * len(groups)
    for size in {vectors.shape[1] for vectors in groups}:
        some = [n for n, vectors in enumerate(groups) if vectors.shape[1] == size]
        vectors = np.array([groups[n] for n in some])
        # A complex pair spans a plane as its real and imaginary parts.
        planes = np.linalg.svd(np.concatenate([vectors.real, vectors.imag], axis=2))[0]
        planes = planes[:, :, :size]
        ways = _along_one_axis(planes[:, :, 0]) if size == 1 else map(_along_axes, planes)
        for n, own in zip(some, ways):
            found[n] = own
    return found


def _along_one_axis(vectors):
    """As `_along_axes`, for each of some vectors (n, 3)."""
    axes = np.argmax(np.round(vectors * vectors, 3), axis=1)
    shadows = vectors[np.arange(len(vectors)), axes][:, None] * vectors
    return [[shadow / np.sqrt(shadow.dot(shadow))] for shadow in shadows]


def _along_axes(basis):
    """Orthonormal vectors that span what the columns of a basis (3, n) do, close to the axes."""
    found = []
    for _ in range(basis.shape[1]):
        shadows = basis @ basis.T - sum(np.outer(way, way) for way in found)
        axis = np.argmax(np.round(np.diag(shadows), 3))
        found.append(shadows[axis] / np.linalg.norm(shadows[axis]))
    return found


@njit(cache=True)
def state_at(free, numbers, side, shape, place, tile):
    """State of the voxel nearest to a place; `MISSING` and its tile if that was not fetched."""
    k, j, i = round(place[0]), round(place[1]), round(place[2])
    if not (0 <= k < shape[0] and 0 <= j < shape[1] and 0 <= i < shape[2]):
        return 0
    tile[0], tile[1], tile[2] = k >> side, j >> side, i >> side
    number = numbers[tile[0], tile[1], tile[2]]
    if number == MISSING:
        return MISSING
    last = (1 << side) - 1
    return np.int64(free[number, k & last, j & last, i & last])


@njit(cache=True)
def follow_each(
    forces, free, numbers, side, shape, tile, starts, owns, keep, path, lengths, endings, done,
    travelled, longest, file,
):  # fmt: skip
    """Follow the force from each start in turn; the curves' points lie one behind the other.

    `lengths` and `endings` are set. Where a tile of the field is missing it comes back with the
    curves that are `done`, and goes on when the tile was fetched.

    Returns
    -------
    path, done, travelled, file
        As they are now.
    """
    begin = lengths[:done].sum()
    while done < len(starts):
        if begin == len(path):
            path = np.concatenate((path, np.empty_like(path)))
        if lengths[done] == 0:
            path[begin] = starts[done]
        path, lengths[done], travelled, endings[done] = follow(
            forces, free, numbers, side, shape, tile, path, begin, lengths[done], travelled,
            longest, owns[done], file,
        )  # fmt: skip
        if endings[done] == NO_TILE:
            break
        if keep:
            file = file_points(path[begin + 1 : begin + lengths[done]], A_CURVE, file)
        begin += lengths[done]
        done += 1
        travelled = 0.0
    return path, done, travelled, file


@njit(cache=True)
def follow(
    forces, free, numbers, side, shape, tile, path, begin, count, travelled, longest, own, file
):  # fmt: skip
    """Follow the flow of the force from the last of a curve's `count` points.

    `path[begin]` is where the curve begins, also as long as there is none. Where a tile of the
    field is missing the curve ends as `NO_TILE`, and goes on when the tile was fetched.

    Returns
    -------
    path, count, travelled
        Of the curve as it is now.
    ending : int
    """
    if count == 0:
        state = state_at(free, numbers, side, shape, path[begin], tile)
        if state <= 0:
            return path, 0, travelled, STALL if state == 0 else NO_TILE
        count = 1
    place, ahead, step = path[begin + count - 1].copy(), np.empty(3), np.empty(3)
    corners, within, low = np.empty((8, 3)), np.empty(3), np.empty(3, np.int64)
    last, room = (1 << side) - 1, workroom()
    while travelled < longest:
        following = begin + count
        if following == path.shape[0]:
            path = np.concatenate((path, np.empty_like(path)))
        is_between = True
        for axis in range(3):
            low[axis] = np.floor(place[axis])
            within[axis] = place[axis] - low[axis]
            is_between = is_between and 0 <= low[axis] < shape[axis] - 1
            tile[axis] = low[axis] >> side
        if not is_between:
            break
        number = numbers[tile[0], tile[1], tile[2]]
        if number == MISSING:
            return path, count, travelled, NO_TILE
        load_corners(forces[number], low[0] & last, low[1] & last, low[2] & last, corners)
        length = flow(corners, within, step, room)
        end = nearest_ahead(place, step, own, shape, file)
        if end >= 0:
            path[following] = file[0][end]
            return path, count + 1, travelled, CURVE if file[2][end] == A_CURVE else CRITICAL_POINT
        if length < SHORTEST_STEP:
            break
        for axis in range(3):
            ahead[axis] = place[axis] + step[axis]
        state = state_at(free, numbers, side, shape, ahead, tile)
        if state == MISSING:
            return path, count, travelled, NO_TILE
        if state == 0:
            break
        place[:] = ahead
        travelled += length
        path[following] = place
        count += 1
        if count > LOOK_BACK and apart(place, path[begin + count - LOOK_BACK]) < NEAR * NEAR:
            break  # round and round a sink
    return path, count, travelled, STALL


@njit(cache=True, inline="always")
def apart(a, b):
    """Squared distance."""
    return (a[0] - b[0]) ** 2 + (a[1] - b[1]) ** 2 + (a[2] - b[2]) ** 2
