"""The arrays of one component, which its stages share."""

from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass
class ComponentVolumes:
    """One component, in a box that it does not touch.

    Attributes
    ----------
    mask : ndarray of bool, shape (K, J, I)
        The component without cavities.
    spacing : 3 floats K, J, I, in mm
    depth : ndarray of float32, shape (K, J, I)
        Distance to the outside in mm; 0 outside and only there.
    vectors, classes : ndarray, shape (K, J, I, 3) and (K, J, I), or None
        The forces, once there are any, and what is not 0 where curves may run: in the object, and
        as far as its charges were moved outward.
    distances : ndarray of int32, shape (K, J, I)
        Along the component from the skeleton, once there is one.
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
