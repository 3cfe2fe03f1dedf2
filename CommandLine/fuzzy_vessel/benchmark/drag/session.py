"""A scene in which a point is dragged, step by step, with a clock at each stage."""

from statistics import median
from time import perf_counter, process_time
from typing import Any

import numpy as np

from FuzzyConnectedGPULib import segment, segment_several
from FuzzyConnectedGPULib.cached_connectedness import CachedConnectedness
from FuzzyConnectedGPULib.contrast.kept_evidence import KeptEvidence

from .drags import Drag

SIDE = 512  # pixels of each view
STAGES = {
    "event": "event",
    "points": "points",
    "labels": "labels",
    "segment": "segment",
    "slices": "slices",
}
BUSY = "busy"  # time of all cores together


class _EvidenceOfStart(KeptEvidence):
    """The evidence with which a drag began, wherever the first point is by now."""

    def __init__(self, evidence: Any) -> None:
        super().__init__()
        self._evidence = evidence

    def find(self, *arguments: Any) -> Any:
        """That evidence, where the run is."""
        gpu = arguments[-1]
        return self._evidence if self._evidence.serves(gpu) else self._evidence.to_host()


class Session:
    """A scene with a volume, points, slice views and a preview, in which one point is dragged.

    Parameters
    ----------
    volume : ndarray, shape (K, J, I)
    spacing : tuple of 3 float
        K, J, I, in mm.
    drag : Drag
    device : str
    draws : bool
        Whether slices are drawn.
    kept : CachedConnectedness
        Of the sessions before with the same volume.
    """

    def __init__(
        self,
        volume: np.ndarray,
        spacing: tuple,
        drag: Drag,
        device: str,
        draws: bool,
        kept: CachedConnectedness,
    ) -> None:
        import slicer

        from FuzzyConnectedGPUMRML.live.label_preview import LabelPreview
        from FuzzyConnectedGPUMRML.live.live_clicks import LiveClicks
        from FuzzyConnectedGPUMRML.several.live_vessels import LiveVesselClicks
        from FuzzyConnectedGPUMRML.several.vessel_kinds import KINDS
        from FuzzyVesselCoreLib.mrml.new_points import add_points

        from .slice_views import ORIENTATIONS, SliceView

        slicer.mrmlScene.Clear(0)
        self._volume, self._spacing, self._drag, self._device = volume, spacing, drag, device
        k, j, i = spacing
        self._node = slicer.util.addVolumeFromArray(volume, np.diag([-i, -j, k, 1.0]), "CT")
        self._node.CreateDefaultDisplayNodes()
        lists = [
            add_points(np.array(each), self._node, f"Vessel {n}")
            for n, each in enumerate(drag.vessels, 1)
        ]
        others = add_points(np.array(drag.background), self._node, "Background")
        self._moved = others if drag.vessel is None else lists[drag.vessel]
        self._run(drag.vessels, drag.background, kept)
        region = dict(maskNode=None, maskSegmentID="", roiNode=None)
        new: Any = LiveClicks if len(lists) == 1 else LiveVesselClicks
        clicked = lists[0] if len(lists) == 1 else lists
        self._live = new(self._node, clicked, others, kept, region, device=device)
        self._of_start = CachedConnectedness()
        self._of_start._evidence = _EvidenceOfStart(kept._evidence._evidence)
        self._preview = LabelPreview("preview")
        self._looks = [
            (kind.name, kind.color) for kind, _ in zip(KINDS.values(), lists, strict=False)
        ]
        self._views = [SliceView(each, self._node, SIDE) for each in ORIENTATIONS if draws]
        self._events = 0
        self._moved.AddObserver(self._moved.PointModifiedEvent, self._on_event)

    def _on_event(self, caller: Any, event: Any) -> None:
        self._events += 1

    def _run(self, vessels: list, background: list, kept: CachedConnectedness) -> Any:
        """A whole run, with what is kept."""
        options: dict = dict(spacing=self._spacing, device=self._device, cached=kept)
        options["background_seeds"] = background
        if len(vessels) == 1:
            return segment(self._volume, vessels[0], **options)
        named = {str(n): each for n, each in enumerate(vessels)}
        return segment_several(self._volume, named, **options)

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
        ids = [""] * len(self._looks)
        self._preview.show(
            found.labels, found.box, self._live.frame, segment_ids=ids, looks=self._looks
        )
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
        return self._run(*self._drag.at(at), self._of_start).labels

    def close(self) -> None:
        self._preview.drop()
        for view in self._views:
            view.close()
