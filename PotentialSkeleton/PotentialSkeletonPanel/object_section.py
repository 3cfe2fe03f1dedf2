"""The vessels: a labelmap, or one or several segments of a segmentation."""

import json
from typing import Any

import qt
import slicer
from slicer.i18n import tr as _

from FuzzyVesselCoreLib.widgets.edit_observer import EditObserver
from PotentialSkeletonMRML.extraction import visible_segments
from PotentialSkeletonMRML.parameters import Colouring

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
        self.ui.severalCheckBox.connect("clicked(bool)", self._on_several)
        self.ui.segmentsList.connect("itemChanged(QListWidgetItem*)", self._on_ticked)

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
            parameters.segments = ""
            return
        ids = list(parameters.input.GetSegmentation().GetSegmentIDs())
        if ids and parameters.segment not in ids:
            parameters.segment = ids[0]
        if parameters.segments:
            there = [each for each in segments_of(parameters) if each in ids]
            lost = len(there) < len(segments_of(parameters))
            if lost:
                parameters.segments = json.dumps(there) if there else ""

    def forget(self) -> None:
        """The vessels are gone."""
        self._edits.forget()

    def show(self, parameters: Any) -> None:
        """Show the segment's selector where it is needed, with what is chosen."""
        chosen, selector = parameters.input, self.ui.segmentSelector
        several = is_segmentation(chosen) and bool(parameters.segments)
        selector.setVisible(is_segmentation(chosen) and not several)
        self.ui.segmentsList.setVisible(several)
        count = chosen.GetSegmentation().GetNumberOfSegments() if is_segmentation(chosen) else 0
        self.ui.severalCheckBox.setVisible(several or count > 1)
        self.ui.severalCheckBox.checked = several
        if several:
            self._fill_list(chosen, segments_of(parameters))
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
            if not segments_of(parameters):
                return _("Tick the segments whose centrelines you want.")
        elif chosen.GetImageData() is None:
            return _("The labelmap has no voxels: choose another one.")
        return ""

    def _on_several(self, on: bool) -> None:
        """Take all segments that are shown, or the one of before; colours then tell the trees."""
        parameters = self._panel.parameters
        if parameters is None:
            return
        ids = visible_segments(parameters.input) or [parameters.segment]
        plain, by_tree = Colouring.RADIUS, Colouring.TREE
        with slicer.util.NodeModify(parameters.parameterNode):
            parameters.segments = json.dumps(ids) if on else ""
            if parameters.colouring == (plain if on else by_tree):
                parameters.colouring = by_tree if on else plain

    def _on_ticked(self, item: Any) -> None:
        """Keep which segments are ticked."""
        parameters = self._panel.parameters
        if self._filling or parameters is None:
            return
        rows = range(self.ui.segmentsList.count)
        items = [self.ui.segmentsList.item(row) for row in rows]
        ticked = [each.data(qt.Qt.UserRole) for each in items if each.checkState() == qt.Qt.Checked]
        parameters.segments = json.dumps(ticked)

    def _fill_list(self, node: Any, chosen: list[str]) -> None:
        """List the segments with their colours, those that are chosen ticked."""
        segmentation = node.GetSegmentation()
        ids = list(segmentation.GetSegmentIDs())
        rows = self.ui.segmentsList
        names = [segmentation.GetSegment(each).GetName() for each in ids]
        self._filling = True
        if [rows.item(row).text() for row in range(rows.count)] != names:
            rows.clear()
            for each, name in zip(ids, names):
                item = qt.QListWidgetItem(name)
                item.setData(qt.Qt.UserRole, each)
                color = qt.QPixmap(12, 12)
                color.fill(qt.QColor.fromRgbF(*segmentation.GetSegment(each).GetColor()))
                item.setIcon(qt.QIcon(color))
                item.setCheckState(qt.Qt.Unchecked)
                rows.addItem(item)
        for row, each in enumerate(ids):
            rows.item(row).setData(qt.Qt.UserRole, each)
            ticked = qt.Qt.Checked if each in chosen else qt.Qt.Unchecked
            rows.item(row).setCheckState(ticked)
        self._filling = False

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


def segments_of(parameters: Any) -> list[str]:
    """Return the IDs of the chosen segments, one tree each; an empty one for a labelmap."""
    if is_segmentation(parameters.input) and parameters.segments:
        return list(json.loads(parameters.segments))
    return [segment_of(parameters)]
