"""The rounds of the papers' CUDA solvers: flag arrays C1 and C2, until nothing changes."""

from collections.abc import Callable

import numpy as np

from FuzzyVesselCoreLib.gpu.device import CudaDevice, DeviceArray
from FuzzyVesselCoreLib.progress import Progress

from ...affinity import TOP_LEVEL
from ...problem import Problem
from ..interface import Solution

ROUNDS_PER_CHECK = 8  # between two looks at the flag that tells whether anything changed

# propagate(problem, voxels, mask, progress, gpu) -> values on the device, rounds
Propagate = Callable[[Problem, DeviceArray, DeviceArray | None, Progress, CudaDevice], tuple]


def run_rounds(
    problem: Problem,
    progress: Progress,
    gpu: CudaDevice,
    launch: Callable[[DeviceArray, DeviceArray, DeviceArray, DeviceArray], None],
) -> tuple[DeviceArray, int]:
    """Run rounds until no voxel changes.

    Parameters
    ----------
    launch : callable
        ``launch(values, now, following, changed)`` runs one round: `values` (float32, flat, seeds
        1), C1 and C2 (uint8, flat) and the changed flag (int32).

    Returns
    -------
    values : device array, float32, flat
    rounds : int
    """
    xp, size = gpu.xp, problem.voxels.size
    seeds = gpu.put(problem.seeds)
    values = xp.zeros(size, np.float32)
    values[seeds] = 1
    now, following = xp.zeros(size, np.uint8), xp.zeros(size, np.uint8)
    now[seeds] = 1
    changed = xp.zeros(1, np.int32)
    # A guess: a path is usually a few times as long as the volume's sides.
    typical = sum(problem.voxels.shape)
    rounds = 0
    while True:
        progress.advance(rounds / (rounds + typical))
        changed.fill(0)
        for _ in range(ROUNDS_PER_CHECK):
            following.fill(0)
            launch(values, now, following, changed)
            now, following = following, now
            rounds += 1
        if not gpu.get(changed)[0]:
            return values, rounds


def solve_by(
    propagate: Propagate, problem: Problem, progress: Progress, gpu: CudaDevice
) -> Solution:
    """Solution of a solver whose values stay on the device."""
    voxels = gpu.put(problem.voxels)
    mask = None if problem.mask is None else gpu.put(problem.mask)
    values, rounds = propagate(problem, voxels, mask, progress, gpu)
    levels = levels_of(values, problem.voxels.shape, gpu)
    return Solution(levels, rounds, gpu.peak_bytes)


def levels_of(values: DeviceArray, shape: tuple[int, ...], gpu: CudaDevice) -> np.ndarray:
    """Levels (numpy, uint16) of values on the device."""
    return np.rint(gpu.get(values) * np.float32(TOP_LEVEL)).astype(np.uint16).reshape(shape)
