"""The vessels: a labelmap, or one or several segments of a segmentation."""

import json
from typing import Any

import qt
import slicer
from slicer.i18n import tr as _

from FuzzyVesselCoreLib.mrml.writing import SKELETON, is_output
from FuzzyVesselCoreLib.widgets.module_panel import EditObserver
from PotentialSkeletonMRML.parameters import Colouring
from PotentialSkeletonMRML.solid import visible_segments


class VesselsSection:
    """Keeps the segment in the parameters and in its selector the same."""

    def __init__(self, panel: Any) -> None:
        self._panel, self.ui = panel, panel.ui
        self._filling = False
        self._edits = EditObserver(panel.update_soon)
        self.ui.segmentSelector.connect("currentSegmentChanged(QString)", self._on_segment)
        self.ui.severalCheckBox.connect("clicked(bool)", self._on_several)
        self.ui.segmentsList.connect("itemChanged(QListWidgetItem*)", self._on_ticked)

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
            if len(there) < len(segments_of(parameters)):
                parameters.segments = json.dumps(there) if there else ""

    def forget(self) -> None:
        """The vessels are gone."""
        self._edits.follow(())

    def show(self, parameters: Any) -> None:
        """Show the segment's selector where it is needed, with what is chosen."""
        chosen, selector = parameters.input, self.ui.segmentSelector
        segments = is_segmentation(chosen)
        several = segments and bool(parameters.segments)
        selector.setVisible(segments and not several)
        self.ui.segmentsList.setVisible(several)
        count = chosen.GetSegmentation().GetNumberOfSegments() if segments else 0
        self.ui.severalCheckBox.setVisible(several or count > 1)
        self.ui.severalCheckBox.checked = several
        self._filling = True
        if several:
            self._fill_list(chosen, segments_of(parameters))
        if segments:
            selector.setCurrentNode(chosen)
            selector.setCurrentSegmentID(parameters.segment)
        self._filling = False

    def why_not(self, parameters: Any) -> str:
        """Why there is nothing to find centrelines in; empty where there is."""
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
        """Use all visible segments, or the previous one; colours then distinguish the trees."""
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
        if not self._filling and self._panel.parameters is not None:
            items = [self.ui.segmentsList.item(row) for row in range(self.ui.segmentsList.count)]
            chosen = [i.data(qt.Qt.UserRole) for i in items if i.checkState() == qt.Qt.Checked]
            self._panel.parameters.segments = json.dumps(chosen)

    def _fill_list(self, node: Any, chosen: list[str]) -> None:
        """List the segments with their colours, those that are chosen ticked."""
        segmentation, rows = node.GetSegmentation(), self.ui.segmentsList
        ids = list(segmentation.GetSegmentIDs())
        names = [segmentation.GetSegment(each).GetName() for each in ids]
        if [rows.item(row).text() for row in range(rows.count)] != names:
            rows.clear()
            for each, name in zip(ids, names):
                item, color = qt.QListWidgetItem(name), qt.QPixmap(12, 12)
                color.fill(qt.QColor.fromRgbF(*segmentation.GetSegment(each).GetColor()))
                item.setIcon(qt.QIcon(color))
                rows.addItem(item)
        for row, each in enumerate(ids):
            rows.item(row).setData(qt.Qt.UserRole, each)
            ticked = qt.Qt.Checked if each in chosen else qt.Qt.Unchecked
            rows.item(row).setCheckState(ticked)

    def _on_segment(self, segment_id: str) -> None:
        """Keep what was chosen; the selector also chooses by itself, as nodes come and go."""
        parameters = self._panel.parameters
        if self._filling or parameters is None or slicer.mrmlScene.IsBatchProcessing():
            return
        if segment_id and self.ui.segmentSelector.currentNode() is parameters.input:
            parameters.segment = segment_id


def segments_of(parameters: Any) -> list[str]:
    """The IDs of the chosen segments, one tree each; an empty one for a labelmap."""
    if not is_segmentation(parameters.input):
        return [""]
    return list(json.loads(parameters.segments)) if parameters.segments else [parameters.segment]


def is_segmentation(node: Any) -> bool:
    """Whether a node, or None, is a segmentation."""
    return node is not None and node.IsA("vtkMRMLSegmentationNode")


def choose_current(parameters: Any) -> None:
    """Choose what a person most likely means, where nothing is chosen yet."""
    node, segment_id = current_object() if parameters.input is None else (None, "")
    if node is not None:
        with slicer.util.NodeModify(parameters.parameterNode):
            parameters.input, parameters.segment = node, segment_id or parameters.segment


def current_object() -> tuple[Any, str]:
    """The node and, of a segmentation, the segment that a person most likely means.

    It is the segment that is open in the Segment Editor, else the newest segmentation or labelmap
    that is shown, else the newest one. A labelmap of centrelines does not count.
    """
    editor = slicer.mrmlScene.GetFirstNodeByClass("vtkMRMLSegmentEditorNode")
    edited: Any = editor.GetSegmentationNode() if editor is not None else None
    if edited and edited.GetSegmentation().GetSegment(editor.GetSelectedSegmentID() or ""):
        return edited, editor.GetSelectedSegmentID()
    slices = slicer.util.getNodesByClass("vtkMRMLSliceCompositeNode")
    in_slices = {each.GetLabelVolumeID() for each in slices}

    def shown(node: Any) -> bool:
        display = node.GetDisplayNode()
        if is_segmentation(node) and display is not None:
            return display.GetVisibility() and node.GetSegmentation().GetNumberOfSegments() > 0
        return node.GetID() in in_slices

    nodes = [
        node
        for node in reversed(list(slicer.mrmlScene.GetNodes()))
        if node.GetClassName() in ("vtkMRMLSegmentationNode", "vtkMRMLLabelMapVolumeNode")
        and not (node.GetHideFromEditors() or is_output(node, SKELETON))
    ]
    return max(nodes, key=shown, default=None), ""
