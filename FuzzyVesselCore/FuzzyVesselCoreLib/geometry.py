"""Geometry of voxel grids in plain arrays, without VTK or Slicer.

Matrices are 4x4 and take column vectors; `ijk_to_x` takes voxel indices in the order I, J, K (as
Slicer's IJKToRAS does), while arrays and seeds are in the order K, J, I. A voxel's position is its
centre; voxel (0, 0, 0) reaches from -0.5 to 0.5.
"""

from collections.abc import Iterable, Iterator, Sequence
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


def voxel_centres(ijk_to_points: Any, shape: Sequence[int]) -> Iterator[np.ndarray]:
    """Where the centres of a volume's voxels lie, slice by slice: ndarray (3, J, I), float64."""
    slices, rows, columns = shape
    matrix = np.asarray(ijk_to_points, float)[:3, :, np.newaxis, np.newaxis]
    along_i, along_j, along_k, start = matrix.swapaxes(0, 1)
    first = start + along_j * np.arange(rows)[:, np.newaxis] + along_i * np.arange(columns)
    return (first + k * along_k for k in range(slices))


def box_mask(centres: Iterable[np.ndarray], shape: Sequence[int], half_sizes: Any) -> np.ndarray:
    """Which voxels (K, J, I) lie in a box around the origin with these half sizes (mm).

    The `centres` of each slice (see `voxel_centres`) are in the box's own axes.
    """
    reach = (np.asarray(half_sizes, float) + BOX_TOLERANCE)[:, np.newaxis, np.newaxis]
    mask = np.empty(shape, bool)
    for part, positions in zip(mask, centres):
        part[...] = (np.abs(positions) <= reach).all(axis=0)
    return mask


def sample_nearest(
    values: np.ndarray, centres: Iterable[np.ndarray], shape: Sequence[int]
) -> np.ndarray:
    """Values of another grid at the voxel centres (K, J, I) of a volume; 0 outside that grid.

    The `centres` of each slice are I, J, K indices of the other grid.
    """
    result = np.zeros(shape, values.dtype)
    end = np.array(values.shape[::-1])[:, np.newaxis, np.newaxis]
    for part, positions in zip(result, centres):
        ijk = positions + 0.5  # from the first voxel's corner: truncation then rounds
        hit = ((ijk >= 0) & (ijk < end)).all(axis=0)
        part[hit] = values[tuple(ijk[:, hit].astype(np.intp)[::-1])]
    return result
