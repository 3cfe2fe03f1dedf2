"""The error of a force field at some of its voxels, against a float64 sum."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from FuzzyVesselCoreLib.progress import Progress
from FuzzyVesselCoreLib.voxels.components.labels import label_components
from FuzzyVesselCoreLib.voxels.cube_morphology import erode
from PotentialSkeletonLib.field.methods import direct_serial
from PotentialSkeletonLib.field.solid import solids
from PotentialSkeletonLib.object.voxel_classes import INNER


@dataclass(frozen=True)
class Sample:
    """Some inner voxels (n, 3) of an object and the forces there, summed serially in float64."""

    positions: np.ndarray
    forces: np.ndarray

    @classmethod
    def of_mask(cls, mask: np.ndarray, strength: int) -> "Sample":
        """Of an object of one component."""
        return cls.of_solid(the_solid(mask), strength)

    @classmethod
    def of_solid(cls, solid: Any, strength: int) -> "Sample":
        """2,000 inner voxels drawn at random and 200 of those farthest from the charges."""
        inner = solid.positions(solid.classes == INNER)
        layers, deepest = 1, inner[:0]
        while len(deeper := solid.positions(erode(solid.is_free, layers))) >= 200:
            layers, deepest = 2 * layers, deeper
        draw = np.random.default_rng(0).choice
        chosen = [draw(inner, min(len(inner), 2000), replace=False)]
        if len(deepest):
            chosen.append(draw(deepest, 200, replace=False))
        # The box of the solid begins where its voxels do; the volume's begin before.
        start = [axis.start for axis in solid.box]
        positions = np.unique(np.concatenate(chosen), axis=0) + start
        charges = solid.charges + start
        return cls(positions, direct_serial.sum_at(positions, charges, strength, Progress()))

    def errors(self, vectors: np.ndarray) -> tuple[float, float]:
        """Largest and median error of a field (K, J, I, 3), relative to the force."""
        found = vectors[tuple(self.positions.T)]
        error = np.linalg.norm(found - self.forces, axis=1)
        relative = error / np.linalg.norm(self.forces, axis=1)
        return relative.max(), np.median(relative)


def the_solid(mask: np.ndarray) -> Any:
    """The solid of an object of one component."""
    [(_, solid)] = solids(label_components(mask)[0], charge_distance=0)
    return solid
