"""Forces at boundary voxels: the mean of their 26 neighbours' (Zhao et al. 2016, section 2.1)."""

import numpy as np

from FuzzyVesselCoreLib.jit.decorators import compiled
from FuzzyVesselCoreLib.threads import in_parts

from ..object.voxel_classes import BOUNDARY, INNER


def average_boundary(classes: np.ndarray, vectors: np.ndarray) -> None:
    """Give each boundary voxel that has inner voxels around it the mean of their forces.

    Parameters
    ----------
    classes : ndarray, uint8, shape (K, J, I)
        No boundary voxel lies on the array's border.
    vectors : ndarray, shape (K, J, I, 3)
        Changed in place.
    """

    def work(first: int, last: int) -> None:
        average_planes(classes, vectors, first, last)

    in_parts(work, len(classes), classes.size)


@compiled
def average_planes(classes: np.ndarray, vectors: np.ndarray, first: int, last: int) -> None:
    """The same in some planes; only forces of inner voxels are read, and only others change."""
    for k in range(max(first, 1), min(last, classes.shape[0] - 1)):
        for j in range(1, classes.shape[1] - 1):
            for i in range(1, classes.shape[2] - 1):
                if classes[k, j, i] != BOUNDARY:
                    continue
                count, fk, fj, fi = 0, 0.0, 0.0, 0.0
                for n in range(27):
                    other = k + n // 9 - 1, j + n // 3 % 3 - 1, i + n % 3 - 1
                    if classes[other] == INNER:
                        count += 1
                        fk += vectors[other[0], other[1], other[2], 0]
                        fj += vectors[other[0], other[1], other[2], 1]
                        fi += vectors[other[0], other[1], other[2], 2]
                if count:
                    vectors[k, j, i, 0] = fk / count
                    vectors[k, j, i, 1] = fj / count
                    vectors[k, j, i, 2] = fi / count
