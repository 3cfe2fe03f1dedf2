"""Solvers on volumes that are already on the GPU: the one place that calls them there."""

from collections.abc import Iterator
from importlib import import_module
from typing import Any

import numpy as np

from FuzzyConnectedGPULib.problem import state_problem
from FuzzyConnectedGPULib.solvers import CUDA_MODULES
from FuzzyConnectedGPULib.solvers.cuda.kfoe_rounds import levels_of
from FuzzyVesselCoreLib.progress import Progress

from ..timing import Measured, measure
from ..vessel_tree import Case


def propagate(solver: str, problem: Any, voxels: Any, gpu: Any, **options: Any) -> tuple[Any, int]:
    """The scene on the GPU, from voxels on the GPU; transfers only what belongs to the seeds.

    Returns
    -------
    scene : CuPy array
        uint16 levels for "exact", flat float32 values for the papers' solvers.
    rounds : int
    """
    module = import_module(f"FuzzyConnectedGPULib.solvers.{CUDA_MODULES[solver]}")
    return module.propagate(problem, voxels, None, Progress(), gpu, **options)


def time_solver(
    solver: str, case: Case, gpu: Any, repeats: int, cut: float = 0.0, **options: Any
) -> tuple[Measured, np.ndarray, int]:
    """Time a solver on a volume that stays on the GPU.

    Returns
    -------
    measured : Measured
    levels : ndarray, uint16
        Of the last run.
    rounds : int
    """
    problem = state_problem(case.volume, case.seeds, case.affinity, cut)
    with gpu:
        voxels = gpu.put(problem.voxels)
        measured = measure(
            lambda: propagate(solver, problem, voxels, gpu, **options), repeats, gpu.synchronize
        )
        scene, rounds = measured.result
        return measured, host_levels(scene, case.volume.shape, gpu), rounds


def levels_of_runs(
    solver: str, case: Case, gpu: Any, count: int, **options: Any
) -> Iterator[np.ndarray]:
    """The levels (numpy, uint16) of so many runs; those of racy solvers differ."""
    problem = state_problem(case.volume, case.seeds, case.affinity)
    with gpu:
        voxels = gpu.put(problem.voxels)
        for _ in range(count):
            scene, _ = propagate(solver, problem, voxels, gpu, **options)
            yield host_levels(scene, case.volume.shape, gpu)


def time_moved_seed(
    case: Case, gpu: Any, repeats: int, cut: float
) -> tuple[Measured, np.ndarray, np.ndarray]:
    """Time the way from other seeds to the labels (uint8, on the GPU) of `cut`.

    Returns
    -------
    measured : Measured
        Of labels that stay on the GPU.
    labels : ndarray, uint8
        For the seeds without the first one.
    """
    both = [state_problem(case.volume, seeds, case.affinity, cut) for seeds in moved_seeds(case)]
    turn = [0]
    with gpu:
        voxels = gpu.put(both[0].voxels)

        def run():
            turn[0] += 1
            scene, _ = propagate("exact", both[turn[0] % 2], voxels, gpu)
            return (scene.reshape(-1) >= max(both[0].cut_level, 1)).astype(np.uint8)

        measured = measure(run, repeats, gpu.synchronize)
        labels = gpu.get(measured.result).reshape(case.volume.shape)
    return measured, labels, moved_seeds(case)[turn[0] % 2]


def moved_seeds(case: Case) -> tuple[np.ndarray, np.ndarray]:
    """The seeds before and after one of them has moved."""
    return case.seeds[:-1], np.concatenate([case.seeds[:-2], case.seeds[-1:]])


def host_levels(scene: Any, shape: tuple[int, ...], gpu: Any) -> np.ndarray:
    """Levels (numpy, uint16) of a solver's scene on the GPU."""
    if scene.dtype == np.uint16:
        return gpu.get(scene).reshape(shape)
    return levels_of(scene, shape, gpu)
