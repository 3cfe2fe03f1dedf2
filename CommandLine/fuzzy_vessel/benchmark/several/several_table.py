"""The table of several vessels: Dice of each by clicks."""

import numpy as np

from ..clicks.measures import dice
from ..clicks.person import deepest_voxel
from ..clicks.tables.table_parts import plot_of_means, rounded, rows_of_means
from ..results import Table
from ..setting import Setting
from .known_vessels import KnownVessels, volumes
from .ways import WAYS, Way

CLICKS = 3
MEANS = [str(count) for count in range(1, CLICKS + 1)]  # of all vessels after so many clicks
NO_DATA = "The phantom alone was measured: --data names no folder with ircadb01_01_*.nrrd."
PROTOCOL = (
    "A simulated person clicks, for each vessel in turn, the deepest voxel of its largest error: "
    "missed voxels get a point of the vessel, voxels of the other vessel a point of that one, and "
    "other false voxels a background point."
)
READING = (
    "Wrong: voxels of a known vessel that the other one has, as a share of all known voxels; the "
    "rest of what Dice lacks is border, and vessels that no way finds."
)


def by_vessels(setting: Setting) -> Table:
    """Portal and hepatic veins with one, two and three clicks each."""
    rows = []
    for known in volumes(None if setting.quick else setting.data, setting.sizes.clicks):
        for name, way in WAYS.items():
            setting.tell(f"{name}, {known.name}")
            rows.append(_clicked(known, name, way(known, "cpu")))
    columns = {
        "case": "case",
        "method": "way",
        **{f"{vessel} {n}": f"{vessel} {n}" for vessel in ("portal", "hepatic")
           for n in range(1, CLICKS + 1)},
        **{count: f"mean {count}" for count in MEANS},
        "wrong": "wrong after 3",
    }  # fmt: skip
    title = f"Several vessels: Dice of each after 1 to {CLICKS} clicks for each"
    rows += rows_of_means(rows, [*MEANS, "wrong"])
    notes = [PROTOCOL, READING]
    if len(rows) == 2 * len(WAYS):
        notes.append(NO_DATA)
    return Table(title, columns, rows, plot_of_means(MEANS, "clicks", "Dice"), notes)


def _clicked(known: KnownVessels, name: str, way: Way) -> dict:
    row: dict = {"case": known.name, "method": name, "clicks": []}
    points: dict[str, list] = {vessel: [] for vessel in known.vessels}
    background: list = []
    labels = np.zeros(known.volume.shape, np.uint8)
    for count in range(1, CLICKS + 1):
        for number, vessel in enumerate(known.vessels, 1):
            owner, voxel = _next(known, labels, vessel, number, first=count == 1)
            target = background if owner is None else points[owner]
            taken = [*background, *(v for each in points.values() for v in each)]
            if voxel is not None and voxel not in taken:
                target.append(voxel)
            row["clicks"].append({"vessel": vessel, "given to": owner, "voxel": voxel})
        labels = way(points, background)
        for number, (vessel, truth) in enumerate(known.vessels.items(), 1):
            row[f"{vessel} {count}"] = rounded(dice(labels == number, truth))
        row[str(count)] = rounded(np.mean([row[f"{vessel} {count}"] for vessel in known.vessels]))
    row["wrong"] = rounded(_wrong(known, labels))
    return row


def _next(
    known: KnownVessels, labels: np.ndarray, vessel: str, number: int, first: bool
) -> tuple[str | None, tuple | None]:
    """Whose point the next click of a vessel is (None: background), and where."""
    truth, found = known.vessels[vessel], labels == number
    missed, missed_size = deepest_voxel(truth & ~found, known.spacing)
    false, false_size = deepest_voxel(found & ~truth, known.spacing)
    if first or missed_size >= false_size:
        return vessel, missed
    for other, its in known.vessels.items():
        if its[false]:
            return other, false
    return None, false


def _wrong(known: KnownVessels, labels: np.ndarray) -> float:
    """The share of known voxels that another vessel has."""
    wrong = total = 0
    for number, truth in enumerate(known.vessels.values(), 1):
        own = labels[truth]
        wrong += int(np.count_nonzero((own > 0) & (own != number)))
        total += own.size
    return wrong / max(total, 1)
