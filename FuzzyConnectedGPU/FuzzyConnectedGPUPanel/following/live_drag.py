"""Slices that follow a point while it is dragged; the whole result follows when it is let go."""

from typing import Any

import qt
import slicer
from slicer.i18n import tr as _

from FuzzyConnectedGPUMRML.live import hidden_result
from FuzzyConnectedGPUMRML.live.label_preview import LabelPreview
from FuzzyConnectedGPUMRML.live.live_clicks import LiveClicks
from FuzzyConnectedGPUMRML.several.live_vessels import LiveVesselClicks
from FuzzyConnectedGPUMRML.several.vessel_kinds import color_of
from FuzzyConnectedGPUMRML.several.vessel_list import clicked_vessels
from FuzzyConnectedGPUMRML.several.vessel_outputs import disputed_segment
from FuzzyVesselCoreLib.errors import FuzzyVesselError, InputError
from FuzzyVesselCoreLib.mrml.segment_origin import result_segment
from FuzzyVesselCoreLib.widgets.latest_run import LatestRun

from ..advanced import region_section

PREPARE = None  # in place of points
# A scene is saved from a dialog, and with it how the result is shown: no event of the scene says
# that it is about to be saved, so dialogs are looked for that often.
WATCH = 100  # milliseconds


class NoEvidence(Exception):
    """A whole run has to come first."""


class LiveDrag:
    """Shows labels of the position of the moment, in place of the result's segments.

    It needs the evidence of a run with the same volume, region and settings; else the result
    follows by whole runs. After such a run it computes what all positions share.

    Parameters
    ----------
    panel : ConnectednessPanel
    """

    def __init__(self, panel: Any) -> None:
        self._panel = panel
        self._live: LiveClicks | None = None
        self._off = False  # until the point is let go
        self._prepared = ""  # the inputs of the run after which that was tried last
        self._preview = LabelPreview(_("Vessels preview"))
        self._hidden: Any = None  # the segmentation whose segments are
        self._run = LatestRun(self._read, self._compute, self._show, self._fail)
        self._watch = qt.QTimer()
        self._watch.setInterval(WATCH)
        self._watch.connect("timeout()", self._heed_dialogs)

    @property
    def follows(self) -> bool:
        """Whether a drag goes on that whole runs need not follow."""
        return self._panel.seeds.dragging and not self._off and self._possible()

    def begin(self) -> None:
        """A point that the user holds moves for the first time."""
        self._live, self._off = None, False
        self._panel.display.surface.pause()
        if self._possible() and self._panel.running.active:
            self._panel.running.cancel()  # its points are others by now
            self._panel.automatic.lost()

    def move(self) -> None:
        """The point is somewhere else now."""
        if self.follows:
            self._run.request()

    def end(self) -> None:
        """The point is let go: what is shown stays until the result is there."""
        self._run.stop()
        self._live = None  # the evidence of a run to come needs its memory

    def react(self) -> None:
        """Take the preview away when the result has come, and be ready for the next drag."""
        panel = self._panel
        if panel.seeds.dragging or panel.running.active or panel.automatic.pending:
            return
        self._drop()
        if panel.display.surface.waits:
            return  # what is to be seen comes first; the panel is shown again after it
        if self._possible() and panel.is_current():
            text = panel.state_text()
            if text != self._prepared:
                self._prepared, self._live = text, None
                self._run.request()

    def restore(self) -> None:
        """The scene may be one that was saved while a point was dragged."""
        if self._hidden is None:
            hidden_result.show_all_again()

    def forget(self) -> None:
        """The scene is closed, or the panel ends or is left."""
        self._run.stop()
        self._drop()
        self._live, self._prepared = None, ""

    def _possible(self) -> bool:
        parameters = self._panel.parameters
        return (
            parameters is not None
            and bool(parameters.autoUpdate)
            and parameters.model.value == "contrast"
            and bool(clicked_vessels(parameters))
            and not self._panel.why_not()
        )

    # --- the steps; `_compute` alone runs in another thread

    def _read(self) -> tuple[LiveClicks, Any]:
        if not self._possible():
            raise NoEvidence
        if self._live is None:
            self._live = self._new_live()
        if not self._live.ready:
            raise NoEvidence
        return self._live, self._live.points() if self._panel.seeds.dragging else PREPARE

    def _new_live(self) -> LiveClicks:
        parameters = self._panel.parameters
        manual = parameters.thresholdSource.value == "manual"
        lists = clicked_vessels(parameters)
        several = len(lists) > 1
        new: Any = LiveVesselClicks if several else LiveClicks
        return new(
            parameters.inputVolume,
            lists if several else lists[0],
            parameters.backgroundSeeds,
            self._panel.logic.kept,
            region_section.nodes_of(parameters),
            border=parameters.border.value,
            threshold=parameters.threshold if manual else None,
            fill=parameters.fillGaps,
            device=parameters.device,
        )

    @staticmethod
    def _compute(inputs: tuple[LiveClicks, Any], progress: Any) -> Any:
        live, points = inputs
        if points is PREPARE:
            return live.prepare(progress)
        return live.labels(points, progress)

    def _show(self, found: Any) -> None:
        if not self._panel.seeds.dragging:
            self._live = None
        if found is None or self._live is None or not self._possible():
            return  # the list may have lost its points since
        parameters = self._panel.parameters
        node, volume_node = parameters.segmentation, parameters.inputVolume
        lists = clicked_vessels(parameters)
        ids = [result_segment(node, each, volume_node) for each in lists]
        looks = []
        if len(lists) > 1:
            looks = [(each.GetName(), color_of(each)) for each in lists]
        self._preview.show(found.labels, found.box, self._live.frame, node, ids, looks)
        if not found.exact:
            self._panel.say(
                _("A preview: what is around the first point is looked at when it is let go.")
            )
        if node is not None:
            self._hide(node, [*ids, disputed_segment(node, volume_node)])

    def _fail(self, error: Exception) -> None:
        if isinstance(error, InputError):
            return  # where the point is now: outside, or on another one
        self._off = True
        if isinstance(error, NoEvidence | FuzzyVesselError):
            self._panel.update_soon()  # whole runs follow, and say what is wrong
        else:
            raise error

    # --- in place of the result

    def _hide(self, node: Any, segment_ids: list[str]) -> None:
        if self._hidden is not node:
            hidden_result.show_again(self._hidden)
        hidden_result.hide(node, segment_ids)
        self._hidden = node
        self._watch.start()

    def _drop(self) -> None:
        self._preview.drop()
        self._unhide()

    def _heed_dialogs(self) -> None:
        if slicer.app.activeModalWidget() is not None:
            self._unhide()  # the next preview hides it again

    def _unhide(self) -> None:
        self._watch.stop()
        hidden_result.show_again(self._hidden)
        self._hidden = None
