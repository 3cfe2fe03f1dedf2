"""Distances in an object, on a CUDA device or the CPU: the same numbers.

On the CPU those in a large box take up to seconds; those in a small one are computed there before
a device has its voxels.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from FuzzyVesselCoreLib.gpu.device import on_device_or_cpu
from FuzzyVesselCoreLib.gpu.kernels import launch_per_item
from FuzzyVesselCoreLib.progress import Progress
from FuzzyVesselCoreLib.voxels.distances import (
    FAR,
    NO_ZERO,
    distance_to_outside,
    geodesic_distance,
    neighbour_steps,
)
from FuzzyVesselCoreLib.voxels.topology import euler_characteristic, signed_cells

KERNELS = Path(__file__).with_suffix(".cu")
ROUNDS = 16  # between two tests of whether anything changed


def depth_and_characteristic(
    device: str, mask: np.ndarray, spacing: Sequence[float], progress: Progress
) -> tuple[np.ndarray, int]:
    """`distance_to_outside` and `euler_characteristic` of a mask (bool)."""

    def work(gpu: Any) -> tuple[np.ndarray, int]:
        if gpu is None:
            return distance_to_outside(mask, spacing, progress), euler_characteristic(mask)
        solid = gpu.put(mask.view(np.uint8)).view(bool)
        squared = gpu.xp.where(solid, NO_ZERO, np.float32(0))
        for axis in (2, 1, 0):
            before, squared = squared, gpu.xp.empty_like(squared)
            stride = np.int64(np.prod(mask.shape[axis + 1 :], dtype=int))
            line = stride, np.int64(mask.shape[axis]), np.float64(spacing[axis] ** 2)
            task = before, squared, np.int64(mask.size), *line, np.int32(axis == 0)
            launch_per_item(gpu, KERNELS, "nearest_outside", mask.size, task)
            progress.check()
        cells = gpu.xp.pad(solid, 1)
        return gpu.get(squared), signed_cells(cells.ravel(), cells.strides, cells.size)

    return on_device_or_cpu(device, work)


def geodesic_distance_on(
    device: str,
    mask: np.ndarray,
    sources: np.ndarray,
    spacing: Sequence[float],
    progress: Progress,
    known: np.ndarray | None = None,
) -> np.ndarray:
    """`geodesic_distance` in a mask (bool).

    Known distances from other sources are lowered where these are nearer; the array may be written.
    """

    def work(gpu: Any) -> np.ndarray:
        if gpu is None:
            return geodesic_distance(mask, sources, spacing, progress, known)
        xp = gpu.xp
        steps = (gpu.put(step.astype(np.int32)) for step in neighbour_steps(mask.shape, spacing))
        voxels = xp.flatnonzero(gpu.put(mask.view(np.uint8)))
        if known is None:
            distances = xp.full(mask.size, -1, np.int32)
            distances[voxels] = FAR
        else:
            distances = gpu.put(known).reshape(-1)
        distances[gpu.put(np.asarray(sources))] = 0
        changed = xp.ones(1, np.int32)
        task = voxels, np.int64(len(voxels)), *steps, distances, changed
        while gpu.get(changed)[0]:
            progress.check()
            changed[:] = 0
            for _ in range(ROUNDS):
                launch_per_item(gpu, KERNELS, "lower", len(voxels), task)
        distances[distances == FAR] = -1
        return gpu.get(distances).reshape(mask.shape)

    return on_device_or_cpu(device, work)
