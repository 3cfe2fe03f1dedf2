"""The surface of the result in the 3D views: it follows the result, made by a thread."""

from dataclasses import dataclass
from typing import Any

import qt
from slicer.i18n import tr as _

from FuzzyVesselCoreLib.mrml.surfaces import (
    SurfaceInput,
    SurfaceState,
    drop_surface,
    has_surface,
    make_surface,
    may_have_surface,
    put_surface,
    set_surface,
    surface_input,
    surface_of,
    without_surface,
)
from FuzzyVesselCoreLib.widgets.latest_run import LatestRun

REST = 0  # milliseconds from a change to its surface: all that one act changes makes one
LATER = 250  # milliseconds to the next look while a point is held or a run goes on


@dataclass
class Job:
    """The surface of one segment.

    Attributes
    ----------
    where : tuple of vtkMRMLSegmentationNode and str
        Segmentation and segment ID.
    state : SurfaceState
        When its voxels were read.
    read : SurfaceInput
    last : SurfaceInput or None
        Of the surface that was made last.
    surface : Surface or None
        None where the last one is that of these voxels.
    """

    where: tuple[Any, str]
    state: SurfaceState
    read: SurfaceInput
    last: SurfaceInput | None
    surface: Any = None


class SlicerAlone(Exception):
    """A surface that only Slicer's own conversion can make."""


class ResultSurface:
    """The closed surfaces of the result's segments, made when they or "Show in 3D" have changed.

    Until it is made anew the last one stays, so that the 3D views do not blink. What has the voxels
    that it had is not made again. Whoever else reads surfaces (other modules, commands in the
    console) gets the present ones: `finish` is called before.
    """

    def __init__(self, panel: Any) -> None:
        self._panel = panel
        self._seen: tuple[Any, bool] | None = None  # segmentation and "Show in 3D", last time
        self._last: dict[tuple[Any, str], tuple[SurfaceInput | None, Any]] = {}  # and vtkPolyData
        self._wanted = False
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
        if not parameters.show3D:
            return
        for (segmentation, segment_id), (_read, surface) in self._last.items():
            if segmentation is parameters.segmentation:
                put_surface(segmentation, segment_id, surface)
        self._want(REST)

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
            self._want(REST)  # a run ended it, and has written nothing
        if before in (None, self._seen) or before[0] is not segmentation:
            return
        segment_ids = self._panel.output.result_segments(parameters)
        for each in segment_ids if parameters.show3D else ():
            segmentation.GetDisplayNode().SetSegmentVisibility3D(each, True)
        if segment_ids:
            self._want(REST)

    def make(self) -> None:
        """Make the surfaces of the result's segments, or take them away, without a thread."""
        self._timer.stop()
        self._run.stop()
        if not self._parameters().show3D:
            self._take_away()
            return
        try:
            jobs = self._read()
        except SlicerAlone as error:
            self._fail(error)
        else:
            self._show(self._compute(jobs, lambda _share: True))

    def finish(self) -> None:
        """Make what is still to be made, without a thread: somebody else may read it now."""
        if self.waits and not self._is_postponed():
            self.make()

    def why_not(self, parameters: Any) -> str:
        """What stands against a surface, as a sentence; or an empty text."""
        segment_ids = self._panel.output.result_segments(parameters)
        others = without_surface(parameters.segmentation, segment_ids[0]) if segment_ids else []
        if not others:
            return ""
        return _(
            "The segmentation has no surfaces of {others}: press Show 3D in the module "
            "Segmentations to see all segments."
        ).format(others=", ".join(others))

    def forget(self) -> None:
        """The segmentation is gone."""
        self._timer.stop()
        self._run.stop()
        self._seen, self._last, self._wanted = None, {}, False

    # --- the steps; `_compute` alone runs in another thread

    def _want(self, milliseconds: int) -> None:
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
        if parameters.segmentation is None:
            return None, []
        return parameters.segmentation, self._panel.output.result_segments(parameters)

    def _read(self) -> list[Job]:
        node, ids = self._result()
        if not any(may_have_surface(node, each) for each in ids):
            return []
        inner, jobs = node.GetSegmentation(), []
        for each in inner.GetSegmentIDs():
            if has_surface(inner.GetSegment(each)) and not (
                each in ids and (node, each) in self._last
            ):
                continue  # it is another one's, or of the voxels that are there
            read, state = surface_input(inner, each), SurfaceState.of(inner, each)
            if read is None or state is None:
                raise SlicerAlone
            last = self._last.get((node, each), (None, None))[0]
            jobs.append(Job((node, each), state, read, last))
        return jobs

    @staticmethod
    def _compute(jobs: list[Job], progress: Any) -> list[Job]:
        for job in jobs:
            if not job.read.is_as(job.last):
                job.surface = job.read.surface(progress)
        return jobs

    def _show(self, jobs: list[Job]) -> None:
        self._wanted = False
        if not self._parameters().show3D:
            return
        last, self._last = self._last, {}
        for job in jobs:
            node, segment_id = job.where
            before = last.get(job.where)
            if before is not None:
                self._last[job.where] = before
            inner = node.GetSegmentation()
            state = SurfaceState.of(inner, segment_id)
            if state != job.state:  # its voxels are others by now, or it is gone
                if state is not None and state.has_voxels_of(job.state):
                    self._want(REST)  # it is to be smoothed otherwise
                continue
            made = job.surface if before is None else job.surface or before[1]
            if surface_of(node, segment_id) is not made:
                set_surface(inner, segment_id, made)
            self._last[job.where] = job.read, made
        self._panel.update_soon()

    def _fail(self, error: Exception) -> None:
        self._wanted = False  # not again and again
        if not isinstance(error, SlicerAlone):
            raise error
        last, self._last = self._last, {}
        segmentation, ids = self._result()
        for each in ids:
            make_surface(segmentation, each, anew=(segmentation, each) in last)
            self._last[segmentation, each] = None, surface_of(segmentation, each)

    def _take_away(self) -> None:
        self._wanted = False
        segmentation, ids = self._result()
        for each in ids:
            drop_surface(segmentation, each)
