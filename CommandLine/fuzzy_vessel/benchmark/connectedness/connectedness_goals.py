"""Fuzzy connectedness: the goals on the GPU."""

import numpy as np

from FuzzyConnectedGPULib import connectedness

from .. import volumes
from ..goals import (
    Goal,
    cut_that_keeps,
    dial_levels,
    difference,
    row,
    table,
    timed_row,
    without_gpu,
)
from ..results import Table
from ..setting import Setting
from ..timing import measure
from . import fresh_process, resident

KEPT = 0.02
FULL = "exact full scene"
CUT = f"the same, cut that keeps {KEPT:.0%} of the voxels"
RATIO = "cuda-kfoe-corrected takes so many times longer"
SMALL = "exact full scene of a small vessel tree"
MOVED = "one seed moved, volume on the GPU: new labels there"
ORDINARY = "from numpy arrays to numpy arrays"
INTO = "from numpy arrays into a given one"
MEMORY = "memory on the GPU"
FIRST = "first use in a fresh process"
GPU_GOALS = {
    FULL: Goal(12, "ms"),
    RATIO: Goal(150, "times", least=True),
    CUT: Goal(3, "ms"),
    MOVED: Goal(10, "ms"),
    ORDINARY: Goal(150, "ms"),
    INTO: Goal(150, "ms"),
    MEMORY: Goal(7, "bytes per voxel"),
    "serpentine one voxel wide, beside the tree": Goal(5, "times"),
    "white noise, beside the tree": Goal(5, "times"),
    FIRST: Goal(2, "s"),
}
DEVICE_RESIDENT = (
    "Volumes lie on the GPU and scenes stay there, where the row does not say otherwise; the "
    "medians are of wall clock seconds."
)


def on_gpu(setting: Setting) -> Table:
    """The goals for the GPU."""
    title = "Exact connectedness on the GPU"
    if setting.gpu is None:
        return without_gpu(setting, GPU_GOALS, title)
    rows = [
        *_large_tree(setting),
        *_hard_cases(setting),
        *fresh_process.rows(setting, FIRST, GPU_GOALS[FIRST]),
    ]
    return table(setting, rows, title, [DEVICE_RESIDENT])


def _large_tree(setting):
    """All rows of the large vessel tree."""
    gpu, repeats = setting.gpu, setting.repeats
    setting.tell("Making the vessel tree")
    case = volumes.vessel_tree(setting.sizes.tree)
    where = volumes.described(case)
    setting.tell("Reference by dial")
    reference = dial_levels(case)
    cut, kept = cut_that_keeps(reference, KEPT)

    setting.tell("Exact, full scene")
    full, levels, rounds = resident.time_solver("exact", case, gpu, repeats)
    check = difference(levels, reference)
    yield timed_row(f"{FULL}: {where}", gpu.name, full, GPU_GOALS[FULL], check, rounds=rounds)
    yield from _ratio(setting, case, full.seconds, reference)
    setting.tell("Exact, with a cut")
    measured, levels, rounds = resident.time_solver("exact", case, gpu, repeats, cut)
    check = difference(levels, dial_levels(case, cut))
    details = dict(cut=cut, kept=float(kept), rounds=rounds)
    yield timed_row(CUT, gpu.name, measured, GPU_GOALS[CUT], check, **details)
    yield from _moved_seed(setting, case, cut)
    yield from _ordinary_memory(setting, case, reference)


def _ratio(setting, case, exact_seconds, reference):
    """The papers' improved solver in the same run."""
    setting.tell("Corrected CUDA-kFOE")
    repeats = min(setting.repeats, 3)
    slow, levels, rounds = resident.time_solver("cuda-kfoe-corrected", case, setting.gpu, repeats)
    wrong = int(np.count_nonzero(levels != reference))
    yield row(
        RATIO,
        setting.gpu.name,
        slow.seconds / exact_seconds,
        GPU_GOALS[RATIO],
        f"{wrong:,} error voxels",
        runs=slow.runs,
        rounds=rounds,
    )


def _moved_seed(setting, case, cut):
    from FuzzyConnectedGPULib.problem import level_of_cut

    setting.tell("One seed moved")
    measured, labels, seeds = resident.time_moved_seed(case, setting.gpu, setting.repeats, cut)
    moved = volumes.Case(case.name, case.volume, seeds, case.affinity)
    wanted = (dial_levels(moved, cut) >= max(level_of_cut(cut), 1)).astype(np.uint8)
    goal, check = GPU_GOALS[MOVED], difference(labels, wanted)
    yield timed_row(MOVED, setting.gpu.name, measured, goal, check, threshold=cut)


def _ordinary_memory(setting, case, reference):
    """Into new memory and into an array that is there."""
    from FuzzyConnectedGPULib.affinity import level_values

    for work, out in ((ORDINARY, None), (INTO, np.empty(case.volume.shape, np.float32))):
        setting.tell(work.capitalize())
        measured = measure(
            lambda out=out: connectedness(
                case.volume, case.seeds, case.affinity, device=setting.cuda, out=out
            ),
            setting.repeats,
        )
        scene = measured.result
        check = difference(scene.values, level_values(reference))
        goal, stages = GPU_GOALS[work], scene.seconds
        yield timed_row(work, scene.device, measured, goal, check, stages=stages)
    size = scene.peak_bytes / case.volume.size
    yield row(MEMORY, scene.device, size, GPU_GOALS[MEMORY], check)


def _hard_cases(setting):
    """What is worst for tiles, beside a vessel tree of the same size."""
    gpu, side = setting.gpu, setting.sizes.cube
    seconds = {}
    for make in (
        lambda: volumes.vessel_tree((side,) * 3),
        lambda: volumes.serpentine(side),
        lambda: volumes.white_noise(side),
    ):
        case = make()
        setting.tell(case.name.capitalize())
        measured, levels, rounds = resident.time_solver("exact", case, gpu, setting.repeats)
        check = difference(levels, dial_levels(case))
        seconds[case.name] = measured.seconds
        named = f"{FULL}: {volumes.described(case)}"
        yield timed_row(named, gpu.name, measured, None, check, rounds=rounds)
        if len(seconds) > 1:
            work = f"{case.name}, beside the tree"
            ratio = measured.seconds / seconds["vessel tree"]
            yield row(work, gpu.name, ratio, GPU_GOALS[work], check)
