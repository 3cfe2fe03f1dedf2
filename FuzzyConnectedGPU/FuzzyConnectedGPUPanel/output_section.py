"""Section Result: the nodes that take it, which segments, and how they are shown."""

from typing import Any

import slicer
from slicer.i18n import tr as _

from FuzzyConnectedGPUMRML import views
from FuzzyConnectedGPUMRML.vessels import clicked_vessels
from FuzzyVesselCoreLib.mrml import ownership
from FuzzyVesselCoreLib.mrml.segments import (
    is_as_written,
    result_segment,
    result_segments,
)
from FuzzyVesselCoreLib.widgets.output_selector import OutputSelector

from .input_section import SegmentChoice
from .result_surface import ResultSurface


class OutputSection:
    """Nodes that take the result, its surface, and the connectedness map over the image."""

    def __init__(self, panel: Any) -> None:
        self._panel, self.ui = panel, panel.ui
        self.surface = ResultSurface(panel)
        nodes = ("segmentation", "inputVolume")
        self._choice = SegmentChoice(
            panel, self.ui.segmentComboBox, "segmentID", nodes, self._agreed_to_overwrite
        )
        replace = _(
            "The voxels of '{name}' are replaced by each result of {source}. Write into it?"
        )
        add = _("Put the vessels of {source} into '{name}'? Its other segments stay as they are.")
        ui = self.ui
        self._selectors = [
            OutputSelector(panel, selector, name, kind, question)
            for selector, name, kind, question in (
                (ui.segmentationSelector, "segmentation", ownership.SEGMENTATION, add),
                (ui.labelmapSelector, "labelmap", ownership.LABELMAP, replace),
                (ui.sceneSelector, "sceneVolume", ownership.CONNECTEDNESS, replace),
            )
        ]
        self.forget()

    def forget(self) -> None:
        """All nodes are gone."""
        self._volume: Any = None  # that is chosen
        self._drawn: Any = None  # that of the result that was drawn last
        self._overlay: tuple[Any, float] = (None, 0.0)
        self._choice.forget()
        self.surface.forget()

    # --- which segments

    def segment_to_write(self, parameters: Any) -> str:
        """The segment that is overwritten because the user chose it; else an empty text."""
        node, wanted = parameters.segmentation, parameters.segmentID
        there = node is not None and wanted and node.GetSegmentation().GetSegment(wanted)
        return wanted if there else ""

    def result_segments(self, parameters: Any) -> list[str]:
        """IDs of the segments of all vessels that a run writes or has written."""
        node, volume = parameters.segmentation, parameters.inputVolume
        lists = clicked_vessels(parameters) or [parameters.seeds]
        chosen = self.segment_to_write(parameters) if len(lists) == 1 else ""
        found = [chosen or result_segment(node, each, volume) for each in lists]
        return [each for each in found if each]

    def is_shown(self, parameters: Any) -> bool:
        """Whether the result's segments are still there, if there is a segmentation."""
        return parameters.segmentation is None or bool(self.result_segments(parameters))

    def edited_text(self, parameters: Any) -> str:
        """Which segments stay beside the result because they were edited, as a sentence."""
        node, lists = parameters.segmentation, clicked_vessels(parameters)
        if node is None or (len(lists) == 1 and self.segment_to_write(parameters)):
            return ""
        found = [result_segments(node, each, parameters.inputVolume) for each in lists]
        inner = node.GetSegmentation()
        names = [[inner.GetSegment(each).GetName() for each in ids] for ids in found]
        sentence = _("'{edited}' was edited and is left as it is: the result is in '{name}'.")
        return " ".join(
            sentence.format(edited="', '".join(edited), name=name)
            for name, *edited in filter(None, names)
            if edited
        )

    def _agreed_to_overwrite(self, segment_id: str) -> bool:
        """Whether a segment may be overwritten, after asking where no run wrote it as it is."""
        inner = self._panel.parameters.segmentation.GetSegmentation() if segment_id else None
        if not segment_id or is_as_written(inner.GetSegment(segment_id)):
            return True
        text = _("The voxels of the segment '{name}' are replaced by each result. Write into it?")
        text = text.format(name=inner.GetSegment(segment_id).GetName())
        return bool(slicer.util.confirmYesNoDisplay(text, windowTitle=self._panel.title()))

    # --- results

    def written(self, parameters: Any, result: Any, volume_node: Any) -> None:
        """Show a result of a volume that was written just now."""
        parameters.labelmap = result.labelmapNode
        parameters.segmentation = result.segmentationNode
        if result.sceneNode is not None:
            parameters.sceneVolume = result.sceneNode
        if result.segmentID:
            # The segment is drawn already; the labelmap over it would hide its outline.
            views.hide_labelmap(result.labelmapNode)
            self.surface.follow(parameters)
        else:
            views.show_labelmap(result.labelmapNode)
        if volume_node is not None:
            self._draw(volume_node)

    def _draw(self, volume_node: Any) -> None:
        """Show a volume, and of several ones only its own results."""
        other = volume_node is not self._drawn
        views.show_volume(volume_node, everywhere=other)
        if other:
            views.show_results_of(volume_node)
        self._drawn = volume_node

    # --- what follows and what is shown

    def react(self, parameters: Any) -> None:
        """Take the outputs of the volume that is chosen; those of another one stay as they are."""
        volume, before = parameters.inputVolume, self._volume
        if volume is not None:
            changed = before is not None and volume is not before
            for selector in self._selectors:
                selector.follow(parameters, volume, changed)
            self._volume = volume
            if changed:
                self._draw(volume)  # the other one's result does not lie over this one
                if parameters.labelmap is not None:
                    views.fit_cameras(parameters.labelmap)
        self._choice.follow(parameters)
        self.surface.react(parameters)
        scene_node, (_node, before_opacity) = self._panel.result_scene(), self._overlay
        opacity = parameters.overlayOpacity if parameters.showOverlay else 0.0
        changed = (scene_node, opacity) != self._overlay
        if changed and scene_node is not None and (opacity or before_opacity):
            views.show_scene(scene_node, opacity)
        self._overlay = (scene_node, opacity)

    def show(self, parameters: Any) -> None:
        for selector in self._selectors:
            selector.show(parameters)
        text = _("Overwrite: {name}")
        self._choice.show(parameters, parameters.segmentation, _("Update this result"), text)
        one = len(clicked_vessels(parameters)) < 2
        why = "" if one else _("With several vessels, each updates its own segment.")
        self._panel.enable(self.ui.segmentComboBox, why)
        self._panel.enable(self.ui.show3DCheckBox, self.surface.why_not(parameters))
        there = self._panel.result_scene() is not None
        why = "" if there else _("There is no connectedness map yet: press Apply.")
        self._panel.enable(self.ui.overlayCheckBox, why)
        self._panel.enable(self.ui.overlaySlider, why)
