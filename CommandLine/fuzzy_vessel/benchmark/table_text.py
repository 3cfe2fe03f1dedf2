"""Tables as text. A library (rich, tabulate) would save five of these lines."""

from typing import Any

from .results import Table


def as_text(value: Any) -> str:
    """Return a value with three significant digits and thousands apart."""
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        if value == 0 or 1e-3 <= abs(value) < 100:
            return f"{value:.3g}"
        return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.1e}"
    return str(value)


def markdown(table: Table) -> str:
    """Return the table in Markdown."""
    cells = [list(table.columns.values()), ["---"] * len(table.columns)]
    cells += [[as_text(row.get(key)) for key in table.columns] for row in table.rows]
    lines = ["| " + " | ".join(line) + " |" for line in cells]
    return "\n".join([f"**{table.title}**", "", *lines, "", *(f"{note}  " for note in table.notes)])


def plain_text(table: Table) -> str:
    """Return the table for a terminal."""
    cells = [list(table.columns.values())]
    cells += [[as_text(row.get(key)) for key in table.columns] for row in table.rows]
    widths = [max(len(line[n]) for line in cells) for n in range(len(table.columns))]
    lines = ["  ".join(f"{cell:<{w}}" for cell, w in zip(line, widths)).rstrip() for line in cells]
    return "\n".join([table.title, *lines, *table.notes, ""])
