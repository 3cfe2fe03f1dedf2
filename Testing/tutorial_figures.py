"""The figures of the tutorial on real scans: the same steps on scans with expert masks.

    python Testing/tutorial_figures.py /path/to/data [CASE ...]

The folder holds the scans that `Testing/conftest.py` names (FUZZY_VESSEL_DATA); a row of the table
in Documentation/SAMPLE_DATA.md a case. Everything is on the CPU, with the defaults of the panels.
"""

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

import tutorial_pictures

CT = "ircadb01_01_ct.nrrd"
PORTAL, BRANCH = "portal vein, main trunk", "portal branch inside liver"
CAVA, HEPATIC, AORTA = "inferior vena cava", "hepatic vein inside liver", "aorta"
WILLIS = ("internal carotid, low-I side", "internal carotid, high-I side", "basilar artery")
HEAD = ("left internal carotid", "right internal carotid", "basilar artery")
SMALL_ISLAND = 27


@dataclass(frozen=True)
class Case:
    """Which points of a scan, and what its result is compared with.

    Attributes
    ----------
    scan : str
    seeds, background : tuple of str
        Labels in seeds.json.
    mask : str
        File that the search stays inside; empty for none.
    truth : tuple of str
        Files of expert masks, taken together; inside the mask where there is one.
    model : str
    """

    scan: str
    seeds: tuple[str, ...]
    background: tuple[str, ...] = ()
    mask: str = ""
    truth: tuple[str, ...] = ()
    model: str = "contrast"


LIVER = "ircadb01_01_liver.nrrd"
VEINS = ("ircadb01_01_portalvein.nrrd", "ircadb01_01_venoussystem.nrrd")
CASES = {
    "portal vein, one click": Case(CT, (PORTAL,), truth=VEINS[:1]),
    "portal vein, two clicks": Case(CT, (PORTAL, BRANCH), truth=VEINS[:1]),
    "portal vein, two clicks, others as Not vessel": Case(
        CT, (PORTAL, BRANCH), (CAVA, HEPATIC, AORTA), truth=VEINS[:1]
    ),
    "vessels in the liver, inside its mask": Case(CT, (BRANCH, HEPATIC), mask=LIVER, truth=VEINS),
    "aorta, one click": Case(CT, (AORTA,), truth=("ircadb01_01_artery.nrrd",)),
    "aorta, one click, model affinity": Case(
        CT, (AORTA,), truth=("ircadb01_01_artery.nrrd",), model="affinity"
    ),
    "abdominal aorta, MRA": Case("aorta_mra.mha", ("abdominal aorta, widest point",)),
    "circle of Willis, MRA": Case("circle_of_willis_mra_small.nrrd", WILLIS),
    "head, time of flight": Case("head_mra_oblique.nii.gz", HEAD),
}


def figures(folder: Path, case: Case) -> dict[str, Any]:
    """Run a case; returns the columns of its row."""
    import slicer

    from fuzzy_vessel.reading.volumes import read_mask, read_volume
    from FuzzyConnectedGPULib import SegmentOptions, segment
    from PotentialSkeletonLib import skeletonize

    known = json.loads((folder / "seeds.json").read_text(encoding="utf-8"))[case.scan]
    places = {
        each["label"]: each["ijk"][::-1]
        for kind in ("seeds", "background_seeds", "background")
        for each in known.get(kind, ())
    }
    node = read_volume(folder / case.scan)
    volume, spacing = slicer.util.arrayFromVolume(node), node.GetSpacing()[::-1]

    def mask_of(name: str) -> np.ndarray:
        return slicer.util.arrayFromVolume(read_mask(folder / name)) > 0

    inside = mask_of(case.mask) if case.mask else None
    began = perf_counter()
    found = segment(
        volume,
        [places[name] for name in case.seeds],
        spacing=spacing,
        background_seeds=[places[name] for name in case.background] or None,
        mask=inside,
        device="cpu",
        options=SegmentOptions(model=case.model),
    )
    labels, seconds = found.labels > 0, perf_counter() - began
    skeleton = skeletonize(labels, spacing, device="cpu", drop_islands=SMALL_ISLAND)
    row = {
        "ml": np.count_nonzero(labels) * float(np.prod(spacing)) / 1000,
        "strength": float(found.threshold),
        "branches": len(skeleton.branches),
        "loops": int(skeleton.report["skeleton_cycles"]),
        "seconds": seconds,
    }
    if case.truth:
        truth = np.any([mask_of(name) for name in case.truth], axis=0)
        truth = truth & inside if inside is not None else truth
        both = np.count_nonzero(labels & truth)
        row["recall"] = both / np.count_nonzero(truth)
        row["precision"] = both / max(1, np.count_nonzero(labels))
        row["dice"] = 2 * both / (np.count_nonzero(labels) + np.count_nonzero(truth))
    return row


def _text(value: Any) -> str:
    return f"{value:.3g}" if isinstance(value, float) else str(value)


def main() -> None:
    """Print the table."""
    from fuzzy_vessel.slicer_host import headless

    folder, chosen = Path(sys.argv[1]), sys.argv[2:] or list(CASES)
    columns = ("ml", "dice", "recall", "precision", "branches", "loops", "seconds")
    print("| case | " + " | ".join(columns) + " |\n|" + " --- |" * (len(columns) + 1))
    for name in chosen:
        headless.start().clear()
        row = figures(folder, CASES[name])
        texts = [_text(row.get(key, "")) for key in columns]
        print(f"| {name} | " + " | ".join(texts) + " |", flush=True)


if __name__ == "__main__":
    sys.path[:0] = [str(tutorial_pictures.ROOT / name) for name in tutorial_pictures.PLACES]
    main()
