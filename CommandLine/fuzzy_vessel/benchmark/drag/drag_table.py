"""The table of a dragged point: time of each step, stage by stage, on a scene with slice views."""

from collections.abc import Iterator
from contextlib import nullcontext
from statistics import median
from time import perf_counter, process_time
from typing import Any

import numpy as np

from FuzzyConnectedGPULib import segment
from FuzzyConnectedGPULib.cached_connectedness import CachedConnectedness
from FuzzyVesselCoreLib.errors import InputError
from FuzzyVesselCoreLib.phantom.liver import liver_phantom

from ...pictures import offscreen
from ...reading.formats.nrrd import read_voxels
from ..clicks.reference_cases import LIVER_CT
from ..results import Table
from ..setting import Setting, two_cores
from .drags import Drag, drags

STEPS, QUICK_STEPS = 24, 4
CPU_GOAL, GPU_GOAL = 300.0, 50.0  # ms
SIDE = 512  # pixels of each view
# I, J, K, as the data's documentation lists them: portal trunk, portal branch, liver tissue.
CT_SEEDS, CT_BACKGROUND = [(265, 206, 70), (174, 274, 73)], (212, 150, 98)
STAGES = {
    "event": "event",
    "points": "points",
    "labels": "labels",
    "segment": "segment",
    "slices": "slices",
}
TITLE = "A dragged point: from the event to the slices, ms"
BUSY = "busy"  # time of all cores together
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
    "Equal: steps whose labels are those of the whole run, voxel by voxel; while the first point "
    "is dragged, of the run with the evidence from where the drag began.",
]


def by_drag(setting: Setting) -> Table:
    """Each kind of point dragged, on two cores of the CPU and on the GPU where there is one."""
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
    for device, goal in (("cpu", CPU_GOAL), (setting.gpu and setting.cuda, GPU_GOAL)):
        if device:
            setting.tell(f"drag on {device}")
            with two_cores() if device == "cpu" else nullcontext():
                rows += list(_rows(setting, device, goal, draws))
    return Table(TITLE, COLUMNS, rows, {}, notes)


def _case(setting: Setting) -> tuple[str, np.ndarray, tuple[float, ...], list, tuple]:
    folder = None if setting.quick else setting.data
    if folder is not None and (folder / f"{LIVER_CT}_ct.nrrd").is_file():
        volume, spacing = read_voxels(folder / f"{LIVER_CT}_ct.nrrd")
        clicks = [seed[::-1] for seed in CT_SEEDS]
        return LIVER_CT, volume, tuple(spacing), clicks, CT_BACKGROUND[::-1]
    made = liver_phantom(setting.sizes.liver)
    seeds = made.seeds[:2].tolist()
    seeds = [tuple(seed) for seed in seeds]
    background = tuple(map(int, made.background_seeds[0]))
    return "phantom", made.volume, tuple(made.spacing), seeds, background


def _rows(setting: Setting, device: str, goal: float, draws: bool) -> Iterator[dict]:
    name, volume, spacing, seeds, background = _case(setting)
    steps = QUICK_STEPS if setting.quick else STEPS
    for drag in drags(seeds, background, volume.shape, spacing, steps):
        session = Session(volume, spacing, drag, device, draws)
        try:
            row = session.measured()
        finally:
            session.close()
        row |= {"case": name, "device": device, "goal": None if setting.quick else goal}
        yield row


