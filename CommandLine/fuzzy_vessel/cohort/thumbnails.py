"""A page with the pictures of all cases, to look through them in a browser."""

from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import Any

from ..writing.nodes import PICTURE, SKELETON_PICTURE

PAGE = "cases.html"
STYLE = (
    "body { font-family: sans-serif; margin: 2em; } "
    "section { display: inline-block; width: 30em; margin: 0 1em 2em 0; vertical-align: top; } "
    "h2 { font-size: 1.1em; margin: 0; overflow-wrap: anywhere; } "
    "p { margin: 0.3em 0; } .failed { color: #b00020; } img { width: 100%; }"
)


def page(folder: Path, rows: Sequence[dict[str, Any]]) -> str:
    """The page (HTML) of a cohort's table; pictures are named relative to the folder.

    A case's name is a plain file name (`case_list.NAME`), so it can stand in an address.
    """
    sections = "\n".join(_section(folder, row) for row in rows)
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head><meta charset="utf-8" />'
        f"<title>Cases</title><style>{STYLE}</style></head>\n"
        f"<body>\n<h1>{len(rows)} cases</h1>\n{sections}\n</body>\n</html>\n"
    )


def _section(folder: Path, row: dict[str, Any]) -> str:
    name = row["case"]
    if row.get("volume_ml") is None:
        said = f'<p class="failed">{escape(row["status"])}: {escape(row["error"] or "")}</p>'
        return f"<section><h2>{escape(name)}</h2>{said}</section>"
    said = (
        f"<p>{row['volume_ml']:.3g} ml, {row['length_mm']:.4g} mm in {row['branches']} branches, "
        f"threshold {row['threshold']:.3g}, {row['warnings']} warnings</p>"
    )
    pictures = [file for file in (PICTURE, SKELETON_PICTURE) if (folder / name / file).exists()]
    images = "".join(
        f'<a href="{escape(name)}/{file}"><img src="{escape(name)}/{file}" '
        f'alt="{escape(name)}" loading="lazy" /></a>'
        for file in pictures
    )
    return f"<section><h2>{escape(name)}</h2>{said}{images}</section>"
