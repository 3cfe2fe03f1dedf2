"""Curves that follow the force (Zhao et al. 2016, section 1, step 4), compiled.

The field is taken at unit length between the voxels. A curve ends at an attractor, near a curve
that was traced before, or where the field turns against it: it then lies on a sink that is too
shallow to be an attractor of the voxel field.
"""

import numpy as np
from numba import njit

ATTRACTOR, CURVE, STALL = 0, 1, 2
NEAR = 0.5  # voxels within which a curve ends at an attractor or another curve
LONGEST_STEP, SHORTEST_STEP = 0.25, 0.02  # voxels
START = 0.3  # voxels from a saddle to the first point of its curves
LOOK_BACK = 32  # points in which a curve must get on by more than NEAR
LARGEST_TURN = 0.5  # sine of the turn within a step from which on the step is halved


class Tracer:
    """Traces curves one after the other, each as far as those before it.

    Parameters
    ----------
    vectors : ndarray, shape (K, J, I, 3)
        Forces, 0 where there is none.
    mask : ndarray of bool, shape (K, J, I)
        The object; no curve leaves it.
    attractors : ndarray of float, (n, 3)
        Voxels K, J, I.
    """

    def __init__(self, vectors, mask, attractors):
        self.vectors, self.mask = vectors, mask
        shape = vectors.shape[:3]
        self.points = np.empty((4096, 3))
        self.following = np.empty(4096, np.int64)  # next point in the same voxel
        self.curve_of = np.empty(4096, np.int64)
        self.first_in = np.full(shape, -1, np.int32)
        self.count = 0
        self.curves = []
        for attractor in attractors:
            self._file(np.array(attractor, float)[None], -1)

    def trace(self, start, lead=()):
        """Follow the force from `start`.

        Parameters
        ----------
        start : array_like, (3,)
        lead : array_like, (n, 3)
            Points that stand before the start.

        Returns
        -------
        points : ndarray, (n, 3)
        ending : int
            `ATTRACTOR`, `CURVE` or `STALL`.
        """
        longest = 4 * sum(self.first_in.shape)
        path, ending = follow(
            self.vectors, self.mask, np.array(start, float), longest, self.points,
            self.following, self.curve_of, self.first_in,
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
        file_points(
            points, curve, self.count, self.points, self.following, self.curve_of, self.first_in
        )
        self.count += len(points)


def grow_core(tracer, points):
    """Curves of level 1: from each saddle both ways along each eigenvector that leads away.

    Parameters
    ----------
    tracer : Tracer
    points : list of CriticalPoint

    Returns
    -------
    list of ndarray, (n, 3)
        Each begins at its saddle.
    """
    curves = []
    for point in points:
        if not point.kind.startswith("saddle"):
            continue
        for direction in _ways_out(point):
            for sign in (1.0, -1.0):
                start = point.position + sign * START * direction
                curve, _ = tracer.trace(start, lead=point.position)
                curves.append(curve)
                tracer.keep(curve[2:])
    return curves


def _ways_out(point):
    """Unit vectors along which the force leads away; two that span the plane of a complex pair."""
    ways = []
    for value, vector in zip(point.eigenvalues, point.eigenvectors.T):
        if value.real > 0:
            way = vector.imag if value.imag < 0 else vector.real
            length = np.linalg.norm(way)
            if length > 0:
                ways.append(way / length)
    return ways


@njit(cache=True)
def file_points(points, curve, count, filed, following, curve_of, first_in):
    for n in range(points.shape[0]):
        k, j, i = round(points[n, 0]), round(points[n, 1]), round(points[n, 2])
        filed[count + n] = points[n]
        curve_of[count + n] = curve
        following[count + n] = first_in[k, j, i]
        first_in[k, j, i] = count + n


@njit(cache=True)
def unit_force(vectors, place, direction):
    """Trilinear mix of the unit vectors round a place, into `direction`; its length.

    0 where the place has no force around it; small where the forces around it are opposed.
    """
    direction[:] = 0
    low = np.floor(place)
    for n in range(8):
        k, j, i = int(low[0]) + (n >> 2), int(low[1]) + (n >> 1 & 1), int(low[2]) + (n & 1)
        if not (
            0 <= k < vectors.shape[0] and 0 <= j < vectors.shape[1] and 0 <= i < vectors.shape[2]
        ):
            continue
        share = 1.0
        for axis in range(3):
            part = place[axis] - low[axis]
            share *= part if n >> (2 - axis) & 1 else 1 - part
        length = 0.0
        for axis in range(3):
            length += np.float64(vectors[k, j, i, axis]) ** 2
        if length > 0:
            share /= np.sqrt(length)
            for axis in range(3):
                direction[axis] += share * vectors[k, j, i, axis]
    return np.sqrt((direction * direction).sum())


@njit(cache=True)
def holds(mask, place):
    """Whether the voxel nearest to a place is in the mask."""
    k, j, i = round(place[0]), round(place[1]), round(place[2])
    if not (0 <= k < mask.shape[0] and 0 <= j < mask.shape[1] and 0 <= i < mask.shape[2]):
        return False
    return mask[k, j, i]


@njit(cache=True)
def nearest_filed(place, filed, following, first_in):
    """Index of the nearest filed point within `NEAR` of a place; -1 if there is none."""
    best, found = NEAR * NEAR, -1
    for k in range(round(place[0]) - 1, round(place[0]) + 2):
        for j in range(round(place[1]) - 1, round(place[1]) + 2):
            for i in range(round(place[2]) - 1, round(place[2]) + 2):
                if not (
                    0 <= k < first_in.shape[0]
                    and 0 <= j < first_in.shape[1]
                    and 0 <= i < first_in.shape[2]
                ):
                    continue
                n = first_in[k, j, i]
                while n >= 0:
                    away = ((filed[n] - place) ** 2).sum()
                    if away < best:
                        best, found = away, n
                    n = following[n]
    return found


@njit(cache=True)
def follow(vectors, mask, start, longest, filed, following, curve_of, first_in):
    """Midpoint steps along the unit force; points (n, 3) and how the curve ended."""
    points = np.empty((256, 3))
    points[0] = start
    count = 1
    if not holds(mask, start):
        return points[:0], STALL
    place, step, travelled = start.copy(), LONGEST_STEP, 0.0
    here, middle, ahead = np.empty(3), np.empty(3), np.empty(3)
    strength = unit_force(vectors, place, here)
    while travelled < longest and strength > 1e-6:
        end = nearest_filed(place, filed, following, first_in)
        if end >= 0:
            if count == points.shape[0]:
                points = np.concatenate((points, np.empty_like(points)))
            points[count] = filed[end]
            return points[: count + 1], ATTRACTOR if curve_of[end] < 0 else CURVE
        here /= strength
        if unit_force(vectors, place + 0.5 * step * here, middle) < 1e-6:
            break
        middle /= np.sqrt((middle * middle).sum())
        there = place + step * middle
        if not holds(mask, there):
            break
        strength = unit_force(vectors, there, ahead)
        turn = (here * ahead).sum() / max(strength, 1e-12)
        if turn < 1 - LARGEST_TURN * LARGEST_TURN / 2:
            # The force turns within the step: a sharp bend or, down to the shortest step, a sink.
            if step > SHORTEST_STEP:
                step /= 2
                strength = unit_force(vectors, place, here)
                continue
            if turn < 0:
                break
        place = there
        travelled += step
        here[:] = ahead
        step = min(2 * step, LONGEST_STEP)
        if count == points.shape[0]:
            points = np.concatenate((points, np.empty_like(points)))
        points[count] = place
        count += 1
        if count > LOOK_BACK and ((place - points[count - LOOK_BACK]) ** 2).sum() < NEAR * NEAR:
            break  # round and round a sink
    return points[:count], STALL
