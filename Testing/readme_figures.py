"""Writes the measured figures in README.md from Resources/benchmarks.

    python Testing/readme_figures.py

A figure stands between `<!-- figures: NAME -->` and `<!-- end of figures -->`; NAME is a function
of this file.
"""

import json
import math
import re
from functools import cache

from support.places import ROOT

README = ROOT / "README.md"
BENCHMARKS = ROOT / "Resources" / "benchmarks"
BLOCK = re.compile(r"(<!-- figures: (\w+) -->\n).*?(<!-- end of figures -->)", re.DOTALL)
METHODS = {
    "ours": "**contrast, the default**",
    "papers-affinity": "affinity to the seeds (papers)",
    "scale-affinity": "affinity of the object scale (`--feature scale`)",
    "vesselness-affinity": "affinity of vesselness (`--feature vesselness`)",
    "halfway": "growing above half the contrast",
    "otsu": "Otsu's threshold, clicked components",
    "growcut": "Grow from seeds (`itk-growcut`)",
    "random-walker": "random walker (scikit-image)",
}
CLICKS = "1", "2", "3", "5", "8"
LIVER_CT, LARGE_PHANTOM = "liver CT, 512x512x129 int16", "liver phantom, 512x512x576 int16"


@cache
def _rows(file: str, table: str) -> list[dict]:
    return json.loads((BENCHMARKS / file).read_text())["tables"][table]["rows"]


def _figure(table: str, work: str) -> str:
    """A figure with its unit, to two digits or to the next whole number."""
    (row,) = (row for row in _rows("h200.json", table) if row["work"] == work)
    return _with_unit(row["figure"], row["unit"])


def _with_unit(value: float, unit: str) -> str:
    if unit == "ms" and value >= 1000:
        value, unit = value / 1000, "s"
    return f"{_short(value)} {unit}"


def _short(value: float) -> str:
    digits = max(0, 1 - math.floor(math.log10(value)))
    return f"{value:.{digits}f}"


def _three_digits(value: float) -> str:
    return f"{value:#.3g}".rstrip(".")


def _table(header: list[str], rows: list[list[str]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"


def clicks() -> str:
    """Mean Dice by the number of clicks."""
    means = {row["method"]: row for row in _rows("clicks.json", "clicks") if row["case"] == "mean"}
    rows = []
    for method, name in METHODS.items():
        if method not in means:
            continue
        mean = means[method]
        cells = [f"{mean[n]:.3f}" for n in CLICKS] + [str(mean["disobeyed"])]
        rows.append([name, *(f"**{c}**" if method == "ours" else c for c in cells)])
    return _table(["clicks", *CLICKS, "clicks not obeyed"], rows)


def harm() -> str:
    """The most that a click lowers the Dice."""
    ours = [row for row in _rows("clicks.json", "clicks") if row["method"] == "ours"]
    worst = -min(row["worst"] for row in ours)
    return (
        f"No click lowers the default's Dice by more than {math.ceil(1000 * worst) / 1000:.3f}.\n"
    )


def seconds_of_clicks() -> str:
    """The first click and the further ones."""
    first, further = f"first click, {LIVER_CT}", f"each further click, {LIVER_CT}"
    large = _figure("segment", f"first click, {LARGE_PHANTOM}")
    return (
        f"A liver CT of 512 x 512 x 129 voxels: the first click takes "
        f"{_figure('segment-cpu', first)} on two cores and each further one "
        f"{_figure('segment-cpu', further)}; on an NVIDIA H200 with its host "
        f"{_figure('segment', first)} and {_figure('segment', further)}, and {large} for the first "
        "click in 512 x 512 x 576 voxels (`--table segment --table segment-cpu`).\n"
    )


def solvers() -> str:
    """The English paper's table."""
    rows = _rows("h200.json", "kfoe-english")
    order = [
        ("kfoe", "CPU"),
        ("cuda-kfoe", "cuda"),
        ("cuda-kfoe-corrected", "cuda"),
        ("exact", "CPU"),
        ("exact", "cuda"),
    ]
    header = ["volume", "`kfoe`, serial", "`cuda-kfoe`", "`cuda-kfoe-corrected`"]
    lines = []
    for volume in dict.fromkeys(row["volume"] for row in rows):
        found = {(r["solver"], r["device"][:4].strip()): r for r in rows if r["volume"] == volume}
        cells = [_solver_cell(found[solver, device[:4]], solver) for solver, device in order]
        lines.append([volume.replace("x", " x "), *cells[:-1], f"**{cells[-1]}**"])
    return _table([*header, "`exact`, CPU", "`exact`, CUDA"], lines)


def _solver_cell(row: dict, solver: str) -> str:
    seconds = row["seconds"]
    short = _with_unit(1000 * seconds, "ms") if seconds < 0.01 else f"{_three_digits(seconds)} s"
    return f"{short}, {row['errors']:,} errors" if solver.startswith("cuda-") else short


def vessel_tree() -> str:
    """The connectedness and the skeleton on the GPU."""

    def table(work: str) -> str:
        return _figure("connectedness", work)

    tree = table("exact full scene: vessel tree, 512x512x576 int16")
    memory = table("memory on the GPU").replace("per", "a")
    tube = "whole skeleton, level 2: tube of 256x256x487"
    vein = "skeleton of the vessels of a liver: portal vein of the CT, 512x512x129"
    on_gpu, on_cpu = (
        [_figure(name, work) for work in (tube, vein)] for name in ("skeleton", "skeleton-cpu")
    )
    return (
        f"A vessel tree in noise of 512 x 512 x 576 voxels takes {tree} on that GPU in {memory}, "
        f"{table('from numpy arrays to numpy arrays')} from numpy arrays to numpy arrays "
        f"({table('from numpy arrays into a given one')} with `out`). The skeleton of a tube of "
        f"256 x 256 x 487 voxels takes {on_gpu[0]} ({on_cpu[0]} on two cores), of the portal vein "
        f"of a liver CT {on_gpu[1]} ({on_cpu[1]}).\n"
    )


def other_programs() -> str:
    """The steps that a person waits for, beside other programs."""
    steps: dict[str, dict[str, str]] = {}
    for row in _rows("h200.json", "peers-steps"):
        program = row["program"].split()[0]
        if program == "ours":
            program = "GPU" if row["device"].startswith("cuda") else "CPU"
        steps.setdefault(row["step"], {})[program] = _with_unit(1000 * row["seconds"], "ms")
    clicks, lines = steps["clicks to segment"], steps["segment to centrelines"]
    return (
        f"Beside other programs on that CT, same machine, warm (`--table peers-steps`): five "
        f"clicks to segment {clicks['GPU']} ({clicks['CPU']} on 16 cores), Grow from seeds "
        f"{clicks['itk-growcut']}; segment to centrelines {lines['GPU']} ({lines['CPU']}), brook "
        f"on the same GPU {lines['brook-cu12']}, VMTK {lines['vmtk']}, kimimaro "
        f"{lines['kimimaro']}.\n"
    )


FIGURES = (clicks, harm, seconds_of_clicks, solvers, vessel_tree, other_programs)


def with_figures(text: str) -> str:
    """The text with today's figures; fails where a block has no function or is missing."""
    by_name = {function.__name__: function for function in FIGURES}
    named = [name for _, name, _ in BLOCK.findall(text)]
    if sorted(named) != sorted(by_name):
        raise SystemExit(f"README.md has the figures {named}, this program {sorted(by_name)}.")
    return BLOCK.sub(lambda found: found[1] + by_name[found[2]]() + found[3], text)


if __name__ == "__main__":
    README.write_text(with_figures(README.read_text()))
