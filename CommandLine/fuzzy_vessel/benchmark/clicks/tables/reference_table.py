"""The table of documented clicks: Dice against references, by border."""

from time import perf_counter

import numpy as np

from ...results import Table
from ...setting import Setting
from .. import sessions
from ..measures import dice, share
from ..ours import Ours
from ..peers.thresholds import halfway
from ..reference_cases import reference_cases
from .table_parts import common_notes, rounded

BONE = 350  # HU, above which nothing in the liver CT is a vessel
METHODS = {
    "ours": lambda device: Ours(device),
    "ours, border half": lambda device: Ours(device, border="half"),
    "halfway": lambda device: halfway,
}
NOTES = [
    "The documented clicks of each case at once: the phantom's seeds; a portal branch and a "
    "hepatic vein of the liver CT; both iliac arteries of the aorta.",
    "Aorta: only the box of VMTK's surface counts, as the surface ends there. Liver CT without a "
    "mask: Dice and recall inside the liver, precision of the whole result against all portal, "
    "venous and arterial voxels.",
    "Halfway: the clicked components above the mean of the clicks' intensity and the median.",
]


def by_reference(setting: Setting) -> Table:
    """Every case with its documented clicks."""
    folder = None if setting.quick else setting.data
    rows = []
    for reference in reference_cases(folder, (setting.sizes.cube,) * 3):
        for name, make in METHODS.items():
            setting.tell(f"{name}, {reference.case.name}")
            rows.append(_row(reference, name, make(sessions.device(setting))))
    columns = {"case": "case", "method": "method", "dice": "Dice", "recall": "recall"}
    columns |= {"precision": "precision", "voxels": "voxels", "bone": f"above {BONE} HU"}
    columns |= {"seconds": "seconds"}
    return Table(
        "Documented clicks against references", columns, rows, {}, NOTES + common_notes(setting)[1:]
    )


def _row(reference, name, method):
    case, counted, vessels = reference.case, reference.counted, reference.vessels
    begin = perf_counter()
    found = method(case.volume, reference.clicks, [], case.mask, case.spacing)
    seconds = perf_counter() - begin
    part = found if counted is None else found & counted
    bone = int((case.volume[found] > BONE).sum()) if "ircadb" in case.name else None
    return {
        "case": case.name,
        "method": name,
        "dice": rounded(dice(part, case.truth)),
        "recall": rounded(share(case.truth, part)),
        "precision": rounded(share(part, case.truth) if vessels is None else share(found, vessels)),
        "voxels": int(np.count_nonzero(found)),
        "bone": bone,
        "seconds": seconds,
    }
