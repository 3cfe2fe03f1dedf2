"""One plot for each table, as SVG; `Table.plot` says which columns are drawn, and how.

kind "goals": figures beside their goals, on one scale of shares of the goal.
kind "bars": bars in groups, on a logarithmic scale.
kind "lines": series of rows over a column; a second column below it where one is named.
kind "columns": each row is a series over some of its columns; "only" chooses rows by their values.
"""

import math

from .results import as_text
from .svg import GRID, INK, QUIET, Picture

WIDTH, MARGIN, TOP = 860, 28, 84
MET, MISSED = "#2a9d8f", "#e07a3f"
COLOURS = ("#2a78b8", "#e07a3f", "#2a9d8f", "#9d4edd", "#c9a227", "#d1495b", "#5d6b7a", "#6a994e")
LABEL_WIDTH, VALUE_WIDTH = 330, 150
LETTER = 6.6  # width of a letter of size 12, about


def draw(table, machine):
    """The plot of a table as SVG text, or None where it has nothing to draw.

    Parameters
    ----------
    table : Table
    machine : str
        What the figures come from.
    """
    kinds = {"goals": _goals, "bars": _bars, "lines": _lines, "columns": _columns}
    make = kinds.get(table.plot.get("kind"))
    picture = make(table, table.plot) if make else None
    if picture is None:
        return None
    picture.text(MARGIN, 36, table.title, 17, weight=600)
    picture.text(MARGIN, 57, machine, 12, QUIET)
    return str(picture)


# --- bars


def _goals(table, _):
    rows = [row for row in table.rows if row.get("figure") and row.get("limit")]
    if not rows:
        return None
    shares = [_share_of_goal(row) for row in rows]
    low, high = min(*shares, 0.5) / 1.6, max(*shares, 2) * 1.3
    picture = Picture(WIDTH, TOP + 34 * len(rows) + 46)
    left, right = MARGIN + LABEL_WIDTH, WIDTH - MARGIN - VALUE_WIDTH
    scale = _log_scale(low, high, left, right)
    bottom = TOP + 34 * len(rows)
    for n, (row, share) in enumerate(zip(rows, shares)):
        y = TOP + 34 * n
        colour = MET if share <= 1 else MISSED
        _label(picture, row["work"], left - 12, y + 12)
        picture.bar(left, y + 3, scale(share) - left, 18, colour)
        told = f"{as_text(row['figure'])} {row['unit']}"
        picture.text(WIDTH - MARGIN, y + 10, told, 12, INK, "end", 600)
        goal = row["goal"].replace("<=", "≤").replace(">=", "≥")
        picture.text(WIDTH - MARGIN, y + 24, f"goal {goal}", 11, QUIET, "end")
    picture.line(scale(1), TOP - 8, scale(1), bottom, INK, 1.5, "4 3")
    picture.text(scale(1), bottom + 18, "goal", 12, INK, "middle", 600)
    picture.text(left, bottom + 18, "better", 12, QUIET)
    picture.text(right, bottom + 18, "worse", 12, QUIET, "end")
    note = "Bars: share of the goal, on a logarithmic scale."
    picture.text(WIDTH - MARGIN, 57, note, 11, QUIET, "end")
    return picture


def _share_of_goal(row):
    """Below 1 where the goal is met."""
    reached = row["figure"] / row["limit"]
    return 1 / reached if row["goal"].startswith(">") else reached


def _bars(table, plot):
    rows = [row for row in table.rows if row.get(plot["value"])]
    if not rows:
        return None
    groups = {}
    for row in rows:
        groups.setdefault(_group_of(row, plot), []).append(row)
    values = [row[plot["value"]] for row in rows]
    height = sum(34 + 24 * len(members) for members in groups.values())
    picture = Picture(WIDTH, TOP + height + 30)
    left, right = MARGIN + 190, WIDTH - MARGIN - 110
    scale = _log_scale(*_decades(values), left, right)
    names = list(dict.fromkeys(row[plot["label"]] for row in rows))
    _decade_lines(picture, scale, _decades(values), TOP - 6, TOP + height, plot["unit"])
    y = TOP
    for group, members in groups.items():
        picture.text(MARGIN, y + 14, group, 12, weight=600, halo=True)
        y += 24
        for row in members:
            colour = COLOURS[names.index(row[plot["label"]]) % len(COLOURS)]
            where = " (CPU)" if str(row.get("device", "")).startswith("CPU") else ""
            name = row[plot["label"]]
            told = name + (where if "CPU" not in name and _on_both(rows, plot, name) else "")
            picture.text(left - 10, y + 13, told, 12, QUIET, "end")
            end = scale(row[plot["value"]])
            picture.bar(left, y + 2, end - left, 15, colour)
            picture.text(end + 6, y + 14, f"{as_text(row[plot['value']])} {plot['unit']}", 12)
            y += 24
        y += 10
    return picture


def _group_of(row, plot):
    told = str(row[plot["group"]])
    return f"{told}, seed {row['seed']}" if row.get("seed") else told


def _on_both(rows, plot, name):
    """Whether a name stands for runs on the CPU and on a card."""
    kinds = {str(r.get("device", "")).startswith("CPU") for r in rows if r[plot["label"]] == name}
    return len(kinds) == 2


def _label(picture, text, right, y):
    """A label that ends at `right`, on two lines if it is long."""
    most = int((LABEL_WIDTH - 12) / LETTER)
    if len(text) <= most:
        picture.text(right, y + 4, text, 12, INK, "end")
        return
    cut = text.rfind(" ", 0, most)
    picture.text(right, y - 2, text[:cut], 12, INK, "end")
    picture.text(right, y + 12, text[cut + 1 :][:most], 11, QUIET, "end")


