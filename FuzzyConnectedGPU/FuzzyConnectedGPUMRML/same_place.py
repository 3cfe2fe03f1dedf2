"""A vessel point and a background point in one voxel, by their labels."""

from typing import Any

import numpy as np

from FuzzyConnectedGPULib.input_errors import SameVoxelError
from FuzzyVesselCoreLib.errors import InputError


class SamePlaceError(InputError):
    """A seed and a background seed are in the same voxel.

    Attributes
    ----------
    seed, background : str
        Labels of the two control points.
    """

    def __init__(self, seed: str, background: str) -> None:
        self.seed, self.background = seed, background
        super().__init__(
            f"The seed {seed} and the background seed {background} are in the same voxel: move or "
            "delete one of the two."
        )


def named(error: SameVoxelError, seeds: Any, background: Any) -> SamePlaceError:
    """The library's error with the labels of the two points (`FuzzyVesselCoreLib...Seeds`)."""
    return SamePlaceError(_label(seeds, error.voxel), _label(background, error.voxel))


def _label(points: Any, voxel: tuple[int, ...]) -> str:
    hit = np.flatnonzero((points.voxels == np.array(voxel)).all(axis=1))
    return str(points.labels[int(hit[0])])
