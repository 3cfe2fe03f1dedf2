"""The papers' tables as runs, on phantoms of their sizes.

English: Wang, Li and Huang 2016, tables 1 (`kfoe-english`) and 2 (`kfoe-directions`). Chinese: Li
et al. 2015, tables 1 to 3 (`kfoe-chinese`). Skeleton: Zhao, Wang and Yuan 2016, table 2
(`field-sizes`) and figure 3 (`field-threads`). Error voxels are counted against `dial`.
"""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from FuzzyConnectedGPULib import connectedness, error_voxels, estimate_affinity
from FuzzyVesselCoreLib.errors import DeviceError
from PotentialSkeletonLib import force_field

from . import volumes
from .frame import Setting, Table

ENGLISH, CHINESE, PLANE = (131, 261, 576), (155, 215, 175), (512, 512)
SERIAL, ORIGINAL, CORRECTED, EXACT = "kfoe", "cuda-kfoe", "cuda-kfoe-corrected", "exact"
REPEATS, STRENGTH, TUBE_LENGTH = 3, 6, 487
SIDES = (16, 32, 64, 128, 256)
LIMIT = 60.0  # seconds: a direct sum that would take longer is estimated from a smaller one


def english(setting: Setting) -> Table:
    """English paper, table 1: three sizes, one seed each."""
    cases = [_phantom(setting, slices, n) for n, slices in enumerate(ENGLISH)]
    return _compared(setting, "English paper, table 1: seconds and error voxels", cases)


def chinese(setting: Setting) -> Table:
    """Chinese paper, tables 1 to 3: three sizes, three seeds each."""
    cases = [_phantom(setting, slices, n, s) for n, slices in enumerate(CHINESE) for s in range(3)]
    return _compared(setting, "Chinese paper, tables 1 to 3: three seeds each", cases)


def directions(setting: Setting) -> Table:
    """English paper, table 2: error voxels over the number of directions of the corrections."""
    keys = [str(n) for n in range(7)]
    columns = {"volume": "volume", "original": ORIGINAL, **{key: key for key in keys}}
    plot = {"kind": "columns", "series": "volume", "keys": keys, "log": True, "zero": True}
    plot |= {"x_name": "directions", "y_name": "error voxels"}
    rows = []
    for n, slices in enumerate(ENGLISH if setting.cuda else ()):
        case = _phantom(setting, slices, n)()
        wanted = connectedness(case.volume, case.seeds, case.affinity, solver="dial", device="cpu")

        def errors(solver: str, case=case, wanted=wanted, **options) -> int:
            runs = (_solve(setting, case, solver, **options) for _ in range(REPEATS))
            return int(np.median([error_voxels(run, wanted) for run in runs]))

        row = {"volume": case.size, "original": errors(ORIGINAL)}
        rows.append(row | {key: errors(CORRECTED, directions=int(key)) for key in keys})
    notes = [f"Medians of {REPEATS} runs; 2 corrections a round."] if rows else ["No CUDA device."]
    return Table("English paper, table 2: error voxels by directions", columns, rows, notes, plot)


def _phantom(setting: Setting, slices: int, number: int, seed: int = 0):
    """A function that makes a phantom of so many slices, with one of its seeds."""

    def make() -> volumes.Case:
        case = volumes.liver(setting.size(slices, *PLANE), number)
        seeds = case.seeds[seed : seed + 1]
        return replace(case, seeds=seeds, affinity=estimate_affinity(case.volume, seeds))

    return make


def _solve(setting: Setting, case: volumes.Case, solver: str, **options):
    device = "cpu" if solver in (SERIAL, "dial") else setting.cuda
    keywords = {"device": device} | options
    return connectedness(case.volume, case.seeds, case.affinity, solver=solver, **keywords)


def _compared(setting: Setting, title: str, makers: list) -> Table:
    columns = {
        "volume": "volume", "seed": "seed I,J,K", "solver": "solver", "device": "device",
        "seconds": "seconds", "speed_up": "times faster than serial", "errors": "error voxels",
    }  # fmt: skip
    rows = [row for make in makers for row in _solvers(setting, make())]
    notes = ["Seconds are the solver's, without checks and conversion; `kfoe` and `dial` ran once."]
    if not setting.cuda:
        notes.append("No CUDA device: its solvers were left out.")
    plot = {"kind": "bars", "label": "solver", "group": "volume", "value": "seconds", "log": True}
    return Table(title, columns, rows, notes, plot)


def _solvers(setting: Setting, case: volumes.Case) -> Iterator[dict]:
    seed = ",".join(map(str, case.seeds[0][::-1]))
    wanted, serial = _solve(setting, case, "dial"), None
    runs = [(SERIAL, "cpu"), (EXACT, "cpu")]
    runs += [(each, setting.cuda) for each in (ORIGINAL, CORRECTED, EXACT) if setting.cuda]
    for solver, device in runs:
        if device == "cpu":
            scenes = [
                _solve(setting, case, solver, device=device)
                for _ in range(1 if solver == SERIAL else REPEATS + 1)
            ]
            found = scenes[-1].values
            middle = float(np.median([s.seconds["propagate"] for s in scenes[1:] or scenes]))
        else:
            repeats = setting.repeats if solver == EXACT else REPEATS
            middle, found = on_the_card(setting, case, solver, repeats)
        serial = serial or middle
        yield {
            "volume": case.size, "seed": seed, "solver": solver, "device": setting.name(device),
            "seconds": middle, "speed_up": serial / middle, "errors": error_voxels(found, wanted),
        }  # fmt: skip


