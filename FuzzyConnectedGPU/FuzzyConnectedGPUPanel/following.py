"""Results that follow the points by themselves."""

from typing import Any

from slicer.i18n import tr as _

from FuzzyConnectedGPUMRML.segmenting import Run
from FuzzyConnectedGPUMRML.vessel_lists import color_of
from FuzzyConnectedGPUMRML.views import LabelPreview
from FuzzyVesselCoreLib.errors import FuzzyVesselError, InputError
from FuzzyVesselCoreLib.mrml.provenance import volume_fingerprint
from FuzzyVesselCoreLib.mrml.reading import ijk_to_ras, voxels_of
from FuzzyVesselCoreLib.widgets import packages
from FuzzyVesselCoreLib.widgets.run import LatestRun


class Following:
    """Starts the whole run again in the background whenever points or settings have changed.

    The latest inputs win; a run that is out of date is cancelled between its steps, and the mouse
    never waits. While a point is held its labels are shown in the slices; otherwise they are
    written, as after Apply, and the surface follows.
    """

    def __init__(self, panel: Any) -> None:
        self._panel = panel
        self._preview = LabelPreview(_("Vessels preview"))
        self._run = LatestRun(self._read, self._compute, self._show, self._fail)
        self.forget()

    def forget(self) -> None:
        """The scene is closed, or the panel ends or is left."""
        self._stop()
        self._asked: dict | None = None  # the origin that was requested last
        self._copy: tuple[str, Any] = ("", None)  # of the volume's voxels, by their fingerprint

    def _stop(self) -> None:
        if self._run.pending:
            self._run.stop()
        self._ready: tuple | None = None  # what the preview shows, as `_compute` returns it
        self._preview.drop()

    @property
    def working(self) -> bool:
        """Whether a run goes on, or is about to."""
        return self._run.pending

    def rest(self) -> None:
        """The inputs of now need no run: one begins elsewhere, or none is wanted."""
        self._stop()
        self._asked = self._panel.origin()

    def react(self, parameters: Any) -> None:
        """Start a run where the user wants that and something has changed."""
        panel = self._panel
        if not parameters.autoUpdate or panel.seeds.finding or panel.why_not():
            self._stop()
            return
        origin = panel.origin()
        if origin != self._asked:
            self._asked = origin
            if panel.is_current():
                self._stop()
            else:
                self._run.request()
        elif not panel.seeds.dragging and self._ready is not None:
            self._write(*self._ready)

    # --- the steps; `_compute` alone runs in another thread

    def _read(self) -> Run:
        parameters = self._panel.parameters
        text = volume_fingerprint(parameters.inputVolume)
        if text != self._copy[0]:  # to copy a large volume at each step would hold the mouse up
            self._copy = text, voxels_of(parameters.inputVolume)
        return self._panel.read(parameters, self._copy[1])

    def _compute(self, run: Run, progress: Any) -> tuple:
        return run, run.compute(progress, self._panel.logic.cached)

    def _show(self, result: tuple) -> None:
        run, found = result
        if not self._panel.seeds.dragging:
            self._write(*result)
            return
        self._ready = result
        colors = [color_of(each) for each in run.lists]
        volume, shown = run.volume_node, self._panel.parameters.segmentation
        self._preview.show(
            found.labels, ijk_to_ras(volume), volume.GetTransformNodeID(), colors, [shown]
        )

    def _write(self, run: Run, found: Any) -> None:
        self._stop()
        if run.origin == self._panel.origin():
            try:
                self._panel.say(self._panel.write(run, found))
            except FuzzyVesselError as error:
                self._fail(error)
            self._panel.update_soon()
        else:
            self._run.request()

    def _fail(self, error: Exception) -> None:
        panel = self._panel
        if panel.seeds.dragging and isinstance(error, InputError):
            self._asked = None  # where the point is now: outside, or on another one
        else:
            self._ready = None
            self._preview.drop()
            panel.say(panel.worded(error), problem=True)
            panel.update_soon()
            if not isinstance(error, FuzzyVesselError) and not packages.lacks_package(error):
                raise error
