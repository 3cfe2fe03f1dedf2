"""Geometry of voxel grids in plain arrays, without VTK or Slicer.

Matrices are 4x4 and take column vectors; `ijk_to_x` takes voxel indices in the order I, J, K (as
Slicer's IJKToRAS does), while arrays and seeds are in the order K, J, I. A voxel's position is its
centre; voxel (0, 0, 0) reaches from -0.5 to 0.5.
"""

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

# A voxel centre this far (mm) outside a box still counts as inside: the transforms round.
BOX_TOLERANCE = 1e-6


def transform_points(matrix: Any, points: Any) -> np.ndarray:
    """Apply an affine 4x4 matrix to points (n, 3); float64 (n, 3)."""
    matrix = np.asarray(matrix, float)
    return np.asarray(points, float).reshape(-1, 3) @ matrix[:3, :3].T + matrix[:3, 3]


def points_to_voxels(points: Any, ijk_to_points: Any) -> np.ndarray:
    """The voxel K, J, I (int64) that contains each point (n, 3); it may lie outside (`inside`)."""
    return nearest(transform_points(np.linalg.inv(ijk_to_points), points))[:, ::-1]


def voxels_to_points(voxels: Any, ijk_to_points: Any) -> np.ndarray:
    """The centres (n, 3), float64, of voxels K, J, I (n, 3)."""
    return transform_points(ijk_to_points, np.asarray(voxels).reshape(-1, 3)[:, ::-1])


def nearest(indices: Any) -> np.ndarray:
    """Continuous indices rounded to voxels (int64); halves go up, as with Slicer's rounding."""
    return np.floor(np.asarray(indices) + 0.5).astype(np.int64)


def inside(voxels: Any, shape: Sequence[int]) -> np.ndarray:
    """Whether each voxel (K, J, I) lies in a volume of `shape` (K, J, I); shape (n,), bool."""
    voxels = np.asarray(voxels)
    return ((voxels >= 0) & (voxels < np.array(shape))).all(axis=-1)


def voxel_volume(ijk_to_mm: Any) -> float:
    """The volume of one voxel in cubic millimetres, also for oblique and left-handed axes."""
    return abs(float(np.linalg.det(np.asarray(ijk_to_mm)[:3, :3])))


class AffineSlices:
    """Positions of the voxel centres of a volume of `shape`, one slice at a time, by a matrix."""

    def __init__(self, ijk_to_points: Any, shape: Sequence[int]) -> None:
        self.matrix = np.asarray(ijk_to_points, float)
        self.shape = tuple(shape)

    def __call__(self, k: int) -> np.ndarray:
        """The positions in slice k: ndarray, shape (3, J, I), float64."""
        return self._first + (k * self.matrix[:3, 2])[:, np.newaxis, np.newaxis]

    @cached_property
    def _first(self) -> np.ndarray:
        _, rows, columns = self.shape
        along_i, along_j, _, start = self.matrix[:3].T[:, :, np.newaxis, np.newaxis]
        return start + along_j * np.arange(rows)[:, np.newaxis] + along_i * np.arange(columns)


def box_mask(slices: Any, half_sizes: Any) -> np.ndarray:
    """Which voxel centres (K, J, I) lie in a box around the origin with these half sizes (mm).

    `slices(k)` gives the centres in slice k in the box's own axes (see `AffineSlices`).
    """
    reach = (np.asarray(half_sizes, float) + BOX_TOLERANCE)[:, np.newaxis, np.newaxis]
    mask = np.empty(slices.shape, bool)
    for k in range(slices.shape[0]):
        mask[k] = (np.abs(slices(k)) <= reach).all(axis=0)
    return mask


def sample_nearest(values: np.ndarray, slices: Any, first: Sequence[int] = (0, 0, 0)) -> np.ndarray:
    """Values of another grid at the voxel centres (K, J, I) of a volume; 0 outside that grid.

    `slices(k)` gives the centres in slice k as I, J, K indices of the other grid, in which
    `values[0, 0, 0]` has the index `first`.
    """
    result = np.zeros(slices.shape, values.dtype)
    # Indices relative to the first voxel's corner: truncation then rounds.
    corner = (np.asarray(first, float) - 0.5)[:, np.newaxis, np.newaxis]
    end = np.array(values.shape[::-1])[:, np.newaxis, np.newaxis]
    for k in range(slices.shape[0]):
        ijk = slices(k) - corner
        hit = ((ijk >= 0) & (ijk < end)).all(axis=0)
        if hit.any():
            result[k][hit] = values[tuple(ijk[:, hit].astype(np.intp)[::-1])]
    return result
