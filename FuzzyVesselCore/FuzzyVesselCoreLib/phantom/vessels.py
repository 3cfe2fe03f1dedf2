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
class Course:
    """One branch in mm: points (n, 3), radius (n,), parent's index (-1 at the root)."""

    points: np.ndarray
    radius: np.ndarray
    parent: int


def grow(
    root: np.ndarray,
    direction: np.ndarray,
    territory: np.ndarray,
    radius: float,
    smallest: float,
    rng: np.random.Generator,
    others: Sequence[Course] = (),
) -> list[Course]:
    """Grow one tree; parents come before their children.

    Parameters
    ----------
    root, direction : (3,) float
        Where the trunk starts (mm) and where it points.
    territory : (n, 3) float
        Points spread over the organ, mm.
    radius, smallest : float
        The trunk's radius at its start; no branch gets thinner than `smallest` (mm).
    rng : numpy.random.Generator
    others : sequence of Course
        Branches of trees to keep clear of.
    """
    clearance = _clearance(others)
    courses: list[Course] = []
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
        courses.append(Course(curve, np.linspace(r, end_radius, len(curve)), parent))
        if not ends_here:
            for part, part_radius in zip(parts, radii):
                heading = _unit(curve[-1] - curve[-2] + 0.6 * _unit(_middle(part) - curve[-1]))
                waiting.append((len(courses) - 1, curve[-1], heading, part, part_radius))
    return courses


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


def _clearance(others: Sequence[Course]) -> Callable[[np.ndarray], float]:
    """The distance of a curve from the surface of other branches, as a function."""
    if not others:
        return lambda curve: np.inf
    from scipy.spatial import cKDTree

    points, radii = [], []
    for course in others:
        at = np.arange(len(course.points))
        fine = np.linspace(0, at[-1], FINER * at[-1] + 1)
        points.append(np.stack([np.interp(fine, at, p) for p in course.points.T], 1))
        radii.append(np.interp(fine, at, course.radius))
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


@dataclass(frozen=True)
class Branch:
    """An unbranched part of a vessel tree.

    Attributes
    ----------
    points : ndarray of float, (n, 3)
        The centreline in voxels, K,J,I; the centre of the first voxel is 0, 0, 0.
        The first point of a child is the last point of its parent.
    radius : ndarray of float, (n,)
        Radius at each point, in mm.
    parent : int
        Index of the parent in the list of branches; -1 at the root of a tree.
    tree : str
        Name of the tree.
    """

    points: np.ndarray
    radius: np.ndarray
    parent: int
    tree: str


@dataclass(frozen=True)
class Segments:
    """Straight, linearly tapering segments."""

    start: np.ndarray  # (n, 3) mm
    along: np.ndarray  # (n, 3) mm, from start to end
    radius: np.ndarray  # (n, 2) mm, at start and end
    low: np.ndarray  # (n, 3) first voxel of the segment's box
    high: np.ndarray  # (n, 3) one past its last voxel


def segments(branches: Sequence[Branch], shape: Sequence[int], spacing: Any) -> Segments:
    """Cut branches into straight, linearly tapering segments with their boxes in the grid."""
    spacing = np.asarray(spacing, float)
    start = np.concatenate([b.points[:-1] for b in branches]) * spacing
    end = np.concatenate([b.points[1:] for b in branches]) * spacing
    radius = np.concatenate([np.stack([b.radius[:-1], b.radius[1:]], 1) for b in branches])
    reach = radius.max(1, keepdims=True) / spacing + MARGIN
    low = np.floor(np.minimum(start, end) / spacing - reach).astype(int)
    high = np.ceil(np.maximum(start, end) / spacing + reach).astype(int) + 1
    return Segments(start, end - start, radius, np.maximum(low, 0), np.minimum(high, shape))


def signed_distance(
    tubes: Segments, shape: Sequence[int], spacing: Sequence[float], first: int, last: int
) -> np.ndarray:
    """Signed distance to the tubes' surface in the slices first..last-1; float32, negative inside.

    In voxel widths along the direction to the axis, so that a soft border is one voxel wide in
    every direction of an anisotropic grid. Voxels further than about `MARGIN` have `FAR`.
    """
    result = np.full((last - first, *shape[1:]), FAR, np.float32)
    for n in np.flatnonzero((tubes.low[:, 0] < last) & (tubes.high[:, 0] > first)):
        low, high = tubes.low[n].copy(), tubes.high[n].copy()
        low[0], high[0] = max(low[0], first), min(high[0], last)
        if (high <= low).any():
            continue
        distance = _distance_to_segment(tubes, n, low, high, spacing)
        box = result[low[0] - first : high[0] - first, low[1] : high[1], low[2] : high[2]]
        np.minimum(box, distance, out=box)
    return result


def _distance_to_segment(tubes, n, low, high, spacing):
    z, y, x = (
        (np.arange(low[a], high[a]) * spacing[a] - tubes.start[n, a])
        .astype(np.float32)
        .reshape([-1 if b == a else 1 for b in range(3)])
        for a in range(3)
    )
    dz, dy, dx = tubes.along[n].astype(np.float32)
    length2 = max(dz * dz + dy * dy + dx * dx, np.float32(1e-12))
    t = np.clip((z * dz + y * dy + x * dx) / length2, 0, 1)
    ra, rb = tubes.radius[n].astype(np.float32)
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
