"""Plots of bars: figures beside their goals, and groups of programs."""

import textwrap
from typing import Any

from .plots import (
    FAINT_INK,
    GRID,
    HEAD,
    INK,
    MARGIN,
    WIDTH,
    axes_at,
    decades,
    new_figure,
    plain_numbers,
    text_at,
)
from .results import Table
from .table_text import as_text

MET, MISSED = "#2a9d8f", "#e07a3f"
COLOURS = ("#2a78b8", "#e07a3f", "#2a9d8f", "#9d4edd", "#c9a227", "#d1495b", "#5d6b7a", "#6a994e")
ROW, GROUP_HEAD, GROUP_GAP = 24, 24, 10  # pixels
GOAL_ROW, GOAL_LABEL, GOAL_VALUE = 34, 330, 150
LABEL_LETTERS = 50  # in a line of a goal's label


def goals(table: Table, _: dict) -> Any:
    """Draw bars of the shares of the goals that figures reach; left of the line is better."""
    rows = [row for row in table.rows if row.get("figure") and row.get("limit")]
    if not rows:
        return None
    bottom = HEAD + GOAL_ROW * len(rows)
    figure = new_figure(bottom + 46)
    axes = axes_at(figure, MARGIN + GOAL_LABEL, HEAD, WIDTH - MARGIN - GOAL_VALUE, bottom)
    shares = [_share_of_goal(row) for row in rows]
    low, high = min(*shares, 0.5) / 1.6, max(*shares, 2) * 1.3
    colours = [MET if share <= 1 else MISSED for share in shares]
    places = range(len(rows))
    widths = [share - low for share in shares]
    axes.barh(places, widths, left=low, height=18 / GOAL_ROW, color=colours)
    axes.set(xscale="log", xlim=(low, high), ylim=(len(rows) - 0.5, -0.5), yticks=[])
    axes.axvline(1, color=INK, lw=1.5, ls=(0, (4, 3)))
    axes.set_xticks([1], ["goal"], color=INK, weight="bold", fontsize=12)
    axes.set_xticks([], minor=True)
    for place, row in zip(places, rows):
        middle = HEAD + GOAL_ROW * (place + 0.5)
        label = textwrap.fill(row["work"], LABEL_LETTERS)
        at = (MARGIN + GOAL_LABEL - 12, middle)
        text_at(figure, *at, label, ha="right", va="center", fontsize=11)
        reached = f"{as_text(row['figure'])} {row['unit']}"
        goal = row["goal"].replace("<=", "≤").replace(">=", "≥")
        text_at(figure, WIDTH - MARGIN, middle - 7, reached, ha="right", weight="bold")
        look = {"ha": "right", "fontsize": 11, "color": FAINT_INK}
        text_at(figure, WIDTH - MARGIN, middle + 8, f"goal {goal}", **look)
    text_at(figure, MARGIN + GOAL_LABEL, bottom + 14, "better", color=FAINT_INK)
    text_at(figure, WIDTH - MARGIN - GOAL_VALUE, bottom + 14, "worse", ha="right", color=FAINT_INK)
    note = "Bars: share of the goal, on a logarithmic scale."
    text_at(figure, WIDTH - MARGIN, 54, note, ha="right", fontsize=11, color=FAINT_INK)
    return figure


def bars(table: Table, plot: dict) -> Any:
    """Draw bars of one column in groups, on a logarithmic scale."""
    rows = [row for row in table.rows if row.get(plot["value"])]
    if not rows:
        return None
    groups: dict[str, list[dict]] = {}
    for row in rows:
        groups.setdefault(_group_of(row, plot), []).append(row)
    height = len(groups) * (GROUP_HEAD + GROUP_GAP) + ROW * len(rows)
    figure = new_figure(HEAD + height + 30)
    axes = axes_at(figure, MARGIN + 190, HEAD, WIDTH - MARGIN - 110, HEAD + height)
    low, high = decades(row[plot["value"]] for row in rows)
    axes.set(xscale="log", xlim=(low, high), ylim=(height, 0), yticks=[])
    axes.grid(axis="x", color=GRID)
    names = list(dict.fromkeys(row[plot["label"]] for row in rows))
    y = 0.0
    for group, members in groups.items():
        text_at(figure, MARGIN, HEAD + y + GROUP_HEAD / 2, group, weight="bold")
        y += GROUP_HEAD
        for row in members:
            middle, value = y + ROW / 2, row[plot["value"]]
            colour = COLOURS[names.index(row[plot["label"]]) % len(COLOURS)]
            axes.barh(middle, value - low, left=low, height=15, color=colour)
            text = f"{as_text(value)} {plot['unit']}"
            beside = {"textcoords": "offset points", "va": "center_baseline"}
            axes.annotate(text, (value, middle), (6, 0), annotation_clip=False, **beside)
            look = {"ha": "right", "color": FAINT_INK}
            text_at(figure, MARGIN + 180, HEAD + middle, _bar_name(row, rows, plot), **look)
            y += ROW
        y += GROUP_GAP
    plain_numbers(axes.xaxis)
    return figure


def _share_of_goal(row):
    """Below 1 where the goal is met."""
    reached = row["figure"] / row["limit"]
    return 1 / reached if row["goal"].startswith(">") else reached


def _group_of(row, plot):
    name = str(row[plot["group"]])
    return f"{name}, seed {row['seed']}" if row.get("seed") else name


def _bar_name(row, rows, plot):
    """The row's name, with its device where it was measured on the CPU and on a GPU."""
    name = row[plot["label"]]
    on_cpu = [_is_cpu(other) for other in rows if other[plot["label"]] == name]
    both = any(on_cpu) and not all(on_cpu)
    return f"{name} (CPU)" if both and _is_cpu(row) and "CPU" not in name else name


def _is_cpu(row):
    return str(row.get("device", "")).startswith("CPU")
