"""Vessel trees that fill an organ: territories are halved, radii follow Murray's law.

Every branch drains (or feeds) a territory, a cloud of points in the organ. It runs towards
the territory's middle; there the cloud is cut in two, and each child takes one part. Flow is
proportional to the number of points, so radii go with its cube root: this is Murray's law
(C. D. Murray, PNAS 12, 1926), r0^3 = r1^3 + r2^3 at each bifurcation.

Only + - * / and square roots are used, and points are rounded, so that a seed number gives
the same tree on every platform.
"""

from dataclasses import dataclass

import numpy as np

TAPER = 0.94  # radius at a branch's end, of that at its start
FINER = 4  # points looked at for each point kept, in the search for clear ways
DETOURS = 40  # courses tried for a branch, to keep clear of the other trees


@dataclass(frozen=True)
class Course:
    """One branch in mm: points (n, 3), radius (n,), parent's index (-1 at the root)."""

    points: np.ndarray
    radius: np.ndarray
    parent: int


def grow(root, direction, territory, radius, smallest, rng, others=()):
    """Grow one tree.

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

    Returns
    -------
    list of Course
        Parents stand before their children.
    """
    clearance = _clearance(others)
    courses = []
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
        curve = _curve(start, heading, goal, share, r, 2 * smallest, rng, clearance)
        courses.append(Course(curve, np.linspace(r, end_radius, len(curve)), parent))
        if not ends_here:
            for part, part_radius in zip(parts, radii):
                heading = _unit(curve[-1] - curve[-2] + 0.6 * _unit(_middle(part) - curve[-1]))
                waiting.append((len(courses) - 1, curve[-1], heading, part, part_radius))
    return courses


def _curve(start, heading, goal, share, radius, gap, rng, clearance):
    """A quadratic Bezier arc towards the goal; a detour where other trees are in the way."""
    way = share * (goal - start)
    length = _norm(way)
    steps = int(np.clip(np.ceil(length / (1.2 * radius)), 3, 24))
    t = np.linspace(0, 1, FINER * steps + 1)[:, None]
    best, most_room = None, -np.inf
    for attempt in range(DETOURS):
        detour = length * 0.04 * attempt
        end = start + way + (rng.random(3) - 0.5) * detour
        bend = start + heading * 0.4 * length + (rng.random(3) - 0.5) * detour
        curve = (1 - t) ** 2 * start + 2 * t * (1 - t) * bend + t * t * end
        room = clearance(curve) - radius
        if room > most_room + 1e-3:
            best, most_room = curve, room
        if room > gap:
            break
    return np.concatenate([start[None], np.round(best[FINER::FINER], 3)])


def _halves(cloud, heading, rng):
    """Cut a cloud along a plane that holds the heading, across its widest extent."""
    if len(cloud) < 2:
        return [cloud]
    centred = cloud - _middle(cloud)
    best, widest = None, -1.0
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


def _clearance(others):
    """How far a curve stays from the surface of other branches, as a function."""
    if not others:
        return lambda curve: np.inf
    from scipy.spatial import cKDTree

    points, radius = [], []
    for course in others:
        at = np.arange(len(course.points))
        fine = np.linspace(0, at[-1], FINER * at[-1] + 1)
        points.append(np.stack([np.interp(fine, at, p) for p in course.points.T], 1))
        radius.append(np.interp(fine, at, course.radius))
    radius = np.concatenate(radius)
    tree = cKDTree(np.concatenate(points))

    def clearance(curve):
        distance, nearest = tree.query(curve[1:])
        return float((distance - radius[nearest]).min())

    return clearance


def _middle(cloud):
    return np.round(cloud.mean(0), 3)


def _furthest(cloud, point):
    away = cloud - point
    return cloud[np.argmax(_dot(away, away))]


def _dot(a, b):
    return a[..., 0] * b[..., 0] + a[..., 1] * b[..., 1] + a[..., 2] * b[..., 2]


def _norm(v):
    return float(np.sqrt(_dot(v, v)))


def _unit(v):
    v = np.asarray(v, float)
    return v / max(_norm(v), 1e-9)
