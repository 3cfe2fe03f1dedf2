"""All traced curves of one component: from critical points, endpoints and seeds; their voxels."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.spatial.distance import cdist

from FuzzyVesselCoreLib.jit import compiled, compiled_inside, inlined
from FuzzyVesselCoreLib.progress import Progress

from .critical_points import CriticalPoint
from .force_field import ForceField
from .streamlines import Tracer

# Of seeds, by their kind, to skeleton and curves: a factor of the inscribed radius, and
# voxels added to it. With fewer each bump of a rough surface would have a curve of its own.
CLEARANCE = {"divergence": (1.0, 0.0), "curvature": (1.3, 3.0)}
PAIRS_PER_SLICE = 1 << 24  # of a voxel and a ball, between two calls of the progress callback


class ComponentCurves:
    """Traces the curves of a component; their voxels, and where they pass these.

    `anchors` (flat indices, ascending) are where the skeleton shall lead: critical points, and
    endpoints and seeds that curves were traced from. Without a field, from which `trace_core`
    begins, no curve passes any voxel. `depth` is the distance to the outside, `distances` (int32)
    are along the component from the skeleton.
    """

    def __init__(self, depth: np.ndarray, spacing: tuple[float, ...]) -> None:
        self._depth, self._spacing = depth, spacing
        self._tracer: Tracer | None = None
        self._passed = CurveVoxels(depth)
        self.anchors = np.empty(0, np.int64)

    def voxels(self) -> np.ndarray:
        """Flat indices, ascending, of the voxels that the curves pass."""
        return self._passed.voxels()

    def positions(self, voxels: np.ndarray) -> np.ndarray:
        """Where the curves pass each of some voxels (n, 3), else its centre; float (n, 3)."""
        return self._passed.positions(voxels)

    def inside(self, points: Sequence[CriticalPoint]) -> list[CriticalPoint]:
        """Those points that lie in the object, not between it and charges that went outward."""
        return [p for p in points if self._depth[tuple(voxels_at(p.position))] > 0]

    def trace_core(
        self, field: ForceField, points: Sequence[CriticalPoint], progress: Progress
    ) -> None:
        """Trace from the saddles; later curves end at any of the points."""
        voxels = voxels_at([p.position for p in self.inside(points)]).reshape(-1, 3)
        self._add_anchors(np.ravel_multi_index(voxels.T, self._depth.shape))
        self._tracer = Tracer(field.vectors, field.classes, [p.position for p in points])
        for curve in self._tracer.core_curves(points):
            progress.check()
            self._passed.add(curve)

    def trace_from_endpoints(
        self, endpoints: np.ndarray, distances: np.ndarray, progress: Progress
    ) -> None:
        """Trace from endpoints (flat indices), those furthest from the skeleton first."""
        self._add_anchors(endpoints)
        away = distances.reshape(-1)[endpoints]
        for endpoint in endpoints[np.argsort(-away, kind="stable")]:
            progress.check()
            self._trace_from(endpoint, distances)

    def trace_from_seeds(
        self,
        seeds: np.ndarray,
        kind: str,
        skeleton: np.ndarray,
        distances: np.ndarray,
        progress: Progress,
    ) -> None:
        """Trace from the seeds that lie clear of the skeleton and of all curves.

        Seeds (n, 3) are sorted, the best first, of a kind named in `CLEARANCE`; `skeleton` are
        flat indices. A seed is clear of a voxel if it lies outside of its inscribed ball enlarged
        by the clearance.
        """
        progress.check()
        depth, clearance, used = self._depth, CLEARANCE[kind], []
        seeds = seeds[depth[tuple(seeds.T)] > 0]
        present = np.unique(np.concatenate([skeleton, self._passed.voxels(), self.anchors]))
        voxels = np.stack(np.unravel_index(present, depth.shape), axis=1)
        while len(seeds := seeds[~self._are_near(seeds, voxels, clearance, progress)]):
            seed, seeds = seeds[0], seeds[1:]
            used.append(int(np.ravel_multi_index(seed, depth.shape)))
            voxels = np.unique(voxels_at(self._trace_from(used[-1], distances)), axis=0)
        self._add_anchors(np.array(used, np.int64))

    def _add_anchors(self, voxels: np.ndarray) -> None:
        self.anchors = np.union1d(self.anchors, voxels)

    def _are_near(
        self,
        seeds: np.ndarray,
        voxels: np.ndarray,
        clearance: tuple[float, float],
        progress: Progress,
    ) -> np.ndarray:
        """Whether each seed (n, 3) lies in the ball round one of the voxels (m, 3); bool (n,)."""
        spacing, (scale, margin) = np.asarray(self._spacing, float), clearance
        radii = scale * self._depth[tuple(voxels.T)] + margin * spacing.min()
        near, step = np.zeros(len(seeds), bool), max(1, PAIRS_PER_SLICE // max(1, len(voxels)))
        for first in range(0, len(seeds), step):
            some = slice(first, first + step)
            near[some] = (cdist(seeds[some] * spacing, voxels * spacing) <= radii).any(axis=1)
            progress.check()
        return near

    def _trace_from(self, voxel: int, distances: np.ndarray) -> np.ndarray:
        """A curve along the shortest path to where there is a force, then along that."""
        if self._tracer is None:
            return descent_path(distances, None, voxel).astype(float)
        curve = self._tracer.trace_along(descent_path(distances, self._tracer.vectors, voxel))
        self._passed.add(curve)
        return curve


def descent_path(distances: np.ndarray, vectors: np.ndarray | None, voxel: int) -> np.ndarray:
    """From a voxel the path along falling distances, as far as there is no force: voxels (n, 3).

    Of neighbours equally near to the skeleton the first, in K, J, I, is the next. `distances`
    (int32) are -1 outside, as is the border. It begins at the voxel (a flat index); the last one
    has a force or is in the skeleton.
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