class Session:
    """A scene with a volume, points, slice views and a preview, in which one point is dragged."""

    def __init__(
        self, volume: np.ndarray, spacing: tuple, drag: Drag, device: str, draws: bool
    ) -> None:
        import slicer

        from FuzzyConnectedGPUMRML.live.label_preview import LabelPreview
        from FuzzyConnectedGPUMRML.live.live_clicks import LiveClicks
        from FuzzyVesselCoreLib.mrml.new_points import add_points

        from .slice_views import ORIENTATIONS, SliceView

        slicer.mrmlScene.Clear(0)
        self._volume, self._spacing, self._drag, self._device = volume, spacing, drag, device
        k, j, i = spacing
        self._node = slicer.util.addVolumeFromArray(volume, np.diag([-i, -j, k, 1.0]), "CT")
        self._node.CreateDefaultDisplayNodes()
        seeds = add_points(np.array(drag.seeds), self._node, "Vessels")
        others = add_points(np.array(drag.background), self._node, "Background")
        self._moved = others if drag.of_background else seeds
        self._kept = CachedConnectedness()
        self._run(drag.seeds, drag.background)
        region = dict(maskNode=None, maskSegmentID="", roiNode=None)
        self._live = LiveClicks(self._node, seeds, others, self._kept, region, device=device)
        self._evidence = self._kept._evidence._evidence
        self._preview = LabelPreview("preview")
        self._views = [SliceView(each, self._node, SIDE) for each in ORIENTATIONS if draws]
        self._events = 0
        self._moved.AddObserver(self._moved.PointModifiedEvent, self._on_event)

    def _on_event(self, caller: Any, event: Any) -> None:
        self._events += 1

    def _run(self, seeds: list, background: list) -> np.ndarray:
        options: dict = dict(spacing=self._spacing, device=self._device, cached=self._kept)
        return segment(self._volume, seeds, background_seeds=background, **options).labels

    def measured(self) -> dict:
        """Medians of the steps, and of the whole runs beside."""
        begin = perf_counter()
        self._live.prepare()
        prepared = perf_counter() - begin
        for at in self._drag.way[:2]:  # compiles, and makes what is made once
            self._step(at)
        steps, wholes, equal = [], [], 0
        for number, at in enumerate(self._drag.way):
            stages, labels = self._step(at)
            steps.append(stages)
            if number % 4 == 0:
                begin = perf_counter()
                same = np.array_equal(labels, self._whole(at))
                wholes.append(perf_counter() - begin)
                equal += same
        totals = [sum(stages[name] for name in STAGES) for stages in steps]
        row: dict = {
            name: 1e3 * median(stages[name] for stages in steps) for name in (*STAGES, BUSY)
        }
        return {
            **row,
            "what": self._drag.what,
            "count": len(steps),
            "total": 1e3 * median(totals),
            "longest": 1e3 * max(totals),
            "prepared": 1e3 * prepared,
            "whole": 1e3 * median(wholes),
            "equal": f"{equal} of {len(wholes)}",
            "steps": [{key: 1e3 * value for key, value in stages.items()} for stages in steps],
        }

    def _step(self, at: tuple[int, ...]) -> tuple[dict[str, float], np.ndarray]:
        from FuzzyVesselCoreLib.mrml.reading import ijk_to_ras

        world = (ijk_to_ras(self._node) @ [*at[::-1], 1])[:3]
        times, busy = [perf_counter()], process_time()
        before = self._events
        self._moved.SetNthControlPointPositionWorld(self._drag.index, world)
        times.append(perf_counter())
        if self._events == before:
            raise RuntimeError("the point told nobody that it was moved")
        points = self._live.points()
        times.append(perf_counter())
        found = self._live.labels(points)
        times.append(perf_counter())
        self._preview.show(found.labels, found.box, self._live.frame)
        times.append(perf_counter())
        for view in self._views:
            view.draw()
        times.append(perf_counter())
        busy = process_time() - busy
        labels = np.zeros(self._volume.shape, np.uint8)
        labels[found.box] = found.labels
        stages = dict(zip(STAGES, np.diff(times).tolist()))
        return {**stages, BUSY: busy}, labels

    def _whole(self, at: tuple[int, ...]) -> np.ndarray:
        """Labels of a whole run with the point at a voxel, on the evidence of the drag."""
        drag = self._drag
        seeds, background = list(drag.seeds), list(drag.background)
        (background if drag.of_background else seeds)[drag.index] = at
        from FuzzyConnectedGPULib import binarize
        from FuzzyConnectedGPULib.contrast import contrast_connectedness

        def kept(*arguments: Any) -> Any:
            gpu = arguments[-1]
            return self._evidence if self._evidence.serves(gpu) else self._evidence.to_host()

        scene, threshold = contrast_connectedness(
            self._volume,
            np.array(seeds),
            spacing=self._spacing,
            background_seeds=np.array(background),
            device=self._device,
            find_evidence=kept,
        )
        return binarize(scene, threshold)

    def close(self) -> None:
        self._preview.drop()
        for view in self._views:
            view.close()
