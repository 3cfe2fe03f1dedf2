"""Section Result: the nodes that take it, and which of its segments."""

from typing import Any

import slicer
from slicer.i18n import tr as _

from FuzzyConnectedGPUMRML import views as slice_layers
from FuzzyConnectedGPUMRML.vessels import clicked_vessels
from FuzzyVesselCoreLib.mrml import ownership
from FuzzyVesselCoreLib.mrml.segment_origin import (
    is_as_written,
    result_segment,
    result_segments,
)
from FuzzyVesselCoreLib.widgets.output_selector import OutputSelector

from .region_section import SegmentChoice, fill


class OutputSection:
    """Nodes that take the result."""

    def __init__(self, panel: Any) -> None:
        self._panel, self.ui = panel, panel.ui
        self._segments: list[tuple[str, str]] = []
        self._choice = SegmentChoice("segmentation", "segmentID")
        self._selectors = self._make_selectors()
        self._volume: Any = None  # that is chosen
        self._drawn: Any = None  # that of the result that was drawn last
        self.ui.segmentComboBox.connect("activated(int)", self._choose_segment)

    def _make_selectors(self) -> list[OutputSelector]:
        replace = _(
            "The voxels of '{name}' are replaced by each result of {source}. Write into it?"
        )
        add = _("Put the vessels of {source} into '{name}'? Its other segments stay as they are.")
        ui = self.ui
        return [
            OutputSelector(self._panel, selector, name, kind, question)
            for selector, name, kind, question in (
                (ui.segmentationSelector, "segmentation", ownership.SEGMENTATION, add),
                (ui.labelmapSelector, "labelmap", ownership.LABELMAP, replace),
                (ui.sceneSelector, "sceneVolume", ownership.CONNECTEDNESS, replace),
            )
        ]

    # --- what runs do

    def segment_to_write(self, parameters: Any) -> str:
        """The segment that is overwritten because the user chose it; else an empty text."""
        node, wanted = parameters.segmentation, parameters.segmentID
        if node is None or not wanted or node.GetSegmentation().GetSegment(wanted) is None:
            return ""
        return wanted

    def result_segment(self, parameters: Any) -> str:
        """ID of the segment that a run writes or has written; else an empty text."""
        return self.segment_to_write(parameters) or result_segment(
            parameters.segmentation, _points(parameters), parameters.inputVolume
        )

    def result_segments(self, parameters: Any) -> list[str]:
        """IDs of the segments of all vessels that a run writes or has written."""
        lists = clicked_vessels(parameters)
        if len(lists) < 2:
            found = [self.result_segment(parameters)]
        else:
            where = parameters.segmentation, parameters.inputVolume
            found = [result_segment(where[0], each, where[1]) for each in lists]
        return [each for each in found if each]

    def edited_text(self, parameters: Any) -> str:
        """Which segments stay beside the result because they were edited, as a sentence."""
        node = parameters.segmentation
        if node is None or self.segment_to_write(parameters):
            return ""
        lists = clicked_vessels(parameters)
        found = [result_segments(node, each, parameters.inputVolume) for each in lists]
        inner = node.GetSegmentation()
        names = [[inner.GetSegment(each).GetName() for each in ids] for ids in found]
        sentence = _("'{edited}' was edited and is left as it is: the result is in '{name}'.")
        return " ".join(
            sentence.format(edited="', '".join(edited), name=name)
            for name, *edited in filter(None, names)
            if edited
        )

    def written(self, parameters: Any, result: Any, volume_node: Any) -> None:
        """Show a result of a volume that was written just now."""
        parameters.labelmap = result.labelmapNode
        parameters.segmentation = result.segmentationNode
        if result.sceneNode is not None:
            parameters.sceneVolume = result.sceneNode
        if result.segmentID:
            # The segment is drawn already; the labelmap over it would hide its outline.
            slice_layers.hide_labelmap(result.labelmapNode)
            self._panel.display.surface.follow(parameters)
        else:
            slice_layers.show_labelmap(result.labelmapNode)
        if volume_node is not None:
            other = volume_node is not self._drawn
            slice_layers.show_volume(volume_node, everywhere=other)
            if other:
                slice_layers.show_results_of(volume_node)
            self._drawn = volume_node

    # --- what the user does

    def _choose_segment(self, index: int) -> None:
        parameters = self._panel.parameters
        if parameters is None:
            return
        wanted, inner = self._segments[index][0], None
        if wanted and parameters.segmentation is not None:
            inner = parameters.segmentation.GetSegmentation().GetSegment(wanted)
        if inner is None or is_as_written(inner) or self._agreed(inner):
            parameters.segmentID = wanted
        self._show_segments(parameters)

    def _agreed(self, segment: Any) -> bool:
        text = _("The voxels of the segment '{name}' are replaced by each result. Write into it?")
        return slicer.util.confirmYesNoDisplay(
            text.format(name=segment.GetName()), windowTitle=self._panel.title()
        )

    # --- what follows and what is shown

    def react(self, parameters: Any) -> None:
        """Take the outputs of the volume that is chosen; those of another one stay as they are."""
        volume, before = parameters.inputVolume, self._volume
        if volume is not None:
            for selector in self._selectors:
                changed = before is not None and volume is not before
                selector.follow(parameters, volume, changed)
            self._volume = volume
        self._choice.follow(parameters)

    def show(self, parameters: Any) -> None:
        for selector in self._selectors:
            selector.show(parameters)
        self._show_segments(parameters)

    def _show_segments(self, parameters: Any) -> None:
        segments, node = [("", _("Update this result"))], parameters.segmentation
        if node is not None:
            inner = node.GetSegmentation()
            segments += [
                (each, _("Overwrite: {name}").format(name=inner.GetSegment(each).GetName()))
                for each in inner.GetSegmentIDs()
            ]
        self._segments = fill(
            self.ui.segmentComboBox, self._segments, segments, parameters.segmentID
        )
        one = len(clicked_vessels(parameters)) < 2
        why = "" if one else _("With several vessels, each updates its own segment.")
        self._panel.enable(self.ui.segmentComboBox, why)

    def forget(self) -> None:
        """All nodes are gone."""
        self._segments, self._volume, self._drawn = [], None, None
        self._choice.forget()
        self.ui.segmentComboBox.clear()


def _points(parameters: Any) -> Any:
    """The list of the one vessel."""
    lists = clicked_vessels(parameters)
    return lists[0] if len(lists) == 1 else parameters.seeds
