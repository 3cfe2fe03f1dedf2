"""Relative connectedness of 2, 4 and 8 groups: its time over that of one object in the same run."""

import numpy as np

from FuzzyConnectedGPULib.problem import state_problem
from FuzzyConnectedGPULib.relative import owners_by_blocks
from FuzzyConnectedGPULib.relative.cuda import owners as owners_on_cuda
from FuzzyConnectedGPULib.solvers.cpu.blocks import blocks
from FuzzyConnectedGPULib.solvers.cuda import exact
from FuzzyVesselCoreLib.progress import Progress

from .. import volumes
from ..goals import Goal, row, table, without_gpu
from ..results import Table
from ..setting import Setting, two_cores
from ..timing import measure

GROUPS = (2, 4, 8)
GPU_GOALS = {f"{count} groups": Goal(1.5, "x one object") for count in GROUPS}
NOTE = (
    "The whole scene without a cut. One object has the points of all groups, and its levels are "
    "those of the groups together. On the GPU the volume lies there already."
)


def on_cpu(setting: Setting) -> Table:
    """Ratios on two cores of the CPU, which have no goal."""
    case = volumes.vessel_tree(setting.sizes.tree)

    def one(problem):
        return blocks.solve(problem, Progress())[0]

    def several(problem, owners):
        return owners_by_blocks.solve(problem, owners, Progress())[0]

    with two_cores():
        rows = list(_rows(setting, case, "CPU, 2 cores", one, several))
    return table(setting, rows, "Relative connectedness on two cores", [NOTE])


def on_gpu(setting: Setting) -> Table:
    """Ratios on the GPU."""
    title = "Relative connectedness on the GPU"
    if setting.gpu is None:
        return without_gpu(setting, GPU_GOALS, title)
    case, gpu = volumes.vessel_tree(setting.sizes.tree), setting.gpu
    with gpu:
        voxels = gpu.put(case.volume)

        def one(problem):
            return exact.propagate(problem, voxels, None, Progress(), gpu)[0]

        def several(problem, owners):
            return owners_on_cuda.propagate(problem, owners, voxels, None, Progress(), gpu)[0]

        rows = list(_rows(setting, case, gpu.name, one, several, GPU_GOALS, gpu))
    return table(setting, rows, title, [NOTE])


def _rows(setting, case, device, one, several, goals=None, gpu=None):
    wait = gpu.synchronize if gpu else _nothing
    problem = state_problem(case.volume, _points(case, max(GROUPS)), case.affinity)
    setting.tell(f"One object, {device}")
    alone = measure(lambda: one(problem), setting.repeats, wait)
    for count in GROUPS:
        owners = (np.arange(problem.seeds.size) % count + 1).astype(np.uint8)
        work = f"{count} groups"
        setting.tell(f"{work}, {device}")
        measured = measure(lambda owners=owners: several(problem, owners), setting.repeats, wait)
        ratio = measured.seconds / alone.seconds
        same = bool((measured.result == alone.result).all())
        check = "levels of one object" if same else "levels differ from one object's"
        goal = goals[work] if goals else None
        details = {"runs": measured.runs, "runs of one object": alone.runs}
        yield row(work, device, ratio, goal, check, None if goal else "x one object", **details)


def _nothing():
    """Nothing to wait for."""


def _points(case, count):
    """Voxels of the object's intensity, far from one another in the order of the volume."""
    near = np.abs(case.volume.astype(np.float32) - case.affinity.mean) <= case.affinity.sigma
    voxels = np.flatnonzero(near)
    chosen = voxels[np.linspace(0, voxels.size - 1, count).astype(np.int64)]
    return np.stack(np.unravel_index(chosen, case.volume.shape), 1)
