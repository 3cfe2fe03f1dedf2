"""The table of Dice by clicks, with all measures after the last one."""

from ...results import Table
from ...setting import Setting
from .. import sessions
from .table_parts import common_notes, plot_of_means, remark, rounded, rows_of_absent, rows_of_means

SHOWN = (1, 2, 3, 5, 8)
PROTOCOL = (
    "A simulated person clicks the deepest voxel of the largest error; it reacts to each method's "
    "own result, as is usual for interactive segmentation, so that only the first click is the "
    "same for all."
)
READING = (
    "Recall to surface Dice (within one voxel) are those after {count} clicks. Not obeyed: clicks "
    "that the result contradicts, counted anew after each click. Worst step: the largest fall of "
    "Dice by one click. Rows of means have sums of clicks not obeyed and of seconds, and the worst "
    "of all steps. clDice needs scikit-image."
)
LAST = {
    "recall": "recall",
    "precision": "precision",
    "cldice": "clDice",
    "surface": "surface Dice",
}


def by_clicks(setting: Setting) -> Table:
    """Ours and the other methods, clicked by the simulated person."""
    count = sessions.click_count(setting)
    shown = [str(number) for number in SHOWN if number <= count]
    rows = [_row(outcome, shown) for outcome in sessions.outcomes(setting)]
    columns = {
        "case": "case",
        "method": "method",
        **{number: f"Dice after {number}" for number in shown},
        "disobeyed": "not obeyed",
        "worst": "worst step",
        **LAST,
        "seconds": "seconds",
        "check": "remark",
    }
    return Table(
        f"Interactive segmentation: Dice by clicks, up to {count}",
        columns,
        rows + _summaries(rows, shown) + rows_of_absent(setting),
        plot_of_means(shown, "clicks", "Dice"),
        [PROTOCOL, READING.format(count=count), *common_notes(setting)],
    )


def _row(outcome, shown):
    session = outcome.session
    last = session.clicks[-1].scores
    return {
        "case": outcome.case,
        "method": outcome.method,
        **{number: rounded(session.dice_after(int(number))) for number in shown},
        "disobeyed": session.disobeyed,
        "worst": rounded(session.worst_change),
        **{key: rounded(last[key]) for key in LAST},
        "seconds": session.seconds,
        "check": remark([click.failure for click in session.clicks if click.failure]),
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
        **{key: rounded(value) for key, value in click.scores.items()},
    }


def _summaries(rows, shown):
    """Means; of clicks not obeyed and seconds the sums, of the steps the worst."""
    means = rows_of_means(rows, [*shown, *LAST])
    for row in means:
        members = [other for other in rows if other["method"] == row["method"]]
        row["disobeyed"] = sum(other["disobeyed"] for other in members)
        row["worst"] = min(other["worst"] for other in members)
        row["seconds"] = sum(other["seconds"] for other in members)
    return means
