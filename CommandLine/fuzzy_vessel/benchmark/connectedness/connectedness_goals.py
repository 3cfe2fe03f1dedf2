"""Fuzzy connectedness: the goals on the card and on two cores of the CPU."""

import os
import subprocess
import sys
import tempfile

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
    without_card,
)
from ..setting import two_cores
from ..timing import measure
from . import resident

KEPT = 0.02
FULL = "exact full scene"
CUT = f"the same, cut that keeps {KEPT:.0%} of the voxels"
RATIO = "cuda-kfoe-corrected takes so many times longer"
SMALL = "exact full scene of a small vessel tree"
MOVED = "one seed moved, volume on the card: new labels there"
ORDINARY = "from numpy arrays to numpy arrays"
MEMORY = "memory on the card"
FIRST = "first use in a fresh process"
CARD_GOALS = {
    FULL: Goal(12, "ms"),
    RATIO: Goal(150, "times", least=True),
    CUT: Goal(3, "ms"),
    MOVED: Goal(10, "ms"),
    ORDINARY: Goal(150, "ms"),
    MEMORY: Goal(7, "bytes a voxel"),
    "serpentine one voxel wide, beside the tree": Goal(5, "times"),
    "white noise, beside the tree": Goal(5, "times"),
    FIRST: Goal(2, "s"),
}
CPU_GOAL = Goal(40, "Mvoxel/s", least=True)
DEVICE_RESIDENT = (
    "Volumes lie on the card and scenes stay there, where the row does not say otherwise; the "
    "medians are of wall clock seconds."
)


def on_card(setting):
    """The goals for the card."""
    title = "Exact connectedness on the card"
    if setting.gpu is None:
        return without_card(setting, CARD_GOALS, title)
    rows = [*_large_tree(setting), *_hard_cases(setting), *_first_use(setting)]
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
    yield timed_row(f"{FULL}: {where}", gpu.name, full, CARD_GOALS[FULL], check, rounds=rounds)
    yield from _ratio(setting, case, full.seconds, reference)
    setting.tell("Exact, with a cut")
    measured, levels, rounds = resident.time_solver("exact", case, gpu, repeats, cut)
    check = difference(levels, dial_levels(case, cut))
    details = dict(cut=cut, kept=float(kept), rounds=rounds)
    yield timed_row(CUT, gpu.name, measured, CARD_GOALS[CUT], check, **details)
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
        CARD_GOALS[RATIO],
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
    goal, check = CARD_GOALS[MOVED], difference(labels, wanted)
    yield timed_row(MOVED, setting.gpu.name, measured, goal, check, threshold=cut)


def _ordinary_memory(setting, case, reference):
    from FuzzyConnectedGPULib.affinity.gaussian_affinity import level_values

    setting.tell("Numpy to numpy")
    measured = measure(
        lambda: connectedness(case.volume, case.seeds, case.affinity, device=setting.cuda),
        setting.repeats,
    )
    scene = measured.result
    check = difference(scene.values, level_values(reference))
    goal, stages = CARD_GOALS[ORDINARY], scene.seconds
    yield timed_row(ORDINARY, scene.device, measured, goal, check, stages=stages)
    size = scene.peak_bytes / case.volume.size
    yield row(MEMORY, scene.device, size, CARD_GOALS[MEMORY], check)


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
            yield row(work, gpu.name, ratio, CARD_GOALS[work], check)


FRESH_PROCESSES = 3
FIRST_RUN = """
from time import perf_counter
begin = perf_counter()
import numpy as np
from FuzzyConnectedGPULib import connectedness
volume = np.random.default_rng(0).normal(100, 20, (64, 64, 64)).astype(np.int16)
connectedness(volume, [[32, 32, 32]], device="cuda")
print(perf_counter() - begin)
"""


def _first_use(setting):
    """A process of its own, with an empty cache of kernels, and another one with that cache."""
    runs = {FIRST: [], f"{FIRST}, kernels in the cache": []}
    for _ in range(FRESH_PROCESSES):
        with tempfile.TemporaryDirectory() as cache:
            for work, seconds in runs.items():
                setting.tell(work[:1].upper() + work[1:])
                seconds.append(_seconds_of_process(cache))
    for work, seconds in runs.items():
        figure, goal = float(np.median(seconds)), CARD_GOALS.get(work)
        yield row(work, setting.gpu.name, figure, goal, unit="s", runs=seconds)


def _seconds_of_process(cache):
    """Seconds from the first import to the first result, with all caches in a folder."""
    named = ("CUPY_CACHE_DIR", "CUDA_CACHE_PATH", "XDG_CACHE_HOME", "NUMBA_CACHE_DIR")
    paths = os.pathsep.join(path for path in sys.path if path)
    environment = {**os.environ, **dict.fromkeys(named, cache), "PYTHONPATH": paths}
    told = subprocess.run(
        [sys.executable, "-c", FIRST_RUN],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    return float(told.stdout)


def on_cpu(setting):
    """The goals for two cores of the CPU; the real CT takes the phantom's place where it is."""
    rows = []
    side = setting.sizes.cube
    with two_cores():
        cases = [volumes.vessel_tree((side,) * 3)]
        cases.append(volumes.scan(setting.data) or volumes.liver(setting.sizes.liver)[0])
        cases += [volumes.white_noise(side), volumes.serpentine(side)]
        for number, case in enumerate(cases):
            rows.append(_cpu_row(setting, case, CPU_GOAL if number < 2 else None))
    note = "Real CT: name its folder with --data." if setting.data is None else ""
    return table(setting, rows, "Exact connectedness on two cores of the CPU", [note] * bool(note))


def _cpu_row(setting, case, goal):
    setting.tell(f"{case.name.capitalize()} on the CPU")
    measured = measure(
        lambda: connectedness(case.volume, case.seeds, case.affinity, device="cpu"),
        setting.repeats,
    )
    scene = measured.result
    by_dial = connectedness(case.volume, case.seeds, case.affinity, solver="dial")
    speed = case.volume.size / 1e6 / measured.seconds
    return row(
        f"{FULL}: {volumes.described(case)}",
        f"{setting.cpu}",
        speed,
        goal,
        difference(scene.values, by_dial.values),
        unit="Mvoxel/s",
        runs=measured.runs,
        stages=scene.seconds,
        dial_seconds=by_dial.seconds,
        bytes_a_voxel=scene.peak_bytes / case.volume.size,
    )