# --- lines


def _lines(table, plot):
    rows = [row for row in table.rows if row.get(plot["y"])]
    if not rows:
        return None
    places = list(dict.fromkeys(row[plot["x"]] for row in rows))
    series = {}
    for row in rows:
        series.setdefault(_series_of(row, rows, plot), []).append(row)
    panels = [(plot["y"], table.columns[plot["y"]])]
    if plot.get("second"):
        panels.append((plot["second"], table.columns[plot["second"]]))
    return _panels(table.columns[plot["x"]], places, series, panels, plot)


def _series_of(row, rows, plot):
    name = row[plot["series"]]
    kinds = {str(r.get("device", ""))[:3] for r in rows if r[plot["series"]] == name}
    if len(kinds) < 2:
        return name
    return f"{name}, {'CPU' if str(row['device']).startswith('CPU') else 'card'}"


def _columns(table, plot):
    only = plot.get("only", {}).items()
    rows = [row for row in table.rows if all(row.get(key) == value for key, value in only)]
    if not any(row.get(key) is not None for row in rows for key in plot["keys"]):
        return None
    series = {
        row[plot["series"]]: [{"x": key, "y": row[key]} for key in plot["keys"]] for row in rows
    }
    axes = {"x": "x", "log": plot["log"]}
    return _panels(plot["x_name"], list(plot["keys"]), series, [("y", plot["y_name"])], axes)


def _panels(x_name, places, series, panels, plot):
    """Panels below each other, with common places along the x axis."""
    height = 300 if len(panels) == 1 else 220
    left, right = MARGIN + 62, WIDTH - MARGIN - 190
    picture = Picture(WIDTH, TOP + len(panels) * (height + 30) + 34)
    x_of = _places(places, left, right)
    for n, (key, name) in enumerate(panels):
        top = TOP + 12 + n * (height + 30)
        logarithmic = bool(plot.get("log")) and n == 0
        y_of = _y_axis(picture, series, key, name, (left, right, top, top + height), logarithmic)
        for colour, members in zip(_colours(series), series.values()):
            points = [
                (x_of[row[plot["x"]]], y_of(row[key]))
                for row in members
                if row.get(key) is not None
            ]
            picture.curve(points, colour)
    bottom = TOP + 12 + len(panels) * (height + 30) - 30
    step = max(1, len(places) // 9)
    for place in places[:: step if len(places) > 10 else 1]:
        picture.text(x_of[place], bottom + 18, str(place), 11, QUIET, "middle")
    picture.text((left + right) / 2, bottom + 38, x_name, 12, QUIET, "middle")
    for n, (colour, name) in enumerate(zip(_colours(series), series)):
        y = TOP + 24 + 22 * n
        picture.bar(right + 24, y - 9, 14, 10, colour)
        picture.text(right + 45, y, name, 12)
    return picture


def _colours(series):
    return [COLOURS[n % len(COLOURS)] for n in range(len(series))]


def _places(places, left, right):
    """Where each value of the x axis lies: evenly spaced."""
    step = (right - left - 30) / max(len(places) - 1, 1)
    return {place: left + 15 + n * step for n, place in enumerate(places)}


def _y_axis(picture, series, key, name, frame, logarithmic):
    """Draw the axis; return the function from values to pixels."""
    left, right, top, bottom = frame
    values = [row[key] for members in series.values() for row in members if row.get(key)]
    picture.text(left - 50, top - 14, name, 12, INK, weight=600)
    if logarithmic:
        low, high = _decades(values)
        zeros = any(row.get(key) == 0 for members in series.values() for row in members)
        low = low / 10 if zeros else low  # the lowest line stands for 0
        scale = _log_scale(low, high, bottom, top)
        ticks = [10.0**n for n in range(round(math.log10(low)), round(math.log10(high)) + 1)]
        limited = lambda value: scale(max(value, low))  # noqa: E731 - zero lies at the bottom
    else:
        step = _round_step(max(values, default=1) / 4)
        high = step * math.ceil(max(values, default=1) / step)
        ticks = [n * step for n in range(round(high / step) + 1)]
        limited = lambda value: bottom + (top - bottom) * value / high  # noqa: E731
    for tick in ticks:
        picture.line(left, limited(tick), right, limited(tick))
        told = f"{tick:.0%}" if name == "occupancy" else _of_ten(tick)
        told = "0" if logarithmic and zeros and tick == ticks[0] else told
        picture.text(left - 8, limited(tick) + 4, told, 11, QUIET, "end")
    return limited


# --- scales


def _log_scale(low, high, first, last):
    span = math.log(high / low)
    return lambda value: first + (last - first) * math.log(value / low) / span


def _decades(values):
    """Powers of ten around the values."""
    values = [value for value in values if value > 0] or [1]
    low, high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
    return 10.0**low, 10.0 ** max(high, low + 1)


def _decade_lines(picture, scale, decades, top, bottom, unit):
    low, high = (round(math.log10(end)) for end in decades)
    for power in range(low, high + 1):
        x = scale(10.0**power)
        picture.line(x, top, x, bottom, GRID)
        told = _of_ten(10.0**power) + (f" {unit}" if power == high else "")
        picture.text(x, bottom + 16, told, 11, QUIET, "middle")


def _of_ten(number):
    """A number of an axis."""
    return f"{number:,.10f}".rstrip("0").rstrip(".")


def _round_step(step):
    """The next of 1, 2, 5 times a power of ten."""
    power = 10.0 ** math.floor(math.log10(step))
    return next(n * power for n in (1, 2, 5, 10) if n * power >= step * 0.999)
