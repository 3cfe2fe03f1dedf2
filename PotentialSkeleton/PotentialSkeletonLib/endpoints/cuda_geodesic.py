"""Geodesic distances in a large object on a CUDA device: the CPU's queue takes seconds there."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from FuzzyVesselCoreLib.errors import DeviceError
from FuzzyVesselCoreLib.gpu.selection import choose_device
from FuzzyVesselCoreLib.progress import Progress
from FuzzyVesselCoreLib.voxels.distances import FAR, add_sources, geodesic_distance, neighbour_steps

KERNELS = Path(__file__).with_suffix(".cu")
LARGE = 1 << 20  # voxels of an object, from which on the device is used
THREADS, ROUNDS = 256, 16  # rounds between two tests of whether anything changed


def geodesic_distance_on(
    device: str,
    mask: np.ndarray,
    sources: np.ndarray,
    spacing: Sequence[float],
    progress: Progress,
    known: np.ndarray | None = None,
) -> np.ndarray:
    """`geodesic_distance` (the same numbers), on a device named as by users if the object is large.

    Known distances from other sources are lowered where these are nearer; the array may be written.
    Where the device's memory does not suffice the CPU is used.
    """
    gpu = choose_device(device) if np.count_nonzero(mask) >= LARGE else "cpu"
    if gpu != "cpu":
        try:
            with gpu:
                return _lowered(mask, sources, spacing, progress, known, gpu)
        except DeviceError:
            pass  # as likely as not its memory is full
    if known is None:
        return geodesic_distance(mask, sources, spacing, progress)
    add_sources(known, sources, spacing, progress)
    return known


def _lowered(
    mask: np.ndarray,
    sources: np.ndarray,
    spacing: Sequence[float],
    progress: Progress,
    known: np.ndarray | None,
    gpu: Any,
) -> np.ndarray:
    xp = gpu.xp
    steps = (gpu.put(step.astype(np.int32)) for step in neighbour_steps(mask.shape, spacing))
    solid = gpu.put(mask).reshape(-1)
    voxels = xp.flatnonzero(solid)
    if known is None:
        distances = xp.full(mask.size, -1, np.int32)
        distances[voxels] = FAR
    else:
        distances = gpu.put(known).reshape(-1)
    distances[gpu.put(np.asarray(sources))] = 0
    changed = xp.ones(1, np.int32)
    task = voxels, np.int64(len(voxels)), *steps, distances, changed
    lower, blocks = gpu.kernel(KERNELS, "lower"), -(-len(voxels) // THREADS)
    while gpu.get(changed)[0]:
        progress.check()
        changed[:] = 0
        for _ in range(ROUNDS):
            lower((blocks,), (THREADS,), task)
    distances[distances == FAR] = -1
    return gpu.get(distances).reshape(mask.shape)
