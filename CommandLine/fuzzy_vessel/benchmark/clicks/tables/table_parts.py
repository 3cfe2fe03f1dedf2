"""What the click tables have in common: notes, rows of means, and plots."""

from collections.abc import Iterable, Sequence

from ...setting import Setting
from .. import cases, sessions
from ..methods import METHODS

MEAN = "mean"
OURS = {name for name in METHODS if name.startswith("ours") or name.endswith("affinity")}
VARIANTS = ["ours-pair-mean", "ours-6-neighbours", "bright-affinity", "itk-affinity"]  # no line
MARKERS = (
    "random-walker and growcut get each click as 3 x 3 x 3 voxels, and what is not brighter than "
    "the median as background."
)


def plot_of_means(keys: Sequence[str], x_name: str, y_name: str) -> dict:
    """A line for each method over some columns of its row of means."""
    return {
        "kind": "columns",
        "series": "method",
        "keys": keys,
        "only": {"case": MEAN},
        "without": VARIANTS,
        "x_name": x_name,
        "y_name": y_name,
        "log": False,
    }


def rows_of_means(rows: Sequence[dict], keys: Iterable[str]) -> list[dict]:
    """A row for each method with the means of some columns over the cases."""
    by_method: dict[str, list[dict]] = {}
    for row in rows:
        by_method.setdefault(row["method"], []).append(row)
    return [
        {
            "case": MEAN,
            "method": name,
            **{key: mean(row.get(key) for row in members) for key in keys},
        }
        for name, members in by_method.items()
    ]


def rows_of_absent(setting: Setting) -> list[dict]:
    """A row for each method that is not installed."""
    return [
        {"case": "-", "method": name, "check": f"{package} is not installed"}
        for name, package in sessions.missing(setting).items()
    ]


def common_notes(setting: Setting) -> list[str]:
    """Notes on the methods' markers, on data that are lacking, and on the device of ours."""
    notes = [MARKERS]
    if setting.quick:
        notes.append("A quick run measures a small phantom alone.")
    elif not cases.has_scans(setting.data):
        notes.append(cases.NO_DATA)
    if setting.no_gpu and (not setting.methods or OURS.intersection(setting.methods)):
        notes.append(f"Ours ran on the CPU: {setting.no_gpu}")
    return notes


def remark(failures: Sequence[str]) -> str | None:
    """What went wrong, in a cell; None if nothing did."""
    return f"failed {len(failures)} times: {failures[0]}"[:120] if failures else None


def mean(values: Iterable[float | None]) -> float | None:
    """Mean of the values that are there; None without any."""
    known = [value for value in values if value is not None]
    return rounded(sum(known) / len(known)) if known else None


def rounded(value: float | None) -> float | None:
    """A share with four digits; None stays None."""
    return None if value is None else round(float(value), 4)
