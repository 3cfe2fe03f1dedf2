"""A scene in which a point is dragged, step by step, with a clock at each stage."""

from statistics import median
from time import perf_counter, process_time
from typing import Any

import numpy as np

from FuzzyConnectedGPULib import binarize, segment
from FuzzyConnectedGPULib.cached_connectedness import CachedConnectedness
from FuzzyConnectedGPULib.contrast import contrast_connectedness

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
