"""The table of recall by the radius of vessels, after the last click."""

from ...results import Table
from ...setting import Setting
from .. import sessions
from ..radius import BINS
from .table_parts import common_notes, plot_of_means, rounded, rows_of_absent, rows_of_means

NOTE = (
    "After {count} clicks of the simulated person. A voxel's radius is that of the largest ball "
    "which fits into the known vessels and holds it, in units of the smallest spacing. A method "
    "that floods the image has a high recall, too: its precision is in the table clicks."
)


def by_radius(setting: Setting) -> Table:
    """Recall of thin and of wide vessels."""
    count = sessions.click_count(setting)
    rows = [_row(outcome) for outcome in sessions.outcomes(setting)]
    columns = {"case": "case", "method": "method"}
    columns |= {name: f"radius {name}" for name in BINS} | {"check": "remark"}
    return Table(
        f"Interactive segmentation: recall by radius of vessels, after {count} clicks",
        columns,
        rows + rows_of_means(rows, BINS) + rows_of_absent(setting),
        plot_of_means(list(BINS), "radius", "recall"),
        [NOTE.format(count=count), *common_notes(setting)],
    )


def _row(outcome):
    recall = {name: rounded(value) for name, value in zip(BINS, outcome.recall)}
    return {"case": outcome.case, "method": outcome.method, **recall, "voxels": outcome.sizes}
