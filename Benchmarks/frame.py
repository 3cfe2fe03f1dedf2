"""What every table shares: the setting, medians, the JSON file, Markdown and plots."""

import json
import os
import platform
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np

PATIENCE = 60.0  # seconds after which a slow run is not repeated again


@dataclass
class Table:
    """A table: heading of each column by the key of its rows, rows, notes, and how it is drawn.

    `plot` is {"kind": "bars", "label", "group", "value", "log"}, or {"kind": "lines", "series",
    "x", "y", "log"} for a line a series, or {"kind": "columns", "series", "keys"} for a line over
    some columns of each row.
    """

    title: str
    columns: dict
    rows: list
    notes: list = field(default_factory=list)
    plot: dict = field(default_factory=dict)


@dataclass
class Setting:
    """What the tables run on.

    Attributes
    ----------
    cuda : str
        The CUDA device as the library is asked for it; empty without one.
    card : str
        Its name.
    data : Path or None
        Folder with `ircadb01_01_*.nrrd`, `seeds.json` and `vessels/*.npz`.
    quick : bool
        Small volumes, to see that all runs.
    repeats : int
        Runs after the warm-up, of which the median is taken.
    """

    cuda: str = ""
    card: str = ""
    data: Path | None = None
    quick: bool = False
    repeats: int = 7

    def size(self, *full: int) -> tuple[int, ...]:
        """A volume's size (K, J, I), an eighth of it along each axis for a quick run."""
        return tuple(max(n // 8, 12) for n in full) if self.quick else full

    @property
    def devices(self) -> list[str]:
        """The devices to compare: the CPU, and the card if there is one."""
        return ["cpu", *([self.cuda] if self.cuda else [])]

    def name(self, device: str) -> str:
        """A device as rows name it."""
        return f"CPU, {cores()} cores" if device == "cpu" else self.card


def cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


# numba reads the number of cores whenever it compiles, and fails where `two_cores` changed it.
os.environ.setdefault("NUMBA_NUM_THREADS", str(cores()))


@contextmanager
def two_cores() -> Iterator[None]:
    """Run on two cores, where the system can say so."""
    if not hasattr(os, "sched_setaffinity"):
        yield
        return
    import numba

    before, threads = os.sched_getaffinity(0), numba.get_num_threads()
    os.sched_setaffinity(0, sorted(before)[:2])
    numba.set_num_threads(min(2, threads))
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)
        numba.set_num_threads(threads)


def measure(run: Callable[[], Any], repeats: int, warm: bool = True) -> tuple[float, Any]:
    """Median seconds of `repeats` runs after a warm-up (fewer of slow ones), and a result."""
    begin = perf_counter()
    result = run() if warm else None
    if warm and perf_counter() - begin > PATIENCE:
        return perf_counter() - begin, result
    seconds: list[float] = []
    while len(seconds) < repeats and sum(seconds) < PATIENCE:
        result = None  # two results are never held at a time
        begin = perf_counter()
        result = run()
        seconds.append(perf_counter() - begin)
    return median(seconds), result


def make_setting(device: str, data: str | None, quick: bool, repeats: int) -> Setting:
    """The setting of a command line."""
    from FuzzyVesselCoreLib.gpu.device import choose_device

    chosen = choose_device(device)
    folder = Path(data) if data else None
    if folder and not folder.is_dir():
        raise SystemExit(f"{folder}: there is no such folder.")
    if chosen == "cpu":
        return Setting(data=folder, quick=quick, repeats=repeats)
    return Setting(f"cuda:{chosen.ordinal}", chosen.name, folder, quick, repeats)


def environment(setting: Setting) -> dict:
    """The machine that the figures come from."""
    import numba

    names = Path("/proc/cpuinfo")
    lines = names.read_text().splitlines() if names.is_file() else []
    models = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    driver = Path("/sys/module/nvidia/version")
    return {
        "card": setting.card,
        "driver": driver.read_text().strip() if driver.is_file() else "",
        "cpu": models[0] if models else platform.processor(),
        "cores": cores(),
        "quick": setting.quick,
        "date": datetime.now(UTC).date().isoformat(),
        "versions": {
            "python": platform.python_version(),
            "numpy": np.__version__,
            "numba": numba.__version__,
        },
    }


def described(machine: dict) -> str:
    """One line on a machine."""
    quick = ", quick" if machine.get("quick") else ""
    return f"{machine.get('card') or 'no GPU'}, {machine['cpu']}, {machine['cores']} cores{quick}"


def write_json(path: Path, machine: dict, name: str, table: Table) -> None:
    """Add a table to a file; each table keeps the machine that it was measured on."""
    content = json.loads(path.read_text()) if path.exists() else {"tables": {}}
    content["tables"][name] = asdict(table) | {"environment": machine}
    text = json.dumps(content, indent=1, ensure_ascii=False, default=_plain) + "\n"
    partial = path.with_name(path.name + ".part")
    partial.write_text(text)
    os.replace(partial, path)


def read_json(path: Path) -> dict[str, tuple[Table, dict]]:
    """Tables of a file, each with its machine."""
    content = json.loads(path.read_text())
    found = {}
    for name, each in content["tables"].items():
        machine = each.pop("environment", None) or content.get("environment", {})
        found[name] = Table(**each), machine
    return found


def _plain(value: Any) -> Any:
    return value.tolist() if isinstance(value, np.ndarray | np.generic) else str(value)


def markdown(table: Table) -> str:
    """The table as Markdown, with its notes."""
    lines = [list(table.columns.values()), ["---"] * len(table.columns)]
    lines += [[shown(row.get(key)) for key in table.columns] for row in table.rows]
    body = "\n".join("| " + " | ".join(line) + " |" for line in lines)
    return "\n\n".join([f"### {table.title}", body, *table.notes])


def shown(value: Any) -> str:
    """A cell: four digits of a number, nothing for None."""
    if value is None:
        return ""
    if isinstance(value, float | np.floating):
        return f"{value:,.4g}" if abs(value) < 1000 else f"{value:,.0f}"
    return f"{value:,}" if isinstance(value, int | np.integer) else str(value)


def draw(table: Table, machine: dict, path: Path) -> bool:
    """Draw the table's plot into an SVG file; False where it has none."""
    rows = [row for row in table.rows if _drawable(table.plot, row)]
    if not table.plot or not rows:
        return False
    import matplotlib

    matplotlib.use("Agg")
    matplotlib.rcParams |= {"svg.hashsalt": "fuzzy-vessel", "font.size": 9}
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(7.5, 4.2), layout="constrained")
    {"bars": _bars, "lines": _lines, "columns": _columns}[table.plot["kind"]](axes, table, rows)
    axes.set_title(table.title, fontsize=10)
    axes.spines[["top", "right"]].set_visible(False)
    figure.text(0.99, 0.005, described(machine), ha="right", fontsize=6, color="#667")
    figure.savefig(path, metadata={"Date": None})
    pyplot.close(figure)
    return True


