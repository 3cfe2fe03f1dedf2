"""An object: its labelmap checked, the classes of its voxels, and the arrays of a component."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from FuzzyVesselCoreLib.errors import InputError
from FuzzyVesselCoreLib.voxels.masks import erode, refuse_masked

OUTSIDE, SURFACE, BOUNDARY, INNER = 0, 1, 2, 3


def classify_voxels(mask: np.ndarray) -> np.ndarray:
    """Classify the voxels of a volume: outside 0, surface 1, boundary 2, inner 3; uint8 (K, J, I).

    A surface voxel has an outside voxel among its 26 neighbours; a boundary voxel is not a surface
    voxel but has one among its 26 neighbours; an inner voxel is any other voxel of the object,
    which is where the mask (K, J, I or one slice) is not 0. All beyond the volume is outside
    (Zhao et al. 2016, section 1).

    Examples
    --------
    >>> classify_voxels(np.ones((7, 7, 7)))[3, 3]
    array([1, 2, 3, 3, 3, 2, 1], dtype=uint8)
    """
    solid = checked_object(mask)
    no_surface = erode(solid)
    return solid.astype(np.uint8) + no_surface + erode(no_surface)


def checked_object(mask: np.ndarray) -> np.ndarray:
    """Return the object of a labelmap as bool (K, J, I); raises `InputError`."""
    return checked_labelmap(mask) != 0


def checked_labelmap(mask: np.ndarray) -> np.ndarray:
    """Return a labelmap as numbers (K, J, I); raises `InputError` if it cannot be one."""
    refuse_masked(mask, "labelmap")
    mask = np.asarray(mask)
    if mask.ndim == 2:
        mask = mask[np.newaxis]
    if mask.ndim != 3 or mask.size == 0:
        raise InputError(f"The labelmap has shape {mask.shape}; K x J x I voxels are needed.")
    if mask.dtype.kind not in "biuf":
        raise InputError(f"The labelmap has voxels of type {mask.dtype.name}; numbers are needed.")
    if mask.dtype.kind == "f" and not np.isfinite(mask).all():
        raise InputError(
            f"The labelmap has {np.count_nonzero(~np.isfinite(mask))} voxels that are infinite or "
            "not a number; replace them by 0."
        )
    return mask


@dataclass
class ComponentVolumes:
    """One component, in a box that it does not touch.

    `mask` (bool, K, J, I) has no cavities, `depth` (float32) is the distance to the outside in mm,
    0 outside and only there. `vectors` (K, J, I, 3) are the forces, once there are any, and
    `classes` what is not 0 where curves may run: in the object, and as far as its charges were
    moved outward. `distances` (int32) are along the component from the skeleton, once there is one.
    """

    mask: np.ndarray
    spacing: tuple[float, float, float]
    depth: np.ndarray
    vectors: Any = None
    classes: Any = None
    distances: Any = None

    @property
    def shape(self) -> tuple[int, ...]:
        return self.mask.shape

    @property
    def bytes(self) -> np.ndarray:
        """The component as 0 and 1, uint8."""
        return self.mask.view(np.uint8)
