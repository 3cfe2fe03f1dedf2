"""The force field of a mask that is on the GPU: the one place that says what is counted of it."""

from typing import Any

import numpy as np

from FuzzyVesselCoreLib.voxels.bounding_box import bounding_box
from PotentialSkeletonLib.field.cuda_solid import CudaSolid
from PotentialSkeletonLib.field.summation import Summation

from ..timing import Measured, measure


def time_field(
    mask: np.ndarray, strength: int, gpu: Any, repeats: int
) -> tuple[Measured, np.ndarray]:
    """Time the way from a mask of one component, without cavities, to the force on each voxel.

    Both stay on the GPU. Counted are voxel classes, convolution and the boundary voxels' means.

    Returns
    -------
    measured : Measured
    vectors : ndarray, float32, shape (K, J, I, 3)
        Of the last run.
    """
    with gpu:
        # The box of the mask alone, as the force field takes it.
        box = bounding_box(mask)
        component = gpu.put(mask[box].view(np.uint8))
        measured = measure(
            lambda: CudaSolid(component, 0, gpu).forces(Summation("fft", strength, gpu)),
            repeats,
            gpu.synchronize,
        )
        vectors = np.zeros((*mask.shape, 3), np.float32)
        vectors[box] = gpu.get(measured.result)
        return measured, vectors
