"""The tables of the two CUDA-kFOE papers as runs, on liver phantoms of the scans' sizes.

The reference for error voxels is `dial`. The serial solver needs minutes for the large volumes and
runs once; all others are medians.
"""

import hashlib
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context

import numpy as np

from FuzzyConnectedGPULib import estimate_affinity
from FuzzyVesselCoreLib.progress import Progress

from .. import volumes
from ..goals import dial_levels
from ..results import Table
from ..setting import Setting
from ..timing import measure, measure_once
from . import resident

SERIAL, ORIGINAL, CORRECTED, EXACT = "kfoe", "cuda-kfoe", "cuda-kfoe-corrected", "exact"
COLUMNS = {
    "volume": "volume",
    "seed": "seed I,J,K",
    "solver": "solver",
    "device": "device",
    "seconds": "seconds",
    "speed_up": "times faster than serial",
    "errors": "error voxels",
}
PLOT = {"kind": "bars", "label": "solver", "group": "volume", "value": "seconds", "unit": "s"}
REPEATS = 3
SERIAL_NOTE = "The serial solver ran once each; volumes of the solvers on the GPU lie there."


@dataclass(frozen=True)
class Run:
    """A phantom of so many slices, and which of its seeds is used."""

    number: int  # of the patient
    slices: int
    seed: int


def english(setting: Setting) -> Table:
    """English paper, table 1: three sizes, one seed each."""
    runs = [Run(n, slices, 0) for n, slices in enumerate(setting.sizes.english)]
    return _compared(setting, "English paper, table 1: seconds and error voxels", runs)


def chinese(setting: Setting) -> Table:
    """Chinese paper, tables 1 to 3: three sizes, three seeds each."""
    runs = [
        Run(n, slices, seed) for n, slices in enumerate(setting.sizes.chinese) for seed in range(3)
    ]
    return _compared(setting, "Chinese paper, tables 1 to 3: three seeds each", runs)


def _compared(setting, title, runs):
    serial = _serial_runs(setting, runs)
    rows, made = [], (None, None)
    for run, (seconds, digest) in zip(runs, serial):
        if made[0] != (run.number, run.slices):
            setting.tell(f"Making {run.slices} slices")
            made = (run.number, run.slices), volumes.liver(shape_of(setting, run), run.number)[0]
        rows += _rows_of_volume(setting, with_seed(made[1], run.seed), seconds, digest)
    notes = [SERIAL_NOTE]
    if setting.gpu is None:
        notes.append(f"The solvers on CUDA were left out: {setting.no_gpu}")
    return Table(title, COLUMNS, rows, PLOT, notes)


def _rows_of_volume(setting, case, serial_seconds, serial_digest):
    """Serial, original, corrected and exact."""
    setting.tell("Reference by dial")
    reference = dial_levels(case)
    same = digest_of(reference) == serial_digest
    common = {
        "volume": "x".join(map(str, case.volume.shape[::-1])),
        "seed": ",".join(map(str, case.seeds[0][::-1])),
    }

    def line(solver, device, seconds, errors, **details):
        faster = serial_seconds / seconds
        measured = dict(
            solver=solver, device=device, seconds=seconds, speed_up=faster, errors=errors
        )
        return common | measured | details

    rows = [line(SERIAL, "CPU", serial_seconds, 0 if same else "differs from dial")]
    setting.tell(f"{EXACT} on the CPU")
    measured = measure(lambda: _exact_on_cpu(case), REPEATS)
    errors = int(np.count_nonzero(measured.result != reference))
    rows.append(line(EXACT, "CPU", measured.seconds, errors))
    for solver in (ORIGINAL, CORRECTED, EXACT) if setting.gpu else ():
        setting.tell(solver)
        repeats = setting.repeats if solver == EXACT else REPEATS
        measured, levels, rounds = resident.time_solver(solver, case, setting.gpu, repeats)
        errors = int(np.count_nonzero(levels != reference))
        name = setting.gpu.name
        rows.append(line(solver, name, measured.seconds, errors, runs=measured.runs, rounds=rounds))
    return rows


def _exact_on_cpu(case):
    from importlib import import_module

    from FuzzyConnectedGPULib.problem import state_problem
    from FuzzyConnectedGPULib.solvers import CPU_MODULES

    module = import_module(f"FuzzyConnectedGPULib.solvers.{CPU_MODULES[EXACT]}")
    problem = state_problem(case.volume, case.seeds, case.affinity)
    return module.solve(problem, Progress())[0]


def shape_of(setting: Setting, run: Run) -> tuple[int, int, int]:
    return (run.slices, *setting.sizes.plane)


def with_seed(case: volumes.Case, number: int) -> volumes.Case:
    seeds = case.seeds[number : number + 1]
    return volumes.Case(case.name, case.volume, seeds, estimate_affinity(case.volume, seeds))


def _serial_runs(setting, runs):
    """Seconds and digest of the serial solver for each run, some of them at a time."""
    tasks = [(shape_of(setting, run), run.number, run.seed) for run in runs]
    if setting.processes > 1:
        setting.tell(f"{SERIAL}, {setting.processes} processes")
        with ProcessPoolExecutor(setting.processes, get_context("spawn")) as pool:
            return list(pool.map(serial_run, *zip(*tasks)))
    found = []
    for task in tasks:
        setting.tell(f"{SERIAL}, {task[0][0]} slices")
        found.append(serial_run(*task))
    return found


def serial_run(shape: tuple[int, int, int], number: int, seed: int) -> tuple[float, str]:
    """Seconds of one serial run, and the digest of its levels."""
    from FuzzyConnectedGPULib.problem import state_problem
    from FuzzyConnectedGPULib.solvers.cpu import kfoe

    warm = volumes.vessel_tree((8, 8, 8))  # int16 as the phantom: compiled for it
    kfoe.solve(state_problem(warm.volume, warm.seeds, warm.affinity), Progress())
    case = with_seed(volumes.liver(shape, number)[0], seed)
    problem = state_problem(case.volume, case.seeds, case.affinity)
    measured = measure_once(lambda: kfoe.solve(problem, Progress())[0])
    return measured.seconds, digest_of(measured.result)


def digest_of(levels: np.ndarray) -> str:
    """A digest of the levels' bytes."""
    return hashlib.sha256(np.ascontiguousarray(levels).tobytes()).hexdigest()
