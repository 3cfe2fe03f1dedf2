"""The vessels: a labelmap, or a segment of a segmentation."""

from typing import Any

import slicer
from slicer.i18n import tr as _

from FuzzyVesselCoreLib.widgets.edit_observer import EditObserver

from .current_object import current_object, is_segmentation


class ObjectSection:
    """Keeps the segment in the parameters and in its selector the same.

    Parameters
    ----------
    panel : Panel
    """

    def __init__(self, panel: Any) -> None:
        self._panel, self.ui = panel, panel.ui
        self._filling = False
        self._edits = EditObserver(panel.update_soon)
        self.ui.segmentSelector.connect("currentSegmentChanged(QString)", self._on_segment)

    def choose_current(self, parameters: Any) -> None:
        """Choose what is shown, where nothing is chosen yet."""
        if parameters.input is not None:
            return
        node, segment_id = current_object()
        if node is not None:
            with slicer.util.NodeModify(parameters.parameterNode):
                parameters.input = node
                if segment_id:
                    parameters.segment = segment_id

    def react(self, parameters: Any) -> None:
        """Choose the first segment where the chosen one is not there; notice edits."""
        self._edits.follow((parameters.input,))
        if not is_segmentation(parameters.input):
            return
        ids = list(parameters.input.GetSegmentation().GetSegmentIDs())
        if ids and parameters.segment not in ids:
            parameters.segment = ids[0]

    def forget(self) -> None:
        """The vessels are gone."""
        self._edits.forget()

    def show(self, parameters: Any) -> None:
        """Show the segment's selector where it is needed, with what is chosen."""
        chosen, selector = parameters.input, self.ui.segmentSelector
        selector.setVisible(is_segmentation(chosen))
        if is_segmentation(chosen):
            self._filling = True
            selector.setCurrentNode(chosen)
            if selector.currentSegmentID() != parameters.segment:
                selector.setCurrentSegmentID(parameters.segment)
            self._filling = False

    def why_not(self, parameters: Any) -> str:
        """Return why there is nothing to find centrelines in; empty where there is."""
        chosen = parameters.input
        if chosen is None:
            return _("Choose the vessels: a segmentation or a labelmap.")
        if is_segmentation(chosen):
            if chosen.GetSegmentation().GetNumberOfSegments() == 0:
                return _("The segmentation has no segment: choose another one.")
        elif chosen.GetImageData() is None:
            return _("The labelmap has no voxels: choose another one.")
        return ""

    def _on_segment(self, segment_id: str) -> None:
        """Keep what was chosen; the selector also chooses by itself, as nodes come and go."""
        parameters = self._panel.parameters
        if self._filling or parameters is None or slicer.mrmlScene.IsBatchProcessing():
            return
        if segment_id and self.ui.segmentSelector.currentNode() is parameters.input:
            parameters.segment = segment_id


def segment_of(parameters: Any) -> str:
    """Return the ID of the chosen segment; empty for a labelmap."""
    return parameters.segment if is_segmentation(parameters.input) else ""
