"""Polylines with values at their points and of each line, as VTK's poly data hold them."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from FuzzyVesselCoreLib.errors import InputError

RAS, LPS = "RAS", "LPS"


@dataclass(frozen=True)
class LineSet:
    """Polylines in world millimetres.

    Attributes
    ----------
    points : ndarray of float, (n, 3)
        Of all lines, one after the other; lines share no points.
    sizes : ndarray of int, (lines,)
        Points of each line.
    point_arrays, cell_arrays : dict of str to ndarray
        Values at each point, and of each line.
    space : str
        "RAS" or "LPS": the axes of the points.
    """

    points: np.ndarray
    sizes: np.ndarray
    point_arrays: dict = field(default_factory=dict)
    cell_arrays: dict = field(default_factory=dict)
    space: str = RAS

    def in_space(self, space: str) -> "LineSet":
        """The same lines in RAS or LPS."""
        if space not in (RAS, LPS):
            raise InputError(f"The space {space!r} is unknown: use RAS or LPS.")
        if space == self.space:
            return self
        flipped = self.points * [-1.0, -1.0, 1.0]
        return LineSet(flipped, self.sizes, self.point_arrays, self.cell_arrays, space)

    def lines(self) -> list[np.ndarray]:
        """Points of each line."""
        return np.split(self.points, np.cumsum(self.sizes)[:-1])


def world_matrix(spacing: Sequence[float], ijk_to_ras: ArrayLike | None) -> np.ndarray:
    """The matrix from voxels I, J, K to world millimetres.

    Parameters
    ----------
    spacing : 3 floats
        K, J, I in mm.
    ijk_to_ras : array_like, (4, 4), optional
        By default I, J, K times the spacing.

    Raises
    ------
    InputError
        If it is not an invertible affine matrix, or its voxels are of another size.
    """
    if ijk_to_ras is None:
        return np.diag([*np.asarray(spacing, float)[::-1], 1.0])
    matrix = np.asarray(ijk_to_ras, float)
    if matrix.shape != (4, 4) or not np.isfinite(matrix).all() or np.linalg.det(matrix) == 0:
        raise InputError("ijk_to_ras must be an invertible matrix of 4 x 4 finite numbers.")
    sizes = np.linalg.norm(matrix[:3, :3], axis=0)[::-1]
    if not np.allclose(sizes, spacing, rtol=1e-3):
        raise InputError(
            f"ijk_to_ras has voxels of {sizes.round(4).tolist()} mm (K, J, I), the skeleton of "
            f"{np.round(spacing, 4).tolist()} mm: give the matrix of the same volume."
        )
    return matrix


def to_world(points: np.ndarray, matrix: np.ndarray) -> np.ndarray:
    """Points (n, 3) in voxels K, J, I in the world of a matrix for I, J, K."""
    return points[:, ::-1] @ matrix[:3, :3].T + matrix[:3, 3]
