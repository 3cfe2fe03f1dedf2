"""Results that follow the points by themselves."""

from typing import Any

from slicer.i18n import tr as _

from FuzzyConnectedGPUMRML.vessel_lists import color_of
from FuzzyConnectedGPUMRML.views import LabelPreview
from FuzzyVesselCoreLib.errors import FuzzyVesselError, InputError
from FuzzyVesselCoreLib.mrml.provenance import volume_fingerprint
from FuzzyVesselCoreLib.mrml.reading import ijk_to_ras, voxels_of
from FuzzyVesselCoreLib.widgets import packages
from FuzzyVesselCoreLib.widgets.module_panel import frozen
from FuzzyVesselCoreLib.widgets.run import LatestRun


class NothingToDo(Exception):
    """The result is that of the inputs already, or no run is possible."""


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
        self._asked = ""  # the inputs that were requested last
        self._copy: tuple[str, Any] = ("", None)  # of the volume's voxels, by their fingerprint

    def _stop(self) -> None:
        if self._run.pending:
            self._run.stop()
        self._ready: tuple | None = None  # what the preview shows: its inputs, and what was found
        self._preview.drop()

    @property
    def working(self) -> bool:
        """Whether a run goes on, or is about to."""
        return self._run.pending

    def rest(self) -> None:
        """The inputs of now need no run: one begins elsewhere, or none is wanted."""
        self._stop()
        self._asked = self._panel.state_text()

    def react(self, parameters: Any) -> None:
        """Start a run where the user wants that and something has changed."""
        panel = self._panel
        if not parameters.autoUpdate or panel.seeds.finding or panel.why_not():
            self._stop()
            return
        text = panel.state_text()
        if text != self._asked:
            self._asked = text
            if panel.is_current():
                self._stop()
            else:
                self._run.request()
        elif not panel.seeds.dragging and self._ready is not None:
            self._write(*self._ready)

    # --- the steps; `_compute` alone runs in another thread

    def _read(self) -> tuple:
        panel = self._panel
        parameters = panel.parameters
        if parameters is None or panel.why_not() or panel.is_current():
            raise NothingToDo
        chosen, volume = frozen(parameters), parameters.inputVolume
        text = volume_fingerprint(volume)
        if text != self._copy[0]:  # to copy a large volume at each step would hold the mouse up
            self._copy = text, voxels_of(volume)
        run = panel.read(chosen, self._copy[1])
        return run, chosen, panel.logic.cached, panel.state_text()

    @staticmethod
    def _compute(inputs: tuple, progress: Any) -> tuple:
        return inputs, inputs[0].compute(progress, inputs[2])

    def _show(self, result: tuple) -> None:
        inputs, found = result
        run, panel = inputs[0], self._panel
        if panel.parameters is None:
            return
        if not panel.seeds.dragging:
            self._write(inputs, found)
            return
        self._ready = result
        colors = [color_of(each) for each in run.lists]
        volume, shown = run.volume_node, panel.parameters.segmentation
        self._preview.show(
            found.labels, ijk_to_ras(volume), volume.GetTransformNodeID(), colors, [shown]
        )

    def _write(self, inputs: tuple, found: Any) -> None:
        run, chosen, _cached, text = inputs
        self._stop()
        if text == self._panel.state_text():
            self._panel.say(self._panel.write(run, found, chosen))
            self._panel.update_soon()
        else:
            self._run.request()

    def _fail(self, error: Exception) -> None:
        panel = self._panel
        if isinstance(error, NothingToDo):
            panel.update_soon()
        elif panel.seeds.dragging and isinstance(error, InputError):
            self._asked = ""  # where the point is now: outside, or on another one
        else:
            self._ready = None
            self._preview.drop()
            panel.say(panel.worded(error), problem=True)
            panel.update_soon()
            if not isinstance(error, FuzzyVesselError) and not packages.lacks_package(error):
                raise error
