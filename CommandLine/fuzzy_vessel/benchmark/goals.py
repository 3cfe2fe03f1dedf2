"""Rows of the goals: the figure that this machine reaches, the goal, and what was checked."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from FuzzyVesselCoreLib.progress import Progress

from .results import Table
from .setting import Setting
from .timing import Measured
from .vessel_tree import Case

COLUMNS = {
    "work": "work",
    "device": "device",
    "figure": "median",
    "unit": "",
    "goal": "goal",
    "met": "met",
    "check": "checked",
}
PLOT = {"kind": "goals", "label": "work", "value": "figure", "unit": "unit", "limit": "limit"}


@dataclass(frozen=True)
class Goal:
    """A limit that a figure must not exceed, or, with `least`, must reach."""

    limit: float
    unit: str
    least: bool = False

    def met_by(self, figure: float | None) -> bool | None:
        """Whether the figure reaches it; None without a figure."""
        if figure is None:
            return None
        return bool(figure >= self.limit if self.least else figure <= self.limit)

    def __str__(self):
        return f"{'>=' if self.least else '<='} {self.limit:g} {self.unit}"


def row(
    work: str,
    device: str,
    figure: float | None,
    goal: Goal | None,
    check: str | None = None,
    unit: str | None = None,
    **details: Any,
) -> dict:
    """One row; without a goal the unit must be given. Details go into the JSON alone."""
    return {
        "work": work,
        "device": device,
        "figure": figure,
        "unit": goal.unit if goal else unit,
        "goal": str(goal) if goal else None,
        "limit": goal.limit if goal else None,
        "met": goal.met_by(figure) if goal else None,
        "check": check,
        **details,
    }


def timed_row(
    work: str, device: str, measured: Measured, goal: Goal | None, check: str | None, **details: Any
) -> dict:
    """A row of milliseconds or seconds, with every run in the details."""
    factor = {"ms": 1e3, "s": 1.0}[goal.unit if goal else "ms"]
    runs = [factor * seconds for seconds in measured.runs]
    figure = factor * measured.seconds
    return row(work, device, figure, goal, check, None if goal else "ms", runs=runs, **details)


def difference(levels: np.ndarray, reference: np.ndarray) -> str:
    """What is said of a result that was compared with the reference's, voxel by voxel."""
    if levels.shape != reference.shape or levels.dtype != reference.dtype:
        return f"{levels.dtype} {levels.shape} instead of {reference.dtype} {reference.shape}"
    count = int(np.count_nonzero(levels != reference))
    return "equal to dial, bit for bit" if count == 0 else f"{count:,} voxels differ from dial"


def dial_levels(case: Case, cut: float = 0.0) -> np.ndarray:
    """The reference's levels (uint16, K, J, I)."""
    from FuzzyConnectedGPULib.problem import state_problem
    from FuzzyConnectedGPULib.solvers.cpu import dial

    problem = state_problem(case.volume, case.seeds, case.affinity, cut)
    return dial.solve(problem, Progress())[0]


def cut_that_keeps(levels: np.ndarray, share: float) -> tuple[float, float]:
    """The lowest cut (0..1) above which at most this share of the voxels lies, and their share."""
    from FuzzyConnectedGPULib.affinity import level_values

    counts = np.bincount(levels.reshape(-1), minlength=65536)[::-1].cumsum()[::-1]
    level = int(np.argmax(counts <= share * levels.size))
    return float(level_values(np.array([level]))[0]), counts[level] / levels.size


def without_gpu(setting: Setting, goals: dict[str, Goal], title: str) -> Table:
    """The table of goals for a GPU where there is none."""
    rows = [row(work, "no GPU", None, goal) for work, goal in goals.items()]
    return table(setting, rows, title, [f"No GPU: {setting.no_gpu}"])


def table(setting: Setting, rows: list[dict], title: str, notes: Iterable[str] = ()) -> Table:
    """A table of goals; those of a quick run, whose volumes are small, are left open."""
    notes = list(notes)
    if setting.quick:
        rows = [{**row, "met": None} for row in rows]
        notes.append("A quick run: the goals are for larger volumes.")
    return Table(title, COLUMNS, rows, PLOT, notes)
