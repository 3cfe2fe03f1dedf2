"""How far outside of the surface the charges lie, so that the field resolves thin parts."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from FuzzyVesselCoreLib.progress import Progress
from FuzzyVesselCoreLib.voxels.distances import distance_to_outside, ridge_depths

RESOLVED_RADIUS = 6  # voxels from a ridge to the outside from which on the field is resolved
MAX_CHARGE_DISTANCE = 2
THIN_PERCENTAGE = 10  # of the ridge that may be thinner than the field resolves


def automatic_charge_distance(
    mask: Any,
    depth: Any,
    spacing: Sequence[float],
    progress: Progress | None = None,
    gpu: Any = None,
) -> int:
    """Return the layers by which charges are moved outward, 0 to 2.

    Judged by the distances to the outside, in voxels, on the ridge of these distances.

    Parameters
    ----------
    mask : ndarray of uint8, shape (K, J, I)
        With a device, mask and depth are CuPy's.
    depth : ndarray of float32, shape (K, J, I)
        From `distance_to_outside`.
    spacing : 3 floats K, J, I, in mm
    progress : Progress, optional
        Checked between slices.
    gpu : CudaDevice, optional
    """
    step = spacing[0]
    if len(set(spacing)) > 1:
        step, unit = 1.0, (1.0, 1.0, 1.0)
        mask = mask if gpu is None else gpu.get(mask)
        depth = distance_to_outside(mask, unit, progress)
    elif gpu is not None:
        depth = gpu.get(depth)
    depths = ridge_depths(depth)
    thin_radius = np.percentile(depths, THIN_PERCENTAGE) / step
    return int(np.clip(np.ceil(RESOLVED_RADIUS - thin_radius), 0, MAX_CHARGE_DISTANCE))