# ---- The voxels that curves pass, and where they pass them
# In a symmetric object curves run along the faces between voxels and through their corners.
# Rounding errors, which differ from one field method to another, must not decide there: the faces
# are offset slightly, and a voxel in which only a short segment lies is left out. The voxels before
# and after it are neighbours.

FACE_OFFSET = 1e-3  # voxels: a position up to so far above a face is in the voxel below
ON_FACE = 1e-9  # voxels from a face
CENTRAL = 0.8  # depth of a voxel as a share of a neighbour's below which it is off the middle
MIN_LENGTH = 0.05  # voxels: length of all curves in a voxel from which on they pass it
MAX_SEGMENT = 4.0  # voxels: neighbouring points that were moved are no further apart
MOST_SEGMENTS = 16  # of a step of that length
WITHIN = 0.499  # voxels from its centre that the skeleton may pass in a voxel


def voxels_at(positions: Any) -> np.ndarray:
    """Voxels of positions (n, 3) or (3,), those on a face in the one below; integers."""
    return np.floor(np.asarray(positions) + (0.5 - FACE_OFFSET)).astype(np.int64)


class CurveVoxels:
    """Gathers curves; `depth` (float32, K, J, I) is 0 outside of the object."""

    def __init__(self, depth: np.ndarray) -> None:
        self._depth = depth
        self._voxels = np.empty(0, np.int64)  # flat, ascending
        self._sums = np.empty((0, 4))  # length, and length times position
        self._new: list[tuple[np.ndarray, np.ndarray]] = []  # curves not among these yet

    def add(self, curve: np.ndarray) -> None:
        """Add a curve (n, 3); what lies off the object's middle is moved there."""
        inside = centred(np.asarray(curve, float), self._depth)
        self._new.append(segments(inside, self._depth.shape))

    def voxels(self) -> np.ndarray:
        """Flat indices, ascending, of the object's voxels that the curves pass."""
        self._gather()
        voxels = self._voxels[self._sums[:, 0] >= MIN_LENGTH]
        return voxels[self._depth.reshape(-1)[voxels] > 0]

    def positions(self, voxels: np.ndarray) -> np.ndarray:
        """Where curves pass each of the voxels (n, 3), else its centre; float (n, 3)."""
        self._gather()
        positions = voxels.astype(float)
        if not len(self._voxels) or not len(voxels):
            return positions
        flat = np.ravel_multi_index(voxels.T, self._depth.shape)
        at = np.minimum(np.searchsorted(self._voxels, flat), len(self._voxels) - 1)
        passed = (self._voxels[at] == flat) & (self._sums[at, 0] >= MIN_LENGTH)
        sums = self._sums[at[passed]]
        positions[passed] = sums[:, 1:] / sums[:, :1]
        # Not quite up to the faces between voxels, so that rounding always gives the voxel.
        return np.clip(positions, voxels - WITHIN, voxels + WITHIN)

    def _gather(self) -> None:
        if not self._new:
            return
        voxels = np.concatenate([self._voxels, *(new for new, _ in self._new)])
        sums = np.concatenate([self._sums, *(new for _, new in self._new)])
        self._voxels, group = np.unique(voxels, return_inverse=True)
        self._sums = np.stack(
            [np.bincount(group, column, len(self._voxels)) for column in sums.T], axis=1
        )
        self._new = []


@inlined
def voxel_along(position: float) -> int:
    """As `voxels_at`, along one axis."""
    return int(np.floor(position + (0.5 - FACE_OFFSET)))


