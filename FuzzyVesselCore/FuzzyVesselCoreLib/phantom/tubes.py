"""Tubes with round ends around polylines: the shape of a vessel, and the signed distance to it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

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
    """Signed distance to the tubes' surface in the slices first..last-1, in voxel widths.

    Negative inside. The unit is the voxel's width along the direction to the axis, so that
    a soft border is one voxel wide in every direction of an anisotropic grid. Voxels
    further than about `MARGIN` from every tube have `FAR`.

    Returns
    -------
    ndarray of float32, (last - first, J, I)
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


def _distance_to_segment(
    tubes: Segments, n: Any, low: np.ndarray, high: np.ndarray, spacing: Sequence[float]
) -> np.ndarray:
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
