"""Vessels: trees that fill an organ, their tubes, and the signed distance to these.

Every branch of a tree drains (or feeds) a territory, a cloud of points in the organ. It runs
towards the territory's middle; there the cloud is cut in two, and each child takes one part. Flow
is proportional to the number of points, so radii go with its cube root: Murray's law (C. D. Murray,
PNAS 12, 1926), r0^3 = r1^3 + r2^3 at each bifurcation. Only + - * / and square roots are used, and
points are rounded, so that a seed number gives the same tree on every platform.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

TAPER = 0.94  # radius at a branch's end, of that at its start
FINER = 4  # points sampled for each point kept, in the search for clear courses
MAX_DETOURS = 40  # courses tried for a branch, to keep clear of the other trees


@dataclass(frozen=True)
class Branch:
    """An unbranched part of a named tree.

    `points` (n, 3) are the centreline in voxels, K,J,I (the centre of the first voxel is 0, 0, 0),
    or in mm while the tree grows; a child begins at the last point of its parent (index in the
    list; -1 at the root). `radius` (n,) is in mm.
    """

    points: np.ndarray
    radius: np.ndarray
    parent: int
    tree: str


def grow(tree, root, direction, territory, radius, smallest, rng, others=()):
    """Grow a named tree, in mm; parents come before their children.

    The trunk starts at `root` in a direction with a radius, and no branch gets thinner than
    `smallest`. `territory` (n, 3) are points spread over the organ, `others` branches of trees to
    keep clear of.
    """
    clearance = _clearance(others)
    branches: list[Branch] = []
    waiting = [(-1, np.asarray(root, float), _unit(direction), territory, radius)]
    while waiting:
        parent, start, heading, cloud, r = waiting.pop(0)
        end_radius = max(TAPER * r, smallest)
        parts = _halves(cloud, heading, rng)
        radii = [end_radius * (len(part) / len(cloud)) ** (1 / 3) for part in parts]
        ends_here = len(parts) < 2 or min(radii) * TAPER < smallest
        goal, share = _middle(cloud), 0.35 + 0.25 * rng.random()
        if ends_here:
            goal, share = 0.5 * (goal + _furthest(cloud, start)), 0.9
        way = share * (goal - start)
        curve = _curve(start, heading, way, r, 2 * smallest, rng, clearance)
        branches.append(Branch(curve, np.linspace(r, end_radius, len(curve)), parent, tree))
        if not ends_here:
            for part, part_radius in zip(parts, radii):
                heading = _unit(curve[-1] - curve[-2] + 0.6 * _unit(_middle(part) - curve[-1]))
                waiting.append((len(branches) - 1, curve[-1], heading, part, part_radius))
    return branches


def _curve(start, heading, way, radius, gap, rng, clearance):
    """A quadratic Bezier arc of a chord; a detour where other trees obstruct it."""
    length = _norm(way)
    steps = int(np.clip(np.ceil(length / (1.2 * radius)), 3, 24))
    t = np.linspace(0, 1, FINER * steps + 1)[:, None]
    best, widest = np.empty((0, 3)), -np.inf
    for attempt in range(MAX_DETOURS):
        detour = length * 0.04 * attempt
        end = start + way + (rng.random(3) - 0.5) * detour
        bend = start + heading * 0.4 * length + (rng.random(3) - 0.5) * detour
        curve = (1 - t) ** 2 * start + 2 * t * (1 - t) * bend + t * t * end
        free = clearance(curve) - radius
        if free > widest + 1e-3:
            best, widest = curve, free
        if free > gap:
            break
    return np.concatenate([start[None], np.round(best[FINER::FINER], 3)])


def _halves(cloud: np.ndarray, heading: np.ndarray, rng: np.random.Generator) -> list[np.ndarray]:
    """Cut a cloud along a plane that contains the heading, across its widest extent."""
    if len(cloud) < 2:
        return [cloud]
    centred = cloud - _middle(cloud)
    best, widest = np.empty(0), -1.0
    for _ in range(6):
        normal = rng.random(3) - 0.5
        normal = _unit(normal - _dot(normal, heading) * heading)
        along = _dot(centred, normal)
        spread = float((along * along).mean())
        if spread > widest:
            best, widest = along, spread
    order = np.argsort(best, kind="stable")
    cut = int(np.clip(round(len(cloud) * (0.28 + 0.44 * rng.random())), 1, len(cloud) - 1))
    return [cloud[np.sort(order[:cut])], cloud[np.sort(order[cut:])]]


def _clearance(others: Sequence[Branch]) -> Callable[[np.ndarray], float]:
    """The distance of a curve from the surface of other branches, as a function."""
    if not others:
        return lambda curve: np.inf
    from scipy.spatial import cKDTree

    points, radii = [], []
    for branch in others:
        at = np.arange(len(branch.points))
        fine = np.linspace(0, at[-1], FINER * at[-1] + 1)
        points.append(np.stack([np.interp(fine, at, p) for p in branch.points.T], 1))
        radii.append(np.interp(fine, at, branch.radius))
    radius = np.concatenate(radii)
    tree = cKDTree(np.concatenate(points))

    def clearance(curve: np.ndarray) -> float:
        distance, nearest = tree.query(curve[1:])
        return float((distance - radius[nearest]).min())

    return clearance


def _middle(cloud: np.ndarray) -> np.ndarray:
    return np.round(cloud.mean(0), 3)


def _furthest(cloud: np.ndarray, point: np.ndarray) -> np.ndarray:
    away = cloud - point
    return cloud[np.argmax(_dot(away, away))]


def _dot(a: np.ndarray, b: np.ndarray) -> Any:
    return a[..., 0] * b[..., 0] + a[..., 1] * b[..., 1] + a[..., 2] * b[..., 2]


def _norm(v: np.ndarray) -> float:
    return float(np.sqrt(_dot(v, v)))


def _unit(v: Any) -> np.ndarray:
    vector = np.asarray(v, float)
    return vector / max(_norm(vector), 1e-9)


# ---- tubes with round ends around polylines

FAR = np.float32(1e6)  # in voxel widths: far from every tube
MARGIN = 2  # voxels around a tube with a computed distance, for soft borders


def signed_distance(
    branches: Sequence[Branch],
    shape: Sequence[int],
    spacing: Sequence[float],
    first: int,
    last: int,
) -> np.ndarray:
    """Signed distance to the surface of branches, in the slices first..last-1; negative inside.

    In voxel widths along the direction to the axis (float32), so that a soft border is one voxel
    wide in every direction of an anisotropic grid. Further than about `MARGIN` it is `FAR`.
    """
    size = np.asarray(spacing, float)
    start = np.concatenate([b.points[:-1] for b in branches]) * size
    end = np.concatenate([b.points[1:] for b in branches]) * size
    radius = np.concatenate([np.stack([b.radius[:-1], b.radius[1:]], 1) for b in branches])
    reach = radius.max(1, keepdims=True) / size + MARGIN
    low = np.floor(np.minimum(start, end) / size - reach).astype(int)
    high = np.ceil(np.maximum(start, end) / size + reach).astype(int) + 1
    low, high = np.maximum(low, (first, 0, 0)), np.minimum(high, (last, *shape[1:]))
    result = np.full((last - first, *shape[1:]), FAR, np.float32)
    for n in np.flatnonzero((low < high).all(axis=1)):
        axes = [
            (np.arange(low[n, a], high[n, a]) * spacing[a] - start[n, a])
            .astype(np.float32)
            .reshape([-1 if b == a else 1 for b in range(3)])
            for a in range(3)
        ]
        distance = _distance_to_segment(axes, end[n] - start[n], radius[n], spacing)
        box = result[tuple(map(slice, low[n] - (first, 0, 0), high[n] - (first, 0, 0)))]
        np.minimum(box, distance, out=box)
    return result


def _distance_to_segment(axes, along, radius, spacing):
    """Distance to a straight, linearly tapering segment that starts at 0."""
    z, y, x = axes
    dz, dy, dx = along.astype(np.float32)
    length2 = max(dz * dz + dy * dy + dx * dx, np.float32(1e-12))
    t = np.clip((z * dz + y * dy + x * dx) / length2, 0, 1)
    ra, rb = radius.astype(np.float32)
    z, y, x = (z - t * dz) ** 2, (y - t * dy) ** 2, (x - t * dx) ** 2
    distance2 = z + y + x
    sz, sy, sx = (np.float32(s * s) for s in spacing)
    width2 = z * sz + y * sy + x * sx  # (voxel width * distance)^2
    distance = np.sqrt(distance2)
    on_axis = max(spacing) * np.float32(1e-3)
    return (
        (distance - (ra + t * (rb - ra)))
        * np.maximum(distance, on_axis)
        / np.sqrt(np.maximum(width2, (on_axis * min(spacing)) ** 2))
    )
