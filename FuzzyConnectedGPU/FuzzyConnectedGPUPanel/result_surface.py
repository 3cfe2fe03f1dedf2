"""The surface of the result in the 3D views: it follows the result, made by a thread."""

from typing import Any

from slicer.i18n import tr as _

from FuzzyConnectedGPUMRML.views import fit_cameras
from FuzzyVesselCoreLib.mrml import surfaces
from FuzzyVesselCoreLib.widgets.latest_run import LatestRun


class SlicerAlone(Exception):
    """A surface that only Slicer's own conversion can make."""


class ResultSurface:
    """The closed surfaces of the result's segments, made when they or "Show in 3D" have changed.

    Until it is made anew the last one stays, so that the 3D views do not blink.
    """

    def __init__(self, panel: Any) -> None:
        self._panel = panel
        self._run = LatestRun(self._read, self._compute, self._show, self._fail)
        self.forget()

    def forget(self) -> None:
        """The segmentation is gone."""
        self._run.stop()
        self._seen: tuple[Any, bool] | None = None  # segmentation and "Show in 3D", last time
        self._last: dict[tuple[Any, str], Any] = {}  # vtkPolyData of each segment
        self.first = False  # whether it is the first of a volume, which 3D views are centred on

    @property
    def waits(self) -> bool:
        """Whether the surface is still to be made."""
        return self._run.pending

    def follow(self, parameters: Any) -> None:
        """Segments were written: their surfaces follow."""
        if parameters.show3D:
            for (segmentation, segment_id), surface in self._last.items():
                if segmentation is parameters.segmentation:
                    surfaces.put_surface(segmentation, segment_id, surface)
            self._run.request()

    def react(self, parameters: Any) -> None:
        """Follow "Show in 3D"; a segmentation that was only chosen stays as it is."""
        node, before = parameters.segmentation, self._seen
        self._seen = (node, parameters.show3D)
        if before in (None, self._seen) or before[0] is not node or node is None:
            return
        for each in self._panel.output.result_segments(parameters):
            if parameters.show3D:
                node.GetDisplayNode().SetSegmentVisibility3D(each, True)
                self._run.request()
            else:
                surfaces.drop_surface(node, each)

    def why_not(self, parameters: Any) -> str:
        """What stands against a surface, as a sentence; or an empty text."""
        node, ids = parameters.segmentation, self._panel.output.result_segments(parameters)
        others = surfaces.without_surface(node, ids[0]) if ids else []
        text = _(
            "The segmentation has no surfaces of {others}: press Show 3D in the module "
            "Segmentations to see all segments."
        )
        return text.format(others=", ".join(others)) if others else ""

    def _parameters(self) -> Any:
        # The module may have been left since: the parameters are in the scene all the same.
        return self._panel.parameters or self._panel.logic.getParameterNode()

    def _result(self) -> tuple[Any, list[str]]:
        """The segmentation, and the segments that get a surface now."""
        parameters = self._parameters()
        node = parameters.segmentation
        if node is None or not parameters.show3D:
            return node, []
        ids = self._panel.output.result_segments(parameters)
        return node, [each for each in ids if surfaces.may_have_surface(node, each)]

    # --- the steps; `_compute` alone runs in another thread

    def _read(self) -> list[tuple]:
        """Segmentation, segment, state of its voxels, and what is read of them.

        Slicer shows surfaces of all segments or of none: earlier results get theirs, too.
        """
        node, ids = self._result()
        inner, jobs = node.GetSegmentation() if ids else None, []
        for each in inner.GetSegmentIDs() if ids else ():
            if each in ids or not surfaces.has_surface(inner.GetSegment(each)):
                read = surfaces.surface_input(inner, each)
                if read is None:
                    raise SlicerAlone
                jobs.append((node, each, surfaces.surface_state(inner, each), read))
        return jobs

    @staticmethod
    def _compute(jobs: list[tuple], progress: Any) -> list[tuple]:
        return [(*job[:3], job[3].surface(progress)) for job in jobs]

    def _show(self, jobs: list[tuple]) -> None:
        """Show the surfaces of segments whose voxels are as they were read."""
        parameters = self._parameters()
        for node, segment_id, state, surface in jobs if parameters.show3D else ():
            if surfaces.surface_state(node.GetSegmentation(), segment_id) == state:
                surfaces.set_surface(node.GetSegmentation(), segment_id, surface)
                self._last[node, segment_id] = surface
        if self.first and parameters.labelmap is not None:
            self.first = False  # Slicer itself centres 3D views on the whole scene
            fit_cameras(parameters.labelmap)
        self._panel.update_soon()

    def _fail(self, error: Exception) -> None:
        if not isinstance(error, SlicerAlone):
            raise error
        node, ids = self._result()
        for each in ids:
            surfaces.make_surface(node, each, anew=True)
            self._last[node, each] = surfaces.surface_of(node, each)
