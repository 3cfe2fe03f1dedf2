"""Distances in one component, on a CUDA device or the CPU: the same numbers."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

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
LARGE = 1 << 20  # voxels of a box: in smaller ones the CPU has labels and distances sooner
ROUNDS = 16  # between two tests of whether anything changed


def depth_and_characteristic(
    mask: np.ndarray, spacing: Sequence[float], progress: Progress, gpu: Any = None
) -> tuple[np.ndarray, int]:
    """`distance_to_outside` and `euler_characteristic` of a mask (bool)."""
    if gpu is None:
        return distance_to_outside(mask, spacing, progress), euler_characteristic(mask)
    solid = gpu.put(mask)
    cells = gpu.xp.pad(solid, 1)
    depth = distance_on(gpu, solid, spacing, progress)
    return gpu.get(depth), signed_cells(cells.ravel(), cells.strides, cells.size)


def distance_on(gpu: Any, mask: Any, spacing: Sequence[float], progress: Progress) -> Any:
    """`distance_to_outside` of a device's mask (bool)."""
    distance = gpu.xp.where(mask, NO_ZERO, np.float32(0))
    for axis in (2, 1, 0):
        squared, distance = distance, gpu.xp.empty_like(distance)
        stride = np.int64(np.prod(mask.shape[axis + 1 :], dtype=int))
        line = stride, np.int64(mask.shape[axis]), np.float64(spacing[axis] ** 2)
        task = squared, distance, np.int64(mask.size), *line, np.int32(axis == 0)
        launch_per_item(gpu, KERNELS, "nearest_outside", mask.size, task)
        progress.check()
    return distance


def geodesic_distance_on(
    mask: np.ndarray,
    sources: np.ndarray,
    spacing: Sequence[float],
    progress: Progress,
    known: np.ndarray | None = None,
    gpu: Any = None,
) -> np.ndarray:
    """`geodesic_distance` in a mask (bool); a device keeps its copy.

    Known distances from other sources are lowered where these are nearer; they may be written.
    """
    if gpu is None:
        return geodesic_distance(mask, sources, spacing, progress, known)
    xp = gpu.xp
    steps = (gpu.put(step.astype(np.int32)) for step in neighbour_steps(mask.shape, spacing))
    solid = gpu.put(mask)
    voxels = xp.flatnonzero(solid)
    distances = xp.where(solid, FAR, np.int32(-1)) if known is None else gpu.put(known)
    gpu.drop(known)
    distances.reshape(-1)[gpu.put(np.asarray(sources))] = 0
    changed = xp.ones(1, np.int32)
    task = voxels, np.int64(len(voxels)), *steps, distances, changed
    while gpu.get(changed)[0]:
        progress.check()
        changed[:] = 0
        for _ in range(ROUNDS):
            launch_per_item(gpu, KERNELS, "lower", len(voxels), task)
    distances[distances == FAR] = -1
    return gpu.keep(gpu.get(distances), distances)
