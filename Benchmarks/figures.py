"""Writes the measured figures in README.md: `python -m Benchmarks.figures`.

A figure stands between `<!-- figures: NAME -->` and `<!-- end of figures -->`; NAME is a function
of this file, which reads Resources/benchmarks/measured.json.
"""

import math
import re
from functools import cache
from pathlib import Path

from .frame import Table, read_json

ROOT = Path(__file__).resolve().parents[1]
README = ROOT / "README.md"
MEASURED = ROOT / "Resources" / "benchmarks" / "measured.json"
BLOCK = re.compile(r"(<!-- figures: (\w+) -->\n).*?(<!-- end of figures -->)", re.DOTALL)
METHODS = {
    "ours": "**contrast, the default**",
    "papers-affinity": "affinity to the seeds (papers)",
    "halfway": "growing above half the contrast",
    "otsu": "Otsu's threshold, clicked components",
    "growcut": "Grow from seeds (`itk-growcut`)",
}
CLICKS = "1", "2", "3", "5", "8"


@cache
def _measured() -> dict[str, tuple[Table, dict]]:
    return read_json(MEASURED)


def _rows(name: str) -> list[dict]:
    return _measured()[name][0].rows


def _card(name: str) -> str:
    card = _measured()[name][1]["card"]  # such as "cuda:0 (NVIDIA H200)"
    return card.split("(")[-1].rstrip(")") if card else "no GPU"


def _seconds(table: str, work: str, device: str = "") -> str:
    """Of the first row whose work begins so, on a device with that name."""
    for row in _rows(table):
        if row["work"].startswith(work) and device in row["device"]:
            return _time(row["seconds"])
    raise SystemExit(f"{MEASURED.name} has no row {work!r} on {device!r} in {table!r}.")


def _time(seconds: float) -> str:
    """Two digits, or whole numbers, in ms or s."""
    value, unit = (seconds, "s") if seconds >= 1 else (1000 * seconds, "ms")
    return f"{value:.{max(0, 1 - math.floor(math.log10(value)))}f} {unit}"


def _table(header: list[str], rows: list[list[str]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"


def clicks() -> str:
    """Mean Dice by the number of clicks, and the most that one click lowers it."""
    rows = []
    for row in (row for row in _rows("clicks") if row["case"] == "mean"):
        cells = [f"{row[n]:.3f}" for n in CLICKS] + [str(row["disobeyed"])]
        if row["method"] == "ours":
            worst, cells = -row["worst"], [f"**{cell}**" for cell in cells]
        rows.append([METHODS[row["method"]], *cells])
    harm = f"No click lowers the default's Dice by more than {math.ceil(1000 * worst) / 1000:.3f}."
    return _table(["clicks", *CLICKS, "clicks not honoured"], rows) + f"\n{harm}\n"


def seconds_of_clicks() -> str:
    """The first click, and on the card the further ones."""
    card = _card("segment")
    cpu = _seconds("segment", "first click, liver CT", "CPU")
    first, further = (
        _seconds("segment", f"{n} click, liver CT", card) for n in ("first", "further")
    )
    large = _seconds("segment", "first click, liver phantom", card)
    return (
        f"A liver CT of 512 x 512 x 129 voxels: the first click takes {cpu} on two cores, and "
        f"{first} on an {card} with its host, where each further one takes {further}; {large} for "
        "the first click in 512 x 512 x 576 voxels (`python -m Benchmarks segment`).\n"
    )


def large_volumes() -> str:
    """A large vessel tree and the skeletons."""
    card = _card("connectedness")
    tree = next(r for r in _rows("connectedness") if r["work"].startswith("numpy to numpy"))
    on_card = _seconds("connectedness", "on the card: vessel tree", card)
    names = "skeleton: tube", "skeleton: portal vein"
    tube, vein = ([_seconds("skeleton", n, d) for d in (card, "CPU")] for n in names)
    return (
        f"A vessel tree in noise of 512 x 512 x 576 voxels takes {on_card} on that GPU, in "
        f"{tree['bytes_per_voxel']:.1f} bytes a voxel, {_time(tree['seconds'])} from numpy arrays "
        f"to numpy arrays. The skeleton of a tube of 256 x 256 x 487 voxels "
        f"takes {tube[0]} ({tube[1]} on two cores), of the portal vein of a liver CT {vein[0]} "
        f"({vein[1]}).\n"
    )


FIGURES = (clicks, seconds_of_clicks, large_volumes)


def with_figures(text: str) -> str:
    """The text with the measured figures; fails where a block has no function or is missing."""
    by_name = {function.__name__: function for function in FIGURES}
    named = [name for _, name, _ in BLOCK.findall(text)]
    if sorted(named) != sorted(by_name):
        raise SystemExit(f"README.md has the figures {named}, this program {sorted(by_name)}.")
    return BLOCK.sub(lambda found: found[1] + by_name[found[2]]() + found[3], text)


if __name__ == "__main__":
    README.write_text(with_figures(README.read_text()))
