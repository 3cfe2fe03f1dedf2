"""The three click tables: Dice by clicks, Dice of random first clicks, and recall by radius."""

from ..results import Table
from . import cases, radius, sessions

SHOWN = (1, 2, 3, 5, 8)
MEAN = "mean"
PROTOCOL = (
    "A simulated person clicks the deepest voxel of the largest error; it reacts to each method's "
    "own result, as is usual for interactive segmentation, so that only the first click is the "
    "same for all."
)
MARKERS = (
    "random-walker and growcut get each click as 3 x 3 x 3 voxels, and what is not brighter than "
    "the median as background."
)
LAST = {
    "recall": "recall",
    "precision": "precision",
    "cldice": "clDice",
    "surface": "surface Dice",
}


def clicks(setting):
    """Dice after some clicks, and all measures after the last one."""
    count = sessions.click_count(setting)
    shown = [number for number in SHOWN if number <= count]
    found = sessions.outcomes(setting)
    rows = [_click_row(outcome, shown) for outcome in found]
    rows += [_click_means(rows, name) for name in _names(rows)]
    columns = {
        "case": "case",
        "method": "method",
        **{str(number): f"Dice after {number}" for number in shown},
        "disobeyed": "not obeyed",
        "worst": "worst step",
        **LAST,
        "seconds": "seconds",
        "check": "remark",
    }
    notes = [
        PROTOCOL,
        MARKERS,
        f"Recall to surface Dice (within one voxel) are those after {count} clicks; not obeyed: "
        "clicks that the result contradicts, counted anew after each click; worst step: the "
        "largest fall of Dice by one click. Rows of means have sums of clicks not obeyed and of "
        "seconds, and the worst of all steps. clDice needs scikit-image.",
        *_common_notes(setting),
    ]
    rows += _absent(setting)
    plot = _plot([str(number) for number in shown], "clicks", "Dice")
    return Table(
        f"Interactive segmentation: Dice by clicks, up to {count}", columns, rows, plot, notes
    )


def _click_row(outcome, shown):
    session = outcome.session
    failures = [click.failure for click in session.clicks if click.failure]
    last = session.clicks[-1].scores
    return {
        "case": outcome.case,
        "method": outcome.method,
        **{str(number): _rounded(session.dice_after(number)) for number in shown},
        "disobeyed": session.disobeyed,
        "worst": _rounded(session.worst_change),
        **{key: _rounded(last[key]) for key in LAST},
        "seconds": session.seconds,
        "check": _failures(failures),
        "clicks": [_details(click) for click in session.clicks],
    }


def _details(click):
    """A click for the JSON file."""
    return {
        "voxel": list(click.voxel),
        "vessel": click.is_vessel,
        "seconds": click.seconds,
        "disobeyed": click.disobeyed,
        "failure": click.failure,
        **{key: _rounded(value) for key, value in click.scores.items()},
    }


def _click_means(rows, name):
    rows = [row for row in rows if row["method"] == name]
    numbers = [key for key in rows[0] if key.isdigit()]
    return {
        "case": MEAN,
        "method": name,
        **{key: _mean(rows, key) for key in (*numbers, *LAST)},
        "disobeyed": sum(row["disobeyed"] for row in rows),
        "worst": min(row["worst"] for row in rows),
        "seconds": sum(row["seconds"] for row in rows),
    }


def random_clicks(setting):
    """Dice after one click at random places in the vessels."""
    rows = [_random_row(found) for found in sessions.first_clicks(setting)]
    rows += [
        {"case": MEAN, "method": name, **{key: _mean(rows_of, key) for key in RANDOM}}
        for name in _names(rows)
        for rows_of in [[row for row in rows if row["method"] == name]]
    ]
    notes = [
        "One click at ten random places in the vessels (a voxel each, the same for all methods; "
        "two places with --quick). Rows of means are means of each column.",
        MARKERS,
        *_common_notes(setting),
    ]
    columns = {
        "case": "case",
        "method": "method",
        **RANDOM,
        "seconds": "seconds",
        "check": "remark",
    }
    plot = _plot(list(RANDOM), "first click", "Dice")
    title = "Interactive segmentation: Dice of one random click"
    return Table(title, columns, rows + _absent(setting), plot, notes)


RANDOM = {"lowest": "lowest Dice", "mean": "mean Dice", "highest": "highest Dice"}


def _random_row(found):
    dice = found.dice
    return {
        "case": found.case,
        "method": found.method,
        "lowest": _rounded(min(dice)) if dice else None,
        "mean": _rounded(sum(dice) / len(dice)) if dice else None,
        "highest": _rounded(max(dice)) if dice else None,
        "seconds": found.seconds,
        "check": _failures(found.failures),
        "dice": [_rounded(value) for value in dice],
    }


def by_radius(setting):
    """Recall after the last click by the radius of vessels."""
    rows = []
    for outcome in sessions.outcomes(setting):
        recall = {name: _rounded(value) for name, value in zip(radius.BINS, outcome.recall)}
        row = {"case": outcome.case, "method": outcome.method, **recall, "sizes": outcome.sizes}
        rows.append(row)
    rows += [
        {"case": MEAN, "method": name, **{key: _mean(rows_of, key) for key in radius.BINS}}
        for name in _names(rows)
        for rows_of in [[row for row in rows if row["method"] == name]]
    ]
    count = sessions.click_count(setting)
    notes = [
        f"After {count} clicks of the simulated person. A voxel's radius is that of the largest "
        "ball which fits into the known vessels and holds it, in units of the smallest spacing.",
        MARKERS,
        *_common_notes(setting),
    ]
    headings = {name: f"radius {name}" for name in radius.BINS}
    columns = {"case": "case", "method": "method", **headings, "check": "remark"}
    title = f"Interactive segmentation: recall by radius of vessels, after {count} clicks"
    plot = _plot(list(radius.BINS), "radius", "recall")
    return Table(title, columns, rows + _absent(setting), plot, notes)


def _plot(keys, x_name, y_name):
    """A line for each method's means."""
    return {
        "kind": "columns",
        "series": "method",
        "keys": keys,
        "only": {"case": MEAN},
        "x_name": x_name,
        "y_name": y_name,
        "log": False,
    }


def _common_notes(setting):
    notes = [] if setting.data and not setting.quick else [cases.NO_DATA]
    return notes + ([f"Ours ran on the CPU: {setting.no_card}"] if setting.no_card else [])


def _absent(setting):
    return [
        {"case": "-", "method": name, "check": f"{package} is not installed"}
        for name, package in sessions.missing(setting).items()
    ]


def _failures(failures):
    if not failures:
        return None
    return f"failed {len(failures)} times: {failures[0]}"[:120]


def _names(rows):
    return list(dict.fromkeys(row["method"] for row in rows))


def _mean(rows, key):
    values = [row[key] for row in rows if row.get(key) is not None]
    return _rounded(sum(values) / len(values)) if values else None


def _rounded(value):
    return None if value is None else round(float(value), 4)
