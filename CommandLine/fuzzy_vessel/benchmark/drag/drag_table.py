"""The table of a dragged point: time of each step, stage by stage, on a scene with slice views."""

from collections.abc import Iterator
from contextlib import nullcontext

import numpy as np

from FuzzyConnectedGPULib.cached_connectedness import CachedConnectedness
from FuzzyVesselCoreLib.errors import InputError
from FuzzyVesselCoreLib.phantom.image import HEPATIC
from FuzzyVesselCoreLib.phantom.liver import liver_phantom

from ...pictures import offscreen
from ...reading.formats.nrrd import read_voxels
from ..clicks.reference_cases import LIVER_CT
from ..results import Table
from ..setting import Setting, two_cores
from .drags import drags
from .session import BUSY, SIDE, STAGES, Session

STEPS, QUICK_STEPS = 24, 4
CPU_GOAL, GPU_GOAL = 300.0, 50.0  # ms
# I, J, K, as the data's documentation lists them: portal trunk, portal branch, liver tissue.
CT_SEEDS, CT_BACKGROUND = [(265, 206, 70), (174, 274, 73)], (212, 150, 98)
# Vena cava and hepatic vein; aorta.
CT_OTHERS = [[(232, 242, 17), (191, 252, 108)], [(287, 286, 120)]]
TITLE = "A dragged point: from the event to the slices, ms"
COLUMNS = {
    "case": "case",
    "device": "device",
    "what": "dragged",
    "count": "steps",
    **STAGES,
    "total": "all",
    "longest": "longest",
    BUSY: "busy",
    "goal": "goal",
    "prepared": "prepared",
    "whole": "whole run",
    "equal": "equal",
}
NOTES = [
    "Medians in ms of the steps of a drag. Event: a control point gets another position, and its "
    "observers are told. Points: markups to voxels. Labels: the clicks' rules on kept evidence and "
    "paths. Segment: labels into the segment of the preview. Slices: three views of "
    f"{SIDE} x {SIDE} pixels drawn and read back by Slicer's displayable managers.",
    "Busy: time of all cores and threads of the process together, whatever else the machine does.",
    "Not included: the Qt window round the views, and the hand-over between the window's thread "
    "and that of the labels (at most 8 ms).",
    "Prepared: what all steps share, computed once for a scan, before the first drag. Whole run: "
    "the same clicks without what the drag keeps, but with kept evidence.",
    "Several vessels: portal veins, hepatic veins with the vena cava, and the aorta, two, two and "
    "one point; on the phantom portal and hepatic veins.",
    "Equal: steps whose labels are those of the whole run, voxel by voxel; while the first point "
    "is dragged, of the run with the evidence from where the drag began.",
]


def by_drag(setting: Setting) -> Table:
    """Each kind of point dragged, on two cores of the CPU and on the GPU where there is one."""
    from FuzzyConnectedGPULib.contrast.warm_up import try_out
    from FuzzyConnectedGPULib.several.live import warm_up

    from ...slicer_host import headless

    notes, rows, draws = list(NOTES), [], True
    try:
        headless.start()
    except InputError as error:
        return Table(TITLE, COLUMNS, [], {}, [str(error), *filter(None, [setting.no_gpu])])
    try:
        offscreen.prepare_drawing()
    except offscreen.CannotRender as error:
        draws = False
        notes.append(f"Slices are not included: {error}.")
    notes += filter(None, [setting.no_gpu])
    try_out()  # as when the module is entered
    warm_up.try_out()
    for device, goal in (("cpu", CPU_GOAL), (setting.gpu and setting.cuda, GPU_GOAL)):
        if device:
            setting.tell(f"drag on {device}")
            with two_cores() if device == "cpu" else nullcontext():
                rows += list(_rows(setting, device, goal, draws))
    return Table(TITLE, COLUMNS, rows, {}, notes)


def _case(setting: Setting) -> tuple[str, np.ndarray, tuple[float, ...], list, tuple, list]:
    folder = None if setting.quick else setting.data
    if folder is not None and (folder / f"{LIVER_CT}_ct.nrrd").is_file():
        volume, spacing = read_voxels(folder / f"{LIVER_CT}_ct.nrrd")
        clicks = [seed[::-1] for seed in CT_SEEDS]
        others = [[seed[::-1] for seed in each] for each in CT_OTHERS]
        return LIVER_CT, volume, tuple(spacing), clicks, CT_BACKGROUND[::-1], others
    made = liver_phantom(setting.sizes.liver)
    seeds = made.seeds[:2].tolist()
    seeds = [tuple(seed) for seed in seeds]
    background = tuple(map(int, made.background_seeds[0]))
    veins = [each.points for each in made.centrelines if each.tree == HEPATIC]
    other = tuple(int(c) for c in np.round(veins[0][len(veins[0]) // 2]))
    return "phantom", made.volume, tuple(made.spacing), seeds, background, [[other]]


def _rows(setting: Setting, device: str, goal: float, draws: bool) -> Iterator[dict]:
    name, volume, spacing, seeds, background, others = _case(setting)
    steps = QUICK_STEPS if setting.quick else STEPS
    kept = CachedConnectedness()
    for drag in drags(seeds, background, others, volume.shape, spacing, steps):
        session = Session(volume, spacing, drag, device, draws, kept)
        try:
            row = session.measured()
        finally:
            session.close()
        row |= {"case": name, "device": device, "goal": None if setting.quick else goal}
        yield row
