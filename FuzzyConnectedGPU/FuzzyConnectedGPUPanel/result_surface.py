"""The surface of the result in the 3D views: it follows the result, made by a thread."""

from typing import Any

import qt
from slicer.i18n import tr as _

from FuzzyConnectedGPUMRML.views import fit_cameras
from FuzzyVesselCoreLib.mrml import surfaces
from FuzzyVesselCoreLib.widgets.latest_run import LatestRun

LATER = 250  # milliseconds to the next look while a point is held or a run goes on


class SlicerAlone(Exception):
    """A surface that only Slicer's own conversion can make."""


class ResultSurface:
    """The closed surfaces of the result's segments, made when they or "Show in 3D" have changed.

    Until it is made anew the last one stays, so that the 3D views do not blink. What has the voxels
    that it had is not made again. Another module that is opened finds the present ones.
    """

    def __init__(self, panel: Any) -> None:
        self._panel = panel
        self._seen: tuple[Any, bool] | None = None  # segmentation and "Show in 3D", last time
        self._last: dict[tuple[Any, str], tuple[Any, Any]] = {}  # SurfaceInput and vtkPolyData
        self._wanted = False
        self.first = False  # whether it is the first of a volume, which 3D views are centred on
        self._run = LatestRun(self._read, self._compute, self._show, self._fail)
        self._timer = qt.QTimer()
        self._timer.setSingleShot(True)
        self._timer.connect("timeout()", self._begin)

    @property
    def waits(self) -> bool:
        """Whether the surface is still to be made."""
        return bool(self._timer.active) or self._run.pending

    def follow(self, parameters: Any) -> None:
        """Segments were written: their surfaces follow."""
        if parameters.show3D:
            for (segmentation, segment_id), (_read, surface) in self._last.items():
                if segmentation is parameters.segmentation:
                    surfaces.put_surface(segmentation, segment_id, surface)
            self._want()

    def pause(self) -> None:
        """Leave the cores to a point that is dragged; it goes on when that is over."""
        if self._run.pending:
            self._run.stop()
            self._want(LATER)

    def react(self, parameters: Any) -> None:
        """Follow "Show in 3D"; a segmentation that was only chosen stays as it is."""
        segmentation, before = parameters.segmentation, self._seen
        self._seen = (segmentation, parameters.show3D)
        if self._wanted and not self.waits:
            self._want()  # a run ended it, and has written nothing
        if before in (None, self._seen) or before[0] is not segmentation:
            return
        segment_ids = self._panel.output.result_segments(parameters)
        for each in segment_ids if parameters.show3D else ():
            segmentation.GetDisplayNode().SetSegmentVisibility3D(each, True)
        if segment_ids:
            self._want()

    def make(self) -> None:
        """Make the surfaces of the result's segments, or take them away, without a thread."""
        self._timer.stop()
        self._run.stop()
        if not self._parameters().show3D:
            self._take_away()
            return
        try:
            self._show(self._compute(self._read(), lambda _share: True))
        except SlicerAlone as error:
            self._fail(error)

    def finish(self) -> None:
        """Make what is still to be made, without a thread: somebody else may read it now."""
        if self.waits and not self._is_postponed():
            self.make()

    def why_not(self, parameters: Any) -> str:
        """What stands against a surface, as a sentence; or an empty text."""
        node, ids = parameters.segmentation, self._panel.output.result_segments(parameters)
        others = surfaces.without_surface(node, ids[0]) if ids else []
        text = _(
            "The segmentation has no surfaces of {others}: press Show 3D in the module "
            "Segmentations to see all segments."
        )
        return text.format(others=", ".join(others)) if others else ""

    def forget(self) -> None:
        """The segmentation is gone."""
        self._timer.stop()
        self._run.stop()
        self._seen, self._last, self._wanted, self.first = None, {}, False, False

    def _want(self, milliseconds: int = 0) -> None:
        self._wanted = True
        self._timer.setInterval(milliseconds)
        self._timer.start()

    def _begin(self) -> None:
        if self._is_postponed():
            self._want(LATER)
        elif self._panel.parameters is None:  # another module is open, which may read it
            self.make()
        elif self._parameters().show3D:
            self._run.request()
        else:
            self._take_away()

    def _is_postponed(self) -> bool:
        return bool(self._panel.seeds.dragging or self._panel.running.active)

    def _parameters(self) -> Any:
        # The module may have been left since: the parameters are in the scene all the same.
        return self._panel.parameters or self._panel.logic.getParameterNode()

    def _result(self) -> tuple[Any, list[str]]:
        parameters = self._parameters()
        node = parameters.segmentation
        return node, [] if node is None else self._panel.output.result_segments(parameters)

    # --- the steps; `_compute` alone runs in another thread

    def _read(self) -> list[tuple]:
        """Segmentation, segment, state of its voxels, what is read of them, and the last one."""
        node, ids = self._result()
        if not any(surfaces.may_have_surface(node, each) for each in ids):
            return []
        inner, jobs = node.GetSegmentation(), []
        for each in inner.GetSegmentIDs():
            last = self._last.get((node, each), (None, None))
            if surfaces.has_surface(inner.GetSegment(each)) and not (each in ids and last[1]):
                continue  # it is another one's, or of the voxels that are there
            read = surfaces.surface_input(inner, each)
            state = surfaces.surface_state(inner, each)
            if read is None or state is None:
                raise SlicerAlone
            jobs.append((node, each, state, read, last))
        return jobs

    @staticmethod
    def _compute(jobs: list[tuple], progress: Any) -> list[tuple]:
        return [
            (*job[:4], job[4][1] if job[3].is_as(job[4][0]) else job[3].surface(progress))
            for job in jobs
        ]

    def _show(self, jobs: list[tuple]) -> None:
        self._wanted = False
        if not self._parameters().show3D:
            return
        last, self._last = self._last, {}
        for node, segment_id, state, read, made in jobs:
            where, inner = (node, segment_id), node.GetSegmentation()
            now = surfaces.surface_state(inner, segment_id)
            if now == state:
                if surfaces.surface_of(node, segment_id) is not made:
                    surfaces.set_surface(inner, segment_id, made)
                self._last[where] = read, made
                continue
            if where in last:
                self._last[where] = last[where]
            if now is not None and now[:2] == state[:2]:
                self._want()  # it is to be smoothed otherwise
        labelmap = self._parameters().labelmap
        if jobs and self.first and labelmap is not None:
            self.first = False  # Slicer itself centres 3D views on the whole scene
            fit_cameras(labelmap)
        self._panel.update_soon()

    def _fail(self, error: Exception) -> None:
        self._wanted = False  # not again and again
        if not isinstance(error, SlicerAlone):
            raise error
        last, self._last = self._last, {}
        node, ids = self._result()
        for each in ids:
            surfaces.make_surface(node, each, anew=(node, each) in last)
            self._last[node, each] = None, surfaces.surface_of(node, each)

    def _take_away(self) -> None:
        self._wanted = False
        node, ids = self._result()
        for each in ids:
            surfaces.drop_surface(node, each)
