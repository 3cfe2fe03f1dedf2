"""Plots of lines: series of rows over a column, or rows over some of their columns."""

from collections.abc import Sequence
from typing import Any

from .bar_plots import COLOURS
from .plots import GRID, HEAD, INK, MARGIN, WIDTH, axes_at, decades, new_figure, plain_numbers
from .results import Table

PANEL, LOW_PANEL, PANEL_GAP = 300, 220, 44  # pixels
MAX_MARKED = 40  # points of a line that are marked by dots
MAX_TICKS = 10
# Name of a line: points (place on the x axis, value).
Series = dict[str, list[tuple[int, float]]]


def lines(table: Table, plot: dict) -> Any:
    """Draw a line for each series of rows."""
    rows = [row for row in table.rows if row.get(plot["y"])]
    if not rows:
        return None
    places = list(dict.fromkeys(row[plot["x"]] for row in rows))
    keys = [plot["y"], *([plot["second"]] if plot.get("second") else [])]
    panels = []
    for key in keys:
        series: Series = {}
        for row in rows:
            points = series.setdefault(_series_of(row, rows, plot), [])
            if row.get(key) is not None:
                points.append((places.index(row[plot["x"]]), row[key]))
        panels.append((table.columns[key], series))
    return _panels(table.columns[plot["x"]], places, panels, bool(plot.get("log")))


def columns(table: Table, plot: dict) -> Any:
    """Draw a line for each row, over some of its columns."""
    only = plot.get("only", {}).items()
    rows = [row for row in table.rows if all(row.get(key) == value for key, value in only)]
    rows = [row for row in rows if row[plot["series"]] not in plot.get("without", ())]
    keys = plot["keys"]
    if not any(row.get(key) is not None for row in rows for key in keys):
        return None
    series = {
        row[plot["series"]]: [(n, row[key]) for n, key in enumerate(keys) if row[key] is not None]
        for row in rows
    }
    return _panels(plot["x_name"], keys, [(plot["y_name"], series)], bool(plot["log"]))


def _panels(
    x_name: str, places: Sequence[Any], panels: list[tuple[str, Series]], logarithmic: bool
) -> Any:
    """Panels below each other with a common x axis; the first may be logarithmic."""
    height = PANEL if len(panels) == 1 else LOW_PANEL
    figure = new_figure(HEAD + len(panels) * (height + PANEL_GAP) + 40)
    for number, (y_name, series) in enumerate(panels):
        top = HEAD + 18 + number * (height + PANEL_GAP)
        axes = axes_at(figure, MARGIN + 62, top, WIDTH - MARGIN - 190, top + height)
        for colour, (name, points) in zip(COLOURS * len(series), series.items()):
            marker = "o" if len(points) <= MAX_MARKED else ""
            x, y = zip(*points) if points else ((), ())
            axes.plot(x, y, color=colour, lw=2, marker=marker, ms=5, label=name, clip_on=False)
        axes.grid(axis="y", color=GRID)
        axes.set_title(y_name, loc="left", x=-0.08, pad=12, fontsize=12, color=INK, weight="bold")
        axes.set_xlim(-0.4, len(places) - 0.6)
        _scale_y(axes, y_name, series, logarithmic and number == 0)
        step = max(1, len(places) // (MAX_TICKS - 1)) if len(places) > MAX_TICKS else 1
        axes.set_xticks(range(0, len(places), step), [str(place) for place in places[::step]])
        if number == 0:
            axes.legend(loc="upper left", bbox_to_anchor=(1.02, 1.02), frameon=False)
    axes.set_xlabel(x_name)
    return figure


def _scale_y(axes, name, series, logarithmic):
    from matplotlib.ticker import MaxNLocator, PercentFormatter, StrMethodFormatter

    values = [value for points in series.values() for _, value in points]
    if not logarithmic:
        axes.set_ylim(0, None)
        axes.yaxis.set_major_locator(MaxNLocator(4))
        axes.set_ylim(0, axes.get_yticks()[-1])
        percent = name == "occupancy"
        axes.yaxis.set_major_formatter(
            PercentFormatter(1) if percent else StrMethodFormatter("{x:,g}")
        )
        return
    low, high = decades(value for value in values if value > 0)
    if 0 in values:
        axes.set_yscale("symlog", linthresh=low)
        axes.set_ylim(0, high)
    else:
        axes.set_yscale("log")
        axes.set_ylim(low, high)
    plain_numbers(axes.yaxis)


def _series_of(row, rows, plot):
    """The row's series, with its device where it was measured on the CPU and on a GPU."""
    name = row[plot["series"]]
    on_cpu = {str(r.get("device", "")).startswith("CPU") for r in rows if r[plot["series"]] == name}
    if len(on_cpu) < 2:
        return name
    return f"{name}, {'CPU' if str(row['device']).startswith('CPU') else 'GPU'}"