@compiled
def centred(points: np.ndarray, depth: np.ndarray) -> np.ndarray:
    """Points (n, 3) of a curve, those outside of the object or close to its border moved.

    The field does not resolve parts that are few voxels thick: a curve follows their border there
    or, where charges were moved outward, leaves them for a short way. Its points go to the centre
    of the deepest neighbour of their voxel, the nearest of those; one adjacent to the point before
    goes first. Points without a neighbour in the object are left out. Where the object is thick,
    neighbours are nearly as deep, and all points stay.
    """
    inside, count = np.empty(points.shape), 0
    depths = np.empty(27, np.float32)
    for n in range(points.shape[0]):
        k, j, i = voxel_along(points[n, 0]), voxel_along(points[n, 1]), voxel_along(points[n, 2])
        deepest = np.float32(0)
        for side in range(27):
            depths[side] = depth_at(
                depth, k + side // 9 - 1, j + side // 3 % 3 - 1, i + side % 3 - 1
            )
            deepest = max(deepest, depths[side])
        if deepest == 0:
            continue
        if depths[13] >= CENTRAL * deepest:
            moved = points[n, 0], points[n, 1], points[n, 2]
        else:
            a, b, c = deepest_neighbour(points[n], (k, j, i), depths, inside[:count])
            moved = float(a), float(b), float(c)
        inside[count, 0], inside[count, 1], inside[count, 2] = moved
        count += 1
    return inside[:count]


@compiled_inside
def deepest_neighbour(
    point: np.ndarray, voxel: tuple[int, int, int], depths: np.ndarray, before: np.ndarray
) -> tuple[int, int, int]:
    """The neighbour of a point's voxel to which the point is moved; see `centred`."""
    best, nearest, found = (False, np.float32(0)), 0.0, voxel
    for side in range(27):
        depth = depths[side]
        if depth == 0:
            continue
        a, b, c = voxel[0] + side // 9 - 1, voxel[1] + side // 3 % 3 - 1, voxel[2] + side % 3 - 1
        is_adjacent = False
        if len(before) > 0:
            last = before[-1]
            is_adjacent = max(abs(last[0] - a), abs(last[1] - b), abs(last[2] - c)) < 1.5
        if (is_adjacent, depth) < best:
            continue
        squared = (point[0] - a) ** 2 + (point[1] - b) ** 2 + (point[2] - c) ** 2
        nearness = round(-squared, 3)
        if (is_adjacent, depth) > best or nearness > nearest:
            best, nearest, found = (is_adjacent, depth), nearness, (a, b, c)
    return found


@compiled_inside
def depth_at(depth: np.ndarray, k: int, j: int, i: int) -> np.float32:
    """Depth of a voxel, 0 beyond the volume."""
    if 0 <= k < depth.shape[0] and 0 <= j < depth.shape[1] and 0 <= i < depth.shape[2]:
        return depth[k, j, i]
    return np.float32(0)


@compiled
def segments(points: np.ndarray, shape: tuple[int, int, int]) -> tuple[np.ndarray, np.ndarray]:
    """Cut a curve (n, 3) at the faces between voxels.

    Returns flat indices (m,) of the segments' voxels, and sums (m, 4): length, and length times
    middle.
    """
    most = MOST_SEGMENTS * max(points.shape[0] - 1, 0)
    voxels, sums, count = np.empty(most, np.int64), np.empty((most, 4)), 0
    step = np.empty(3)
    for n in range(1, points.shape[0]):
        start = points[n - 1]
        for axis in range(3):
            step[axis] = points[n, axis] - start[axis]
        length = np.sqrt(step[0] * step[0] + step[1] * step[1] + step[2] * step[2])
        if length > MAX_SEGMENT:
            continue
        share = 0.0
        while share < 1 and length > 0:
            following = next_face(start, step, share)
            sums[count, 0] = (following - share) * length
            voxels[count] = 0
            for axis in range(3):
                middle = start[axis] + 0.5 * (share + following) * step[axis]
                voxels[count] = voxels[count] * shape[axis] + voxel_along(middle)
                sums[count, 1 + axis] = sums[count, 0] * middle
            count += 1
            share = following
    return voxels[:count], sums[:count]


@compiled_inside
def next_face(start: np.ndarray, step: np.ndarray, share: float) -> float:
    """Share of a step, beyond `share`, at which it crosses the next face; at most 1."""
    following = 1.0
    for axis in range(3):
        if step[axis] == 0:
            continue
        cell = start[axis] + share * step[axis] + 0.5 - FACE_OFFSET
        face = np.floor(cell + ON_FACE) + 1 if step[axis] > 0 else np.ceil(cell - ON_FACE) - 1
        following = min(following, share + (face - cell) / step[axis])
    return following
