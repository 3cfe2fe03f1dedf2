"""Curves that follow the force (Zhao et al. 2016, section 1, step 4).

A curve is an integral curve of the force as it is between the voxels, trilinear: its zeros are the
critical points, so from a saddle it leads to another critical point. It ends there, at a curve
that was traced before, or where the object ends.

On a tube of constant width the force along the tube is some 1/200 of the force across it: steps
that follow the force alone would have to be as short. A step is therefore exponential Euler
(`integrator`): across the tube it settles on the valley at once, and its length is spent along it.
"""

from collections.abc import Iterator, Sequence

import numpy as np

from FuzzyVesselCoreLib.jit import compiled, compiled_inside
from FuzzyVesselCoreLib.progress import Progress

from ..critical_points.critical_points import CriticalPoint
from ..object.voxel_classes import ComponentVolumes
from .curve_voxels import CurveVoxels, voxels_of
from .integrator import exponential_euler_step, step_workspace

START = 0.3  # voxels from a saddle to the first point of its curves
NEAR = 0.5  # voxels within which a curve ends at a critical point or another curve
TIE = 1e-6  # squared voxels: of two points as near, the one that was inserted first counts
MIN_STEP = 1e-4  # voxels: below it the force has no way out
LOOK_BACK = 32  # points in which a curve must get on by more than NEAR
SAME_EIGENVALUE = 1e-3  # relative difference up to which eigenvalues are taken to be equal
NO_POINT = -1


class Tracer:
    """Traces curves one after the other, each up to those before it.

    `vectors` (float32, K, J, I, 3) are the forces, 0 where there is none; curves may run where
    `classes` is not 0, and end at the critical points `ends` (n, 3), in voxels.
    """

    def __init__(
        self, vectors: np.ndarray, classes: np.ndarray, ends: Sequence[np.ndarray]
    ) -> None:
        self._vectors, self._classes = vectors, classes
        # Points of earlier curves: each voxel has a linked list of those that lie nearest to it.
        # The first one's number is counted from 1: an array of zeros takes no time to make.
        self._first = np.zeros(classes.shape, np.int32)
        self._points, self._following = np.empty((1024, 3)), np.empty(1024, np.int32)
        self._used = 0
        self.insert(np.array(ends, float).reshape(-1, 3))

    def insert(self, points: np.ndarray) -> None:
        """Let later curves end at points (n, 3)."""
        while self._used + len(points) > len(self._points):
            self._points = np.concatenate([self._points, np.empty_like(self._points)])
            self._following = np.concatenate([self._following, np.empty_like(self._following)])
        insert_points(points, self._used, self._points, self._following, self._first)
        self._used += len(points)

    def trace(self, start: np.ndarray, own: int = NO_POINT) -> np.ndarray:
        """Follow the force from a start (3,); points (n, 3), none where there is no way.

        `own` is the number, among `ends`, of the critical point that the curve comes from.
        """
        start = np.asarray(start, float)
        index = self._points, self._following, self._first
        return follow(self._vectors, self._classes, start, own, *index)

    def trace_along(self, lead: np.ndarray) -> np.ndarray:
        """Go along a lead (m, 3) and on along the force from its last point; both are inserted."""
        lead = np.asarray(lead, float)
        curve = np.concatenate([lead[:-1], self.trace(lead[-1])])
        self.insert(curve)
        return curve


@compiled
def insert_points(
    new_points: np.ndarray, used: int, points: np.ndarray, following: np.ndarray, first: np.ndarray
) -> None:
    for n in range(new_points.shape[0]):
        k, j, i = round(new_points[n, 0]), round(new_points[n, 1]), round(new_points[n, 2])
        here = used + n
        for axis in range(3):
            points[here, axis] = new_points[n, axis]
        following[here] = first[k, j, i] - 1
        first[k, j, i] = here + 1


@compiled_inside
def nearest_ahead(
    position: np.ndarray,
    step: np.ndarray,
    own: int,
    points: np.ndarray,
    following: np.ndarray,
    first: np.ndarray,
) -> int:
    """Number of the nearest point but `own` within `NEAR` of a position and not behind it, or -1.

    What lies behind is where a curve comes from, not where it leads.
    """
    best, found, shape = NEAR * NEAR, NO_POINT, first.shape
    low_k, high_k = max(round(position[0] - NEAR), 0), min(round(position[0] + NEAR), shape[0] - 1)
    low_j, high_j = max(round(position[1] - NEAR), 0), min(round(position[1] + NEAR), shape[1] - 1)
    low_i, high_i = max(round(position[2] - NEAR), 0), min(round(position[2] + NEAR), shape[2] - 1)
    for k in range(low_k, high_k + 1):
        for j in range(low_j, high_j + 1):
            for i in range(low_i, high_i + 1):
                n = first[k, j, i] - 1
                while n >= 0:
                    away_k, away_j = points[n, 0] - position[0], points[n, 1] - position[1]
                    away_i = points[n, 2] - position[2]
                    squared = away_k * away_k + away_j * away_j + away_i * away_i
                    is_ahead = away_k * step[0] + away_j * step[1] + away_i * step[2] >= 0
                    if squared < best and n != own and is_ahead:
                        best, found = squared - TIE, n
                    n = following[n]
    return found


