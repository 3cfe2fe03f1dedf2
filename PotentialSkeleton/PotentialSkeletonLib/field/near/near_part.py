"""What is left out of a convolution and added to its forces: those of charges nearby."""

from typing import NamedTuple

import numpy as np


class NearPart(NamedTuple):
    """The near part of the kernel, and of the forces.

    Attributes
    ----------
    powers : ndarray of float64
        From `kernel_split.near_powers`.
    forces : ndarray of float64, (targets, 3)
        In the order of the targets K, J, I.
    ends : ndarray of int, (K + 1,)
        Where those of each plane begin.
    """

    powers: np.ndarray
    forces: np.ndarray
    ends: np.ndarray

    def of_planes(self, planes: slice) -> np.ndarray:
        """Return the forces in some planes."""
        return self.forces[self.ends[planes.start] : self.ends[planes.stop]]


def no_near_part(planes: int) -> NearPart:
    """Return that of a whole convolution."""
    return NearPart(np.empty(0), np.empty((0, 3)), np.zeros(planes + 1, np.int64))
