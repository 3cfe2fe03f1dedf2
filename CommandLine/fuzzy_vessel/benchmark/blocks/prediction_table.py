"""The model of `cost_model` beside the runs that it was fitted to, and what it says of 1e12."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from FuzzyConnectedGPULib.distributed.cuda.streaming import MAX_BLOCK
from FuzzyConnectedGPULib.distributed.partition import Partition

from ..goals import Goal
from ..results import Table
from ..setting import Setting
from .block_runs import PHASES
from .block_table import over_blocks
from .cost_model import Costs, Run, best_partition, fit, tasks_of
from .run_steps import Steps

CLUSTERS = {  # workers, what they compute on, and their processes
    "8 cards, one process": (8, "card", 1),
    "8 cards, a process each": (8, "card", 8),
    "64 workers on the CPU": (64, "CPU", 64),
}
MEMORY = 64e9  # bytes of a worker
TIME_GOAL = Goal(15.0, "min")  # on cards
RUN, PREDICTED = "run", "predicted"
COLUMNS = {
    "kind": "",
    "volume": "volume",
    "work": "work",
    "device": "device",
    "measured": "measured, s",
    "seconds": "model, s",
    **{phase: phase for phase in PHASES},
    "memory": "memory for a worker, GB",
    "traffic": "read and written, GB",
    "goal": "goal",
    "met": "met",
    "check": "what takes longest",
}
TITLE = "Connectedness over blocks: a model of its costs, fitted to runs on this machine"
NOTES = [
    "Each worker is like the one of the runs: a card or a CPU with as many cores of its own, and "
    "voxels that it gets as fast. What one process does not speed up with more cards is taken to "
    "shrink with processes. Memory is an upper estimate, and a process has that of all its "
    "workers; the runs' largest share of it:",
]


def predicted(setting: Setting) -> Table:
    """Fit to the runs of the tables of blocks (those of `over_blocks` if none ran before)."""
    if "blocks" not in setting.found:
        over_blocks(setting)
    rows = setting.found["blocks"] + setting.found.get("blocks of the largest", [])
    setting.tell("Fitting")
    side = setting.sizes.blocks_predicted
    return table_of(rows, (side,) * 3, setting.quick, setting.no_gpu)


def table_of(
    rows: Iterable[dict[str, Any]], shape: tuple[int, int, int], quick: bool, no_gpu: str
) -> Table:
    """The table from the rows of runs."""
    timed = [row for row in rows if "workers" in row]
    runs = [run_of(row) for row in timed]
    costs = fit(runs)
    told = [beside(costs, run, row) for run, row in zip(runs, timed)]
    places, lacking = {run.place for run in runs}, []
    for name, cluster in CLUSTERS.items():
        if cluster[1] in places:
            told.append(_predicted(costs, shape, cluster, name, quick))
        else:
            lacking.append(f"No prediction for {name}: {no_gpu}")
    shares = [row["peak"] / row["estimated"] for row in timed if row.get("peak") is not None]
    share = f"{100 * max(shares):.0f} %." if shares else "unknown."
    return Table(TITLE, COLUMNS, told, {}, [f"{NOTES[0]} {share}", *lacking])


def run_of(row: dict[str, Any]) -> Run:
    """The run that a row tells of."""
    place = "CPU" if row["device"] == "CPU" else "card"
    seconds = {phase: row[phase] for phase in PHASES if phase in row}
    partition = Partition(tuple(row["shape"]), tuple(row["block"]))
    written, processes = row["disk"] * 1e6, row["processes"]
    return Run(partition, row["workers"], place, processes, seconds, written)


def beside(costs: Costs, run: Run, row: dict[str, Any]) -> dict[str, Any]:
    """The row of a run, with what the model says of it."""
    steps = Steps(run.partition)
    found = _row(costs, steps, (run.workers, run.place, run.processes))
    measured = sum(run.seconds.values())
    named = {name: row[name] for name in ("volume", "work", "device")}
    return {"kind": RUN, **named, **found, "measured": measured}


def _predicted(
    costs: Costs,
    shape: tuple[int, int, int],
    cluster: tuple[int, str, int],
    name: str,
    quick: bool,
) -> dict[str, Any]:
    on_card = cluster[1] == "card"
    most = MAX_BLOCK if on_card else np.inf
    steps = best_partition(costs, shape, cluster, (MEMORY, most))
    row: dict[str, Any] = {"kind": PREDICTED, "volume": "x".join(map(str, shape)), "device": name}
    if steps is None:
        return {**row, "check": f"no partition needs {MEMORY / 1e9:.0f} GB or less"}
    row |= _row(costs, steps, cluster)
    row["work"] = f"blocks {'x'.join(map(str, steps.partition.block))}"
    if on_card:
        minutes = row["seconds"] / 60
        row |= {"goal": str(TIME_GOAL), "met": None if quick else TIME_GOAL.met_by(minutes)}
    return row


def _row(costs: Costs, steps: Steps, cluster: tuple[int, str, int]) -> dict[str, Any]:
    workers, place, _ = cluster
    work = steps.work(*cluster)
    (phase, unit, where), longest = costs.bound(work)
    phases = costs.seconds(work)
    return {
        "seconds": sum(phases.values()),
        **phases,
        "memory": steps.memory(workers, tasks_of(place)) / 1e9,
        "traffic": steps.traffic(costs.face_bytes) / 1e9,
        "check": f"{phase}, by {unit} on the {where}: {longest:.3g} s",
    }
