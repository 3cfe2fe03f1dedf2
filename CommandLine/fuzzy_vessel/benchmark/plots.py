"""One plot for each table, as SVG; `Table.plot` says which columns are drawn, and how.

kind "goals": figures beside their goals, on one scale of shares of the goal.
kind "bars": bars in groups, on a logarithmic scale.
kind "lines": series of rows over a column; a second column below it where one is named.
kind "columns": each row is a series over some of its columns; "only" chooses rows by their values,
"without" leaves series out.
"""

import io
import math
from collections.abc import Iterable
from typing import Any

from FuzzyVesselCoreLib.errors import InputError

from .results import Table

WIDTH, MARGIN, HEAD = 860, 28, 84  # pixels
POINTS_PER_INCH = 72  # at this resolution a point of matplotlib is a pixel
INK, FAINT_INK, GRID = "#1c2733", "#5d6b7a", "#e3e8ee"
STYLE: Any = {
    "svg.fonttype": "none",  # text stays text
    "svg.hashsalt": "fuzzy-vessel",  # the same figures give the same file
    "axes.edgecolor": GRID,
    "axes.labelcolor": FAINT_INK,
    "font.size": 12,
    "text.color": INK,
    "text.parse_math": False,
    "xtick.color": FAINT_INK,
    "xtick.labelsize": 11,
    "ytick.color": FAINT_INK,
    "ytick.labelsize": 11,
}


def draw(table: Table, machine: str) -> str | None:
    """Draw the plot of a table.

    Parameters
    ----------
    table : Table
    machine : str
        What the figures come from.

    Returns
    -------
    str or None
        SVG; None where there is nothing to draw.

    Raises
    ------
    InputError
        matplotlib is not installed.
    """
    try:
        import matplotlib
    except ImportError as error:
        raise InputError(
            "plots need matplotlib: install it with: pip install 'fuzzy-vessel-gpu[pictures]'"
        ) from error
    from . import bar_plots, line_plots

    kinds = {
        "goals": bar_plots.goals,
        "bars": bar_plots.bars,
        "lines": line_plots.lines,
        "columns": line_plots.columns,
    }
    make = kinds.get(str(table.plot.get("kind")))
    with matplotlib.rc_context(STYLE):
        figure = make(table, table.plot) if make else None
        if figure is None:
            return None
        text_at(figure, MARGIN, 32, table.title, fontsize=16, weight="bold")
        text_at(figure, MARGIN, 54, machine, color=FAINT_INK)
        text = io.StringIO()
        figure.savefig(text, format="svg", metadata={"Date": None, "Creator": None})
    return text.getvalue()


def new_figure(height: float) -> Any:
    """Return an empty Figure of `WIDTH` times `height` pixels."""
    from matplotlib.figure import Figure

    size = (WIDTH / POINTS_PER_INCH, height / POINTS_PER_INCH)
    return Figure(size, dpi=POINTS_PER_INCH, facecolor="white")


def axes_at(figure: Any, left: float, top: float, right: float, bottom: float) -> Any:
    """Return axes without frame between pixels from the upper left corner."""
    height = figure.get_figheight() * POINTS_PER_INCH
    place = (left / WIDTH, 1 - bottom / height, (right - left) / WIDTH, (bottom - top) / height)
    axes = figure.add_axes(place)
    axes.set_axisbelow(True)
    axes.tick_params(which="both", length=0)
    for spine in axes.spines.values():
        spine.set_visible(False)
    return axes


def text_at(figure: Any, x: float, y: float, text: str, **options: Any) -> None:
    """Write a text centred vertically at a pixel from the upper left corner."""
    height = figure.get_figheight() * POINTS_PER_INCH
    figure.text(x / WIDTH, 1 - y / height, text, **{"va": "center_baseline", **options})


def decades(values: Iterable[float]) -> tuple[float, float]:
    """Return the powers of ten round positive values."""
    values = list(values) or [1.0]
    low, high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
    return 10.0**low, 10.0 ** max(high, low + 1)


def plain_numbers(axis: Any) -> None:
    """Write the numbers of a logarithmic axis as 0.01, 1, 1,000."""
    from matplotlib.ticker import FuncFormatter, NullFormatter

    def text(value, _):
        return f"{value:,.10f}".rstrip("0").rstrip(".")

    axis.set_major_formatter(FuncFormatter(text))
    axis.set_minor_formatter(NullFormatter())