@compiled
def follow(
    vectors: np.ndarray,
    free: np.ndarray,
    start: np.ndarray,
    own: int,
    points: np.ndarray,
    following: np.ndarray,
    first: np.ndarray,
) -> np.ndarray:
    """Follow the force from a start up to an indexed point, or as long as there is a way."""
    path = np.empty((256, 3))
    if not is_free(free, start):
        return path[:0]
    shape, longest = free.shape, 4.0 * (free.shape[0] + free.shape[1] + free.shape[2])
    step, corners, within = np.empty(3), np.empty((8, 3)), np.empty(3)
    low, workspace = np.empty(3, np.int64), step_workspace()
    path[0] = start
    count, travelled = 1, 0.0
    while travelled < longest:
        position = path[count - 1]
        has_cell = True
        for axis in range(3):
            low[axis] = np.floor(position[axis])
            within[axis] = position[axis] - low[axis]
            has_cell = has_cell and 0 <= low[axis] < shape[axis] - 1
        if not has_cell:
            break
        for n in range(8):
            for axis in range(3):
                corners[n, axis] = vectors[
                    low[0] + (n >> 2), low[1] + (n >> 1 & 1), low[2] + (n & 1), axis
                ]
        length = exponential_euler_step(corners, within, step, workspace)
        end = nearest_ahead(position, step, own, points, following, first)
        if count == path.shape[0]:
            longer = np.empty((2 * count, 3))
            longer[:count] = path
            path = longer
        if end >= 0:
            path[count] = points[end]
            count += 1
            break
        if length < MIN_STEP:
            break
        for axis in range(3):
            path[count, axis] = path[count - 1, axis] + step[axis]
        if not is_free(free, path[count]):
            break
        count += 1
        travelled += length
        if count > LOOK_BACK:  # one that goes round and round a sink is still near
            away = path[count - 1] - path[count - LOOK_BACK]
            if away[0] * away[0] + away[1] * away[1] + away[2] * away[2] < NEAR * NEAR:
                break
    return path[:count]


@compiled_inside
def is_free(free: np.ndarray, position: np.ndarray) -> bool:
    """Whether curves may run in the voxel nearest to a position."""
    k, j, i = round(position[0]), round(position[1]), round(position[2])
    if not (0 <= k < free.shape[0] and 0 <= j < free.shape[1] and 0 <= i < free.shape[2]):
        return False
    return bool(free[k, j, i] != 0)


def core_curves(tracer: Tracer, points: Sequence[CriticalPoint]) -> Iterator[np.ndarray]:
    """Yield the curves of level 1: from each saddle both ways along each outgoing eigenvector.

    `points` are the tracer's `ends`, in its order.
    """
    for own, point in enumerate(points):
        if not point.kind.startswith("saddle"):
            continue
        for direction in outgoing_directions(point):
            for step in (START * direction, -START * direction):
                path = tracer.trace(point.position + step, own)
                tracer.insert(path[1:])
                yield np.concatenate([point.position[None], path])


def outgoing_directions(point: CriticalPoint) -> list[np.ndarray]:
    """Unit vectors (3,) that span a critical point's outgoing eigenspace.

    An eigenvector of a symmetric point is determined but for its sign or, where eigenvalues are
    equal, a rotation within their eigenspace. Both are fixed by the axes K, J, I, so that rounding
    decides nothing.
    """
    directions: list[np.ndarray] = []
    values = point.eigenvalues.real.tolist()
    outward = [n for n in range(3) if values[n] > 0]
    while outward:
        limit = values[outward[0]] * (1 + SAME_EIGENVALUE)
        same = sum(values[n] <= limit for n in outward)
        vectors = point.eigenvectors[:, outward[0] : outward[0] + same]
        # A complex pair spans a plane as its real and imaginary parts.
        both = np.concatenate([vectors.real, vectors.imag], axis=1)
        directions += _basis_near_axes(np.linalg.svd(both)[0][:, :same])
        outward = outward[same:]
    return directions


def _basis_near_axes(basis: np.ndarray) -> list[np.ndarray]:
    """Orthonormal vectors with the span of a basis (3, n), made of projections of the axes."""
    found: list[np.ndarray] = []
    for _ in range(basis.shape[1]):
        projections = basis @ basis.T - sum(np.outer(vector, vector) for vector in found)
        axis = np.argmax(np.round(np.diag(projections), 3))
        found.append(projections[axis] / np.linalg.norm(projections[axis]))
    return found


# ---- All traced curves of one component: from critical points, endpoints and seeds

PAIRS_PER_SLICE = 1 << 24  # of a voxel and a ball, between two calls of the progress callback


