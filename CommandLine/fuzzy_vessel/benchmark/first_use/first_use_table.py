"""Tables of the first use: seconds to the first result, and seconds of compiling by function."""

import json
import tempfile
from contextlib import AbstractContextManager, ExitStack
from typing import Any

from ..connectedness.fresh_process import output_of
from ..goals import Goal
from ..results import Table
from ..setting import Setting, two_cores
from .first_run import ALONE

CODE = "import sys; from {module} import main; main(*sys.argv[1:])"
GOALS = {"connectedness": Goal(8, "s"), "skeleton": Goal(15, "s")}
LEAD = 10.0  # seconds from entering a module to Apply: a volume is chosen and a point is placed
EMPTY, ENTERED = "caches empty", f"caches empty, module entered {LEAD:g} s before"
SINGLE = "caches empty, one thread compiles"
KEPT, AGAIN = "caches of the run before", "once more in that process"
# When the work begins (see `first_run`), and whether the cache of the state before is kept.
STATES = {
    SINGLE: (ALONE, False),
    ENTERED: (str(LEAD), False),
    EMPTY: ("0", False),
    KEPT: ("0", True),
}
COLUMNS = {
    "work": "first result of",
    "state": "state",
    "figure": "s",
    "cpu": "CPU s",
    "compiling": "compiling in it, CPU s",
    "functions": "functions compiled",
    "goal": "goal",
    "met": "met",
    "check": "result",
}
FUNCTION_COLUMNS = {
    "work": "first result of",
    "function": "function",
    "parallel": "parallel",
    "versions": "versions",
    "seconds": "s",
    "cpu": "CPU s",
}
LISTED = 40  # functions of each work
NOTE = (
    "From the call to the result, in a process of its own on two cores; CPU seconds count the "
    "processes that compile for it, too, and hardly change where other programs share the cores."
)


def first_use(setting: Setting) -> Table:
    """Seconds from the call to the first result, with empty caches and with those of a run."""
    rows = [row for work in GOALS for row in _rows(work, _found(setting)[work], setting.quick)]
    plot = {"kind": "bars", "label": "state", "value": "figure", "unit": "s", "group": "work"}
    return Table("First use on two cores", COLUMNS, rows, plot, [NOTE])


def compilation(setting: Setting) -> Table:
    """Seconds of compiling by function, without those of the functions that it calls."""
    rows = []
    for work, runs in _found(setting).items():
        functions = runs[SINGLE]["functions"]
        names = sorted(functions, key=lambda name: -functions[name]["cpu"])
        rows += [{"work": work, "function": name, **functions[name]} for name in names[:LISTED]]
        rest = [functions[name] for name in names[LISTED:]]
        rows += [_sum(work, f"{len(rest)} others", rest)] if rest else []
        rows.append(_sum(work, f"all {len(names)}", functions.values()))
    return Table("Compiling in the first run, by function", FUNCTION_COLUMNS, rows, {}, [NOTE])


def new_cache() -> AbstractContextManager[str]:
    """A folder for caches that is empty, and is removed afterwards."""
    return tempfile.TemporaryDirectory()


def _found(setting: Setting) -> dict[str, dict[str, Any]]:
    """What processes tell, by work and state; measured once for both tables."""
    found: dict[str, dict[str, Any]] = setting.found.setdefault("first use", {})
    for work in GOALS:
        if work in found:
            continue
        found[work] = {}
        with ExitStack() as caches, two_cores():
            for state, (when, is_kept) in STATES.items():
                if not is_kept:
                    cache = caches.enter_context(new_cache())
                setting.tell(f"First {work}, {state}")
                found[work][state] = _in_fresh_process(setting, work, when, cache)
    return found


def _in_fresh_process(setting: Setting, work: str, when: str, cache: str) -> dict[str, Any]:
    code = CODE.format(module=f"{__package__}.first_run")
    folder = str(setting.data or "")
    shape = [str(size) for size in setting.sizes.liver]
    told = json.loads(output_of(code, [work, when, folder, *shape], cache))
    assert isinstance(told, dict)
    return told


def _rows(work: str, runs: dict[str, Any], quick: bool) -> list[dict]:
    rows = []
    for state, told in runs.items():
        compiled = _sum(work, state, told["functions"].values())
        row = _row(work, state, told["first"], told["result"])
        row |= {"compiling": compiled["cpu"], "functions": compiled["versions"]}
        if state in (EMPTY, ENTERED):
            goal = GOALS[work]
            met = None if quick else goal.met_by(row["figure"])
            row |= {"goal": str(goal), "met": met}
        rows.append(row)
    return [*rows, _row(work, AGAIN, runs[KEPT]["again"], runs[KEPT]["result"])]


def _row(work: str, state: str, seconds: list[float], result: str) -> dict[str, Any]:
    return {
        "work": work, "state": state, "figure": seconds[0], "cpu": seconds[1], "check": result,
    }  # fmt: skip


def _sum(work: str, name: str, functions: Any) -> dict[str, Any]:
    functions = list(functions)
    sums = {key: sum(each[key] for each in functions) for key in ("versions", "seconds", "cpu")}
    return {"work": work, "function": name, "parallel": None, **sums}