def on_the_card(
    setting: Setting, case: volumes.Case, solver: str, repeats: int
) -> tuple[float, np.ndarray]:
    """Seconds of a solver from when the volume is on the card until the levels are; the values.

    The papers time their kernels so, too; `connectedness` adds the ways to and from the host.
    """
    scenes = [_solve(setting, case, solver, device=setting.cuda) for _ in range(repeats + 1)]
    return float(np.median([s.seconds["on_device"] for s in scenes[1:]])), scenes[-1].values


def field_sizes(setting: Setting) -> Table:
    """Skeleton paper, table 2: the field's methods over the sizes of a tube."""
    columns = {
        "volume": "volume", "method": "method", "device": "device", "seconds": "seconds",
        "speed_up": "times faster than serial", "error": "largest relative error",
        "occupancy": "occupancy", "told": "",
    }  # fmt: skip
    rows: list[dict] = []
    estimates: dict[str, float] = {}  # seconds for a pair of voxel and charge
    for side in SIDES[:2] if setting.quick else SIDES:
        mask = volumes.wavy_tube((61 if setting.quick else TUBE_LENGTH, side, side))
        rows += _field_rows(setting, mask, estimates)
    notes = ["Seconds of the summation; ~: estimated from the size before, by pairs of voxels."]
    plot = {"kind": "lines", "series": "method", "x": "volume", "y": "seconds", "log": True}
    title = "Skeleton paper, table 2: the field's methods over sizes"
    return Table(title, columns, rows, notes, plot)


def _field_rows(setting: Setting, mask: np.ndarray, estimates: dict) -> Iterator[dict]:
    from PotentialSkeletonLib import classify_voxels

    classes = classify_voxels(mask)
    pairs = float(np.count_nonzero(classes > 1)) * np.count_nonzero(classes == 1)
    exact = serial = None
    methods = [("fft", "cpu"), ("direct-serial", "cpu")]
    if setting.cuda:
        names = ("fft", "cuda-simple", "cuda-constant", "cuda-shared")
        methods += [(name, setting.cuda) for name in names]
    for method, device in methods:
        row = {"volume": "x".join(map(str, mask.shape[::-1])), "method": method}
        row["device"] = setting.name(device)
        seconds = estimates.get(method, 0.0) * pairs
        if seconds > LIMIT:
            row |= {"seconds": seconds, "told": "~"}
        else:
            fields = [
                force_field(mask, STRENGTH, method=method, device=device)
                for _ in range(1 if seconds > 1 else 3)
            ]
            field = fields[-1]
            seconds = min(each.seconds["sum"] for each in fields)
            exact = field.vectors if exact is None else exact
            length = np.linalg.norm(exact, axis=-1)
            away = np.linalg.norm(field.vectors - exact, axis=-1)[length > 0]
            error = float((away / length[length > 0]).max())
            row |= {"seconds": seconds, "error": error, "occupancy": field.occupancy}
            if method != "fft":
                estimates[method] = seconds / pairs
        serial = seconds if method == "direct-serial" else serial
        yield row | {"speed_up": serial / seconds if serial else None}


def field_threads(setting: Setting) -> Table:
    """Skeleton paper, figure 3: occupancy and speed over the threads of a block."""
    columns = {
        "method": "method", "threads": "threads per block", "occupancy": "occupancy",
        "seconds": "seconds", "told": "",
    }  # fmt: skip
    side = 16 if setting.quick else 64
    mask = volumes.wavy_tube((61 if setting.quick else TUBE_LENGTH, side, side))
    rows = []
    for method in ("cuda-simple", "cuda-constant", "cuda-shared") if setting.cuda else ():
        chosen = force_field(mask, STRENGTH, method=method, device=setting.cuda).threads_per_block
        for threads in range(32, 1025, 32):
            try:
                runs = [
                    force_field(mask, STRENGTH, method=method, device=setting.cuda, threads=threads)
                    for _ in range(3)
                ]
            except DeviceError:  # the card cannot run so many
                continue
            rows.append({
                "method": method, "threads": threads, "occupancy": runs[0].occupancy,
                "seconds": min(run.seconds["sum"] for run in runs),
                "told": "*" if threads == chosen else "",
            })  # fmt: skip
    notes = [f"Tube of {side}x{side}x{mask.shape[0]}; *: chosen by the occupancy formula (eq. 2)."]
    plot = {"kind": "lines", "series": "method", "x": "threads", "y": "seconds"}
    title = "Skeleton paper, figure 3: seconds and occupancy over threads per block"
    return Table(title, columns, rows, notes, plot)
