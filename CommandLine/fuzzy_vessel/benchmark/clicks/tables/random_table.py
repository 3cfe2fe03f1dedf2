"""The table of random first clicks: how much the place of a click matters."""

from ...results import Table
from ...setting import Setting
from .. import sessions
from .table_parts import common_notes, plot_of_means, remark, rounded, rows_of_absent, rows_of_means

COLUMNS = {"lowest": "lowest Dice", "mean": "mean Dice", "highest": "highest Dice"}
NOTE = (
    "One click, at each of {count} random places in the vessels: a voxel each, the same for all "
    "methods and in every run. Rows of means are means of each column."
)


def by_first_click(setting: Setting) -> Table:
    """Dice after one click at random places in the vessels."""
    rows = [_row(found) for found in sessions.first_clicks(setting)]
    columns = {"case": "case", "method": "method"}
    columns |= COLUMNS | {"seconds": "seconds", "check": "remark"}
    return Table(
        "Interactive segmentation: Dice of one random click",
        columns,
        rows + rows_of_means(rows, COLUMNS) + rows_of_absent(setting),
        plot_of_means(list(COLUMNS), "first click", "Dice"),
        [NOTE.format(count=sessions.random_count(setting)), *common_notes(setting)],
    )


def _row(found):
    dice = found.dice
    return {
        "case": found.case,
        "method": found.method,
        "lowest": rounded(min(dice)) if dice else None,
        "mean": rounded(sum(dice) / len(dice)) if dice else None,
        "highest": rounded(max(dice)) if dice else None,
        "seconds": found.seconds,
        "check": remark(found.failures),
        "dice": [rounded(value) for value in dice],
    }