def _drawable(plot: dict, row: dict) -> bool:
    if all(row.get(key) == value for key, value in plot.get("only", {}).items()):
        return any(row.get(plot.get(key)) is not None for key in ("value", "y")) or "keys" in plot
    return False


def _bars(axes: Any, table: Table, rows: list) -> None:
    plot = table.plot
    labels = [f"{row.get(plot.get('group'), '')}  {row[plot['label']]}".strip() for row in rows]
    series = [str(row[plot["label"]]) for row in rows]
    colours = {name: f"C{n % 10}" for n, name in enumerate(dict.fromkeys(series))}
    values = [row[plot["value"]] for row in rows]
    places = np.arange(len(rows))[::-1]
    axes.barh(places, values, color=[colours[name] for name in series])
    axes.set_yticks(places, labels, fontsize=min(8, 260 / len(rows)))
    for place, value in zip(places, values, strict=True):
        axes.annotate(f" {shown(value)}", (value, place), va="center", fontsize=7)
    axes.set_xlabel(table.columns[plot["value"]])
    if plot.get("log"):
        axes.set_xscale("log")
    axes.margins(x=0.12)


def _lines(axes: Any, table: Table, rows: list) -> None:
    plot = table.plot
    for name in dict.fromkeys(row[plot["series"]] for row in rows):
        own = [row for row in rows if row[plot["series"]] == name]
        axes.plot([r[plot["x"]] for r in own], [r[plot["y"]] for r in own], "o-", label=name)
    axes.set(xlabel=table.columns[plot["x"]], ylabel=table.columns[plot["y"]])
    _finish_lines(axes, plot)


def _columns(axes: Any, table: Table, rows: list) -> None:
    plot = table.plot
    for row in rows:
        values = [row.get(key) for key in plot["keys"]]
        axes.plot([str(key) for key in plot["keys"]], values, "o-", label=row[plot["series"]])
    axes.set(xlabel=plot.get("x_name", ""), ylabel=plot.get("y_name", ""))
    _finish_lines(axes, plot)


def _finish_lines(axes: Any, plot: dict) -> None:
    if plot.get("log"):
        axes.set_yscale("symlog" if plot.get("zero") else "log")
    axes.grid(alpha=0.25)
    axes.legend(fontsize=7, frameon=False)
