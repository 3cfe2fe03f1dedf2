"""Where the voxels of a scene lie: spacing and origin, of an OME-Zarr image or as given."""

from argparse import Namespace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from FuzzyVesselCoreLib.errors import InputError

from ..reading import stacks


class Place(NamedTuple):
    """Spacing and origin along K, J, I in mm."""

    spacing: tuple[float, ...]
    origin: tuple[float, ...]

    @property
    def ijk_to_ras(self) -> np.ndarray:
        """From voxels I, J, K to millimetres R, A, S, as volumes of OME-Zarr are placed."""
        matrix = np.diag([*self.spacing[::-1], 1.0])
        matrix[:3, 3] = self.origin[::-1]
        matrix[:2] *= -1
        return matrix


def place_of(options: Namespace) -> Place:
    """The place of a scene.

    Raises
    ------
    InputError
        The image says what cannot be used.
    """
    spacing: tuple[float, ...] = (1.0, 1.0, 1.0)
    origin: tuple[float, ...] = (0.0, 0.0, 0.0)
    path = Path(options.scene)
    try:
        found = stacks.place_of(path) if path.is_dir() else None
    except (ValueError, KeyError, TypeError, OSError) as error:
        raise InputError(f"{path}: this is not an image that can be read: {error}.") from error
    if found is not None:
        spacing, origin = found
    if options.spacing is not None:
        spacing = options.spacing[::-1]
    return Place(spacing, origin)
