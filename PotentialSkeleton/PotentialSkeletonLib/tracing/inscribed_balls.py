"""Maximal inscribed balls round voxels of an object, and which voxels they contain."""

from collections.abc import Sequence

import numpy as np

from FuzzyVesselCoreLib.jit.decorators import compiled, inlined
from FuzzyVesselCoreLib.progress import Progress

from ..field.tiles import Tiles

PAIRS_PER_SLICE = 1 << 24  # of a voxel and a ball, between two calls of the progress callback
ROUNDING = 1e-9  # more than the relative rounding error of a square


class InscribedBalls:
    """Gathers balls round voxels.

    Parameters
    ----------
    depths : Tiles
        Distance to the outside in mm, float32.
    spacing : 3 floats K, J, I, in mm
    scale : float
        Radius of a ball as a multiple of the depth at its centre.
    margin : float
        Added to the radius, in shortest sides of a voxel.
    """

    def __init__(
        self, depths: Tiles, spacing: Sequence[float], scale: float, margin: float = 0.0
    ) -> None:
        self._depths, self._scale = depths, scale
        self._spacing = np.asarray(spacing, float)
        self._margin = margin * self._spacing.min()
        self._centres, self._radii, self._count = np.empty((64, 3)), np.empty(64), 0

    def add(self, voxels: np.ndarray) -> None:
        """Add the balls round voxels (n, 3)."""
        count = self._count + len(voxels)
        while count > len(self._radii):
            self._centres = np.concatenate([self._centres, np.empty_like(self._centres)])
            self._radii = np.concatenate([self._radii, np.empty_like(self._radii)])
        self._centres[self._count : count] = voxels * self._spacing
        self._radii[self._count : count] = self._scale * self._depths.at(voxels) + self._margin
        self._count = count

    def contain(self, voxels: np.ndarray, progress: Progress) -> np.ndarray:
        """Whether a ball contains each of some voxels (n, 3); bool (n,)."""
        used = slice(0, self._count)
        contained = np.zeros(len(voxels), bool)
        step = max(1, PAIRS_PER_SLICE // max(1, self._count))
        for first in range(0, len(voxels), step):
            some = slice(first, first + step)
            positions = voxels[some] * self._spacing
            are_contained(positions, self._centres[used], self._radii[used], contained[some])
            progress.check()
        return contained


@compiled
def are_contained(
    positions: np.ndarray, centres: np.ndarray, radii: np.ndarray, contained: np.ndarray
) -> None:
    for n in range(len(positions)):
        contained[n] = is_contained(positions[n], centres, radii)


@inlined
def is_contained(position: np.ndarray, centres: np.ndarray, radii: np.ndarray) -> bool:
    for n in range(radii.size):
        k = position[0] - centres[n, 0]
        j = position[1] - centres[n, 1]
        i = position[2] - centres[n, 2]
        squared = k * k + j * j + i * i
        # Roots take long: only of what is not further away for sure.
        if squared <= (1 + ROUNDING) * radii[n] * radii[n] and np.sqrt(squared) <= radii[n]:
            return True
    return False