class ComponentCurves:
    """Traces curves and gathers the voxels that they pass; before `trace_core` without a field."""

    def __init__(self, volumes: ComponentVolumes) -> None:
        self._volumes = volumes
        self._tracer: Tracer | None = None
        self._curves = CurveVoxels(volumes.depth)

    @property
    def has_field(self) -> bool:
        """Whether curves can be traced."""
        return self._tracer is not None

    def voxels(self) -> np.ndarray:
        """Flat indices, ascending, of the voxels that the curves pass."""
        return self._curves.voxels()

    def positions(self, voxels: np.ndarray) -> np.ndarray:
        """Where curves pass each of the voxels (n, 3), else its centre; float (n, 3)."""
        return self._curves.positions(voxels)

    def trace_core(self, points: Sequence[CriticalPoint], progress: Progress) -> None:
        """Trace from the saddles; later curves end at any of the points."""
        volumes = self._volumes
        ends = [point.position for point in points]
        self._tracer = Tracer(volumes.vectors, volumes.classes, ends)
        for curve in core_curves(self._tracer, points):
            progress.check()
            self._curves.add(curve)

    def trace_from_endpoints(self, endpoints: np.ndarray, progress: Progress) -> None:
        """Trace from endpoints (flat indices), those furthest from the skeleton first."""
        distances = self._volumes.distances.reshape(-1)[endpoints]
        for endpoint in endpoints[np.argsort(-distances, kind="stable")]:
            progress.check()
            self._trace_from(endpoint)

    def trace_from_seeds(
        self,
        seeds: np.ndarray,
        present: np.ndarray,
        clearance: tuple[float, float],
        progress: Progress,
    ) -> np.ndarray:
        """Trace from the seeds that lie clear of the inscribed balls of all that is there.

        Seeds (n, 3) are sorted, the best first: one within reach of the curve of an earlier one is
        left out. `present` are flat indices of the skeleton and of all that it is to have; the
        clearance is a multiple of the balls' radii, and voxels added to it. Returns the seeds that
        curves were traced from.
        """
        depth, used = self._volumes.depth, []
        seeds = seeds[depth[tuple(seeds.T)] > 0]
        there = np.stack(np.unravel_index(present, depth.shape), axis=1)
        while len(seeds := seeds[~self._are_near(seeds, there, clearance, progress)]):
            seed, seeds = seeds[0], seeds[1:]
            used.append(int(np.ravel_multi_index(seed, depth.shape)))
            there = np.unique(voxels_of(self._trace_from(used[-1])), axis=0)
        return np.array(used, np.int64)

    def _are_near(
        self,
        seeds: np.ndarray,
        voxels: np.ndarray,
        clearance: tuple[float, float],
        progress: Progress,
    ) -> np.ndarray:
        """Whether each seed (n, 3) lies in a ball round some voxels (m, 3); bool (n,)."""
        from scipy.spatial.distance import cdist

        spacing, (scale, margin) = np.asarray(self._volumes.spacing, float), clearance
        radii = scale * self._volumes.depth[tuple(voxels.T)] + margin * spacing.min()
        near, step = np.zeros(len(seeds), bool), max(1, PAIRS_PER_SLICE // max(1, len(voxels)))
        for first in range(0, len(seeds), step):
            some = slice(first, first + step)
            near[some] = (cdist(seeds[some] * spacing, voxels * spacing) <= radii).any(axis=1)
            progress.check()
        return near

    def _trace_from(self, voxel: int) -> np.ndarray:
        """A curve along the shortest path to where there is a force, then along that."""
        volumes = self._volumes
        path = descent_path(volumes.distances, volumes.vectors, voxel)
        if self._tracer is None:
            return path.astype(float)
        curve = self._tracer.trace_along(path)
        self._curves.add(curve)
        return curve


def descent_path(distances: np.ndarray, vectors: np.ndarray | None, voxel: int) -> np.ndarray:
    """From a voxel the path along falling distances, as far as there is no force: voxels (n, 3).

    Of neighbours that are equally near to the core the first, in K, J, I, is the next. `distances`
    (int32) are -1 outside, as is the border. It begins at the voxel (a flat index); the last one
    has a force or is in the core.
    """
    forces = np.empty((0, 3), np.float32) if vectors is None else vectors.reshape(-1, 3)
    _, rows, width = distances.shape
    path = follow_distances(distances.reshape(-1), forces, rows * width, width, int(voxel))
    return np.stack(np.unravel_index(path, distances.shape), axis=1)


@compiled
def follow_distances(
    distances: np.ndarray, forces: np.ndarray, plane: int, row: int, voxel: int
) -> np.ndarray:
    path = [voxel]
    while len(forces) == 0 or not forces[voxel].any():
        nearest = voxel
        for n in range(27):
            other = voxel + (n // 9 - 1) * plane + (n // 3 % 3 - 1) * row + n % 3 - 1
            if 0 <= distances[other] < distances[nearest]:
                nearest = other
        if nearest == voxel:
            break
        voxel = nearest
        path.append(voxel)
    return np.array(path)
