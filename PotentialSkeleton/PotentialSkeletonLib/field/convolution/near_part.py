"""What a convolution leaves out, as it is summed directly."""

from dataclasses import dataclass, field

import numpy as np


@dataclass(frozen=True)
class NearPart:
    """By default nothing.

    Parameters
    ----------
    powers : ndarray of float64, (n,)
        From `kernel_split.near_powers`: what is left out of the kernel.
    forces : ndarray of float64, (targets, 3)
        The forces that are left out.
    of_plane : ndarray of int, (K + 1,)
        Where those of each plane begin.
    """

    powers: np.ndarray = field(default_factory=lambda: np.zeros(0))
    forces: np.ndarray = field(default_factory=lambda: np.zeros((0, 3)))
    of_plane: np.ndarray | None = None

    def of(self, planes: slice) -> np.ndarray:
        """Return the forces in some planes."""
        if self.of_plane is None:
            return self.forces
        return self.forces[self.of_plane[planes.start] : self.of_plane[planes.stop]]
