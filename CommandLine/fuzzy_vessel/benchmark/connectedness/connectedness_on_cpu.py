"""Fuzzy connectedness: the goals on two cores of the CPU."""

from FuzzyConnectedGPULib import connectedness

from .. import volumes
from ..goals import Goal, difference, row, table
from ..results import Table
from ..setting import Setting, two_cores
from ..timing import measure
from .connectedness_goals import FULL

CPU_GOAL = Goal(40, "Mvoxel/s", least=True)


def on_cpu(setting: Setting) -> Table:
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
