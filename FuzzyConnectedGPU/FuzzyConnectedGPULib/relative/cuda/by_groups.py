"""Relative connectedness on CUDA, one group after the other, with little memory."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from FuzzyVesselCoreLib.gpu.device import CudaDevice, DeviceArray
from FuzzyVesselCoreLib.gpu.launches import launch_per_item
from FuzzyVesselCoreLib.progress import Progress

from ...problem import Problem
from ...solvers.cuda import active_tiles

KERNELS = Path(__file__).with_name("group_levels.cu")


def propagate(
    problem: Problem,
    seed_owners: np.ndarray,
    voxels: DeviceArray,
    mask: DeviceArray | None,
    progress: Progress,
    gpu: CudaDevice,
) -> tuple[DeviceArray, DeviceArray]:
    """Levels and owners, as of `by_contraction.propagate`, bit for bit."""
    xp, shape, size = gpu.xp, problem.voxels.shape, np.uint32(problem.voxels.size)
    best, other = xp.zeros(shape, np.uint16), xp.zeros(shape, np.uint16)
    owners = xp.zeros(shape, np.uint8)

    def run(name: str, *args: Any) -> None:
        launch_per_item(gpu, KERNELS, name, problem.voxels.size, args)

    groups = np.unique(seed_owners)
    for n, group in enumerate(groups):
        alone = replace(problem, seeds=problem.seeds[seed_owners == group])
        part = progress.part(n / len(groups), (n + 1) / len(groups))
        levels, _ = active_tiles.propagate(alone, voxels, mask, part, gpu)
        run("join_group", levels, np.int32(group), size, best, other, owners)
        levels = None  # its memory is reused for the next group
    run("find_disputed", best, other, size, owners)
    own_points(gpu.put(problem.seeds), gpu.put(seed_owners), owners, gpu)
    return best, owners


def own_points(
    points: DeviceArray, groups: DeviceArray, owners: DeviceArray, gpu: CudaDevice
) -> None:
    """Give points (flat indices) to their groups."""
    args = points, groups, np.uint32(points.size), owners
    launch_per_item(gpu, KERNELS, "own_points", points.size, args)
