"""Sections Threshold and Result: less and more, the nodes that take the result, how it is shown."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import qt
import slicer
from slicer.i18n import tr as _

from FuzzyConnectedGPUMRML import fuzzy_scene, views
from FuzzyConnectedGPUMRML.parameters import ThresholdSource
from FuzzyConnectedGPUMRML.segmenting import relabel_scene
from FuzzyConnectedGPUMRML.vessel_lists import clicked_vessels
from FuzzyVesselCoreLib.errors import InputError
from FuzzyVesselCoreLib.mrml import writing
from FuzzyVesselCoreLib.mrml.segments import is_as_written, result_segment, result_segments
from FuzzyVesselCoreLib.mrml.writing import CONNECTEDNESS, LABELMAP, SEGMENTATION

from .input_section import SegmentChoice
from .wording import millilitres, worded

LEAST = 1e-4  # the slider's lowest value that is a threshold
LOOK = 200  # milliseconds between two looks whether the slider is still held


class ThresholdSection:
    """The threshold of the current fuzzy scene; nothing is recomputed."""

    def __init__(self, panel: Any) -> None:
        self._panel, self.ui = panel, panel.ui
        # From the slider's first move to its release: ends the preview.
        self._end_preview: Callable[[], None] | None = None
        self._held = qt.QTimer()
        self._held.setInterval(LOOK)
        self._held.connect("timeout()", self._end_if_released)
        self.ui.thresholdSlider.connect("valueIsChanging(double)", self.preview)
        self.ui.thresholdSpinBox.connect("valueChanged(double)", self.choose)
        self.ui.automaticThresholdButton.connect("clicked()", lambda: self.choose(None))
        self.forget()

    def forget(self) -> None:
        self.end_preview()
        self._labels_made_with: tuple | None = None  # `_label_settings` of the labels

    # --- what the user does

    def preview(self, threshold: float) -> None:
        """Show in all slices what a threshold would take; the slider is held."""
        parameters = self._panel.parameters
        scene_node, threshold = self._panel.result_scene(parameters), max(threshold, LEAST)
        if scene_node is None:
            return
        if self._end_preview is None:
            self._end_preview = views.preview_threshold(scene_node, parameters.segmentation)
            self._held.start()
        scene_node.GetDisplayNode().SetThreshold(threshold, 1.0)
        curve = self._curve(parameters)
        self._show_volume(curve and curve.at(threshold))

    def end_preview(self) -> None:
        """The views show the result again."""
        self._held.stop()
        if self._end_preview is not None:
            self._end_preview()
            self._end_preview = None

    def _end_if_released(self) -> None:
        if not slicer.app.mouseButtons():
            self.end_preview()
            self._panel.update_soon()

    def choose(self, threshold: float | None) -> None:
        """Take a threshold by hand, or with None the automatic one, now and in every run."""
        parameters = self._panel.parameters
        with slicer.util.NodeModify(parameters.parameterNode):
            if threshold is not None:
                parameters.thresholdSource = ThresholdSource.MANUAL
                parameters.threshold = min(max(threshold, LEAST), 1.0)
            else:
                parameters.thresholdSource = ThresholdSource.AUTOMATIC
                if not self._panel.running.active:
                    self._apply(parameters, None)
                elif self._labels_made_with is not None:  # what was moved meanwhile is dropped
                    parameters.threshold = self._labels_made_with[0]

    # --- what runs do

    def labels_written(self, parameters: Any, result: Any, options: Any) -> None:
        """A run wrote labels; a threshold that was chosen meanwhile is applied now."""
        self._labels_made_with = (float(result.threshold), options.fill_gaps, options.showDisputed)
        if users_threshold(parameters) is None:
            if options.threshold is None:
                parameters.threshold = self._labels_made_with[0]
            else:
                self._apply(parameters, None)
        self._apply_changes(parameters)

    # --- what follows

    def react(self, parameters: Any) -> None:
        """Write the labels where the user or a script has set another threshold."""
        running = self._panel.running.active
        if self._labels_made_with is None or not (running or self._panel.result_scene(parameters)):
            self._labels_made_with = _label_settings(parameters)
        if parameters.threshold != self._labels_made_with[0]:
            parameters.thresholdSource = ThresholdSource.MANUAL
        if not running:  # else the change is applied when the run ends
            self._apply_changes(parameters)

    def _apply_changes(self, parameters: Any) -> None:
        if _label_settings(parameters) != self._labels_made_with:
            self._apply(parameters, parameters.threshold)

    def _apply(self, parameters: Any, threshold: float | None) -> None:
        """Write the labels of a threshold (None: the automatic one) with the other settings."""
        self.end_preview()
        panel, cut = self._panel, parameters.cut
        scene_node = panel.result_scene(parameters)
        if scene_node is None:
            return
        if threshold is not None:
            least = 0.0 if fuzzy_scene.by_contrast(scene_node) else cut
            parameters.threshold = threshold = max(threshold, least, LEAST)
            self._labels_made_with, cut = _label_settings(parameters), None
        options = replace(panel.options(parameters), threshold=threshold, cut=cut)
        options = replace(options, segmentationNode=parameters.segmentation)
        try:
            result = relabel_scene(scene_node, options)
        except InputError as error:
            panel.say(worded(error))
            return
        parameters.threshold = float(result.threshold)
        self._labels_made_with = _label_settings(parameters)
        panel.output.show_result(parameters, result)
        edited = panel.output.edited_text(parameters)
        if edited:
            panel.say(edited)

    # --- what is shown

    def _curve(self, parameters: Any) -> Any:
        """V(t) of the result; None where there is none, or its values are not those of a run."""
        scene_node = self._panel.result_scene(parameters)
        try:
            return scene_node and fuzzy_scene.scene_curve(scene_node)
        except InputError:
            return None

    def measured(self, parameters: Any) -> float | None:
        """Millilitres of the result, also of one that was loaded; None without a result."""
        if self._curve(parameters) is None:
            return None
        ids = self._panel.output.result_segments(parameters)
        there = parameters.segmentation is None or ids  # else its segments were deleted
        return fuzzy_scene.labelled_millilitres(parameters.labelmap) if there else None

    def leaks(self, parameters: Any, volume_ml: float) -> tuple[float, float]:
        """The share of the image that a result fills, and how many times larger it is than that
        of the automatic threshold.
        """
        curve = self._curve(parameters)
        if curve is None:
            return 0.0, 1.0
        automatic = fuzzy_scene.recorded_threshold(self._panel.result_scene(parameters))
        expected = volume_ml if automatic is None else curve.at(automatic)
        return volume_ml / curve.total, volume_ml / max(expected, 1e-9)

    def show(self, parameters: Any) -> None:
        ui, automatic = self.ui, users_threshold(parameters) is None
        scene_node = self._panel.result_scene(parameters)
        ui.automaticThresholdButton.checked = automatic
        there = scene_node is not None or self._panel.running.active
        why = "" if there else _("There is no result yet: press Apply.")
        self._panel.enable(ui.thresholdSlider, why)
        if self._end_preview is not None:
            return  # the widgets are under the user's hand
        blocked = ui.thresholdSpinBox.blockSignals(True)
        ui.thresholdSpinBox.value = parameters.threshold
        ui.thresholdSpinBox.blockSignals(blocked)
        self._show_volume(self.measured(parameters))
        ui.thresholdNoteLabel.text = fuzzy_scene.contrast_text(scene_node) if automatic else ""
        ui.thresholdNoteLabel.setVisible(bool(ui.thresholdNoteLabel.text))

    def _show_volume(self, volume: float | None) -> None:
        text = ""
        if volume is not None:
            text = f"<span style='font-size:large; font-weight:600'>{millilitres(volume)}</span>"
        self.ui.volumeValueLabel.text = text


def users_threshold(parameters: Any) -> float | None:
    """The threshold that a person chose; None where runs choose it."""
    manual = parameters.thresholdSource.value == "manual"
    return parameters.threshold if manual else None


def _label_settings(parameters: Any) -> tuple:
    """What the labels depend on, beside the fuzzy scene."""
    return parameters.threshold, parameters.fillGaps, parameters.showDisputed


# ---- The nodes that take the result


class OutputSection:
    """Nodes that take the result, its surface, and the fuzzy scene over the image."""

    def __init__(self, panel: Any) -> None:
        self._panel, self.ui = panel, panel.ui
        nodes = ("segmentation", "inputVolume")
        self._choice = SegmentChoice(
            panel, self.ui.segmentComboBox, "segmentID", nodes, self._agreed_to_overwrite
        )
        self._selectors = [
            OutputSelector(panel, self.ui.segmentationSelector, "segmentation", SEGMENTATION),
            OutputSelector(panel, self.ui.labelmapSelector, "labelmap", LABELMAP),
            OutputSelector(panel, self.ui.sceneSelector, "sceneVolume", CONNECTEDNESS),
        ]
        self.forget()

    def forget(self) -> None:
        self._drawn: Any = None  # the volume whose result was drawn last
        self._overlay: tuple[Any, float] = (None, 0.0)
        self._choice.forget()

    # --- which segments

    def nodes(self, parameters: Any) -> dict[str, Any]:
        """What is written into, as the logic takes it."""
        return dict(
            sceneVolumeNode=parameters.sceneVolume,
            labelmapNode=parameters.labelmap,
            segmentationNode=parameters.segmentation or True,
            segmentID=self._overwritten(parameters),
            showDisputed=parameters.showDisputed,
        )

    @staticmethod
    def _overwritten(parameters: Any) -> str:
        """The segment of one vessel that is overwritten because the user chose it, or ""."""
        node, wanted = parameters.segmentation, parameters.segmentID
        there = node is not None and wanted and node.GetSegmentation().GetSegment(wanted)
        return wanted if there and len(clicked_vessels(parameters)) < 2 else ""

    def result_segments(self, parameters: Any) -> list[str]:
        """IDs of the segments of all vessels that a run writes or has written."""
        node, volume = parameters.segmentation, parameters.inputVolume
        lists, chosen = clicked_vessels(parameters), self._overwritten(parameters)
        lists = lists or [parameters.seeds]
        found = [chosen or result_segment(node, each, volume) for each in lists]
        return [each for each in found if each]

    def edited_text(self, parameters: Any) -> str:
        """Which segments stay beside the result because they were edited, as a sentence."""
        node, said = parameters.segmentation, []
        if node is None or self._overwritten(parameters):
            return ""
        text = _("'{edited}' was edited and is left as it is: the result is in '{name}'.")
        for each in clicked_vessels(parameters):
            ids = result_segments(node, each, parameters.inputVolume)
            names = [node.GetSegmentation().GetSegment(segment).GetName() for segment in ids]
            if len(names) > 1:
                said.append(text.format(edited="', '".join(names[1:]), name=names[0]))
        return " ".join(said)

    def _agreed_to_overwrite(self, segment_id: str) -> bool:
        """Whether a segment may be overwritten, after asking where no run wrote it as it is."""
        if not segment_id:
            return True
        segment = self._panel.parameters.segmentation.GetSegmentation().GetSegment(segment_id)
        if is_as_written(segment):
            return True
        text = _("The voxels of the segment '{name}' are replaced by each result. Write into it?")
        text = text.format(name=segment.GetName())
        return bool(slicer.util.confirmYesNoDisplay(text, windowTitle=self._panel.title()))

    # --- results

    def show_result(self, parameters: Any, result: Any) -> None:
        """Show a result that was written just now."""
        parameters.labelmap, parameters.sceneVolume = result.labelmapNode, result.sceneNode
        parameters.segmentation = result.segmentationNode
        if result.segmentID:
            # The segment is drawn already; the labelmap over it would hide its outline.
            views.hide_labelmap(result.labelmapNode)
            self._panel.surface.follow(parameters)
        else:
            opacity = views.LABEL_OPACITY
            slicer.util.setSliceViewerLayers(label=result.labelmapNode, labelOpacity=opacity)
        self._draw(parameters.inputVolume)

    def _draw(self, volume_node: Any) -> None:
        """Show a volume, and of several ones only its own results."""
        if volume_node is None:
            return
        other = volume_node is not self._drawn
        views.show_volume(volume_node, everywhere=other)
        if other:
            views.show_results_of(volume_node)
        self._drawn = volume_node

    # --- what follows and what is shown

    def show_earlier_results(self, volume: Any) -> None:
        """Choose and show the earlier results of a volume."""
        parameters = self._panel.parameters
        for selector in self._selectors:
            selector.find(parameters)
        self._draw(volume)  # the other one's result does not lie over this one
        self._panel.surface.first = False
        if parameters.labelmap is not None:
            views.fit_cameras(parameters.labelmap)

    def react(self, parameters: Any) -> None:
        """Use the outputs of the chosen volume; those of other volumes stay as they are."""
        for selector in self._selectors:
            selector.leave_others(parameters)
        self._choice.follow(parameters)
        scene_node, (_node, before_opacity) = self._panel.result_scene(parameters), self._overlay
        opacity = parameters.overlayOpacity if parameters.showOverlay else 0.0
        changed = (scene_node, opacity) != self._overlay
        if changed and scene_node is not None and (opacity or before_opacity):
            views.show_scene(scene_node, opacity)
        self._overlay = scene_node, opacity

    def show(self, parameters: Any) -> None:
        for selector in self._selectors:
            selector.show(parameters)
        text = _("Overwrite: {name}")
        self._choice.show(parameters, parameters.segmentation, _("Update this result"), text)
        one = len(clicked_vessels(parameters)) < 2
        why = "" if one else _("With several vessels, each updates its own segment.")
        self._panel.enable(self.ui.segmentComboBox, why)
        self._panel.enable(self.ui.show3DCheckBox, self._panel.surface.why_not(parameters))


class OutputSelector:
    """Shows an output among the parameters, and asks before another node becomes it.

    It is not bound to the parameter: qMRMLNodeComboBox also chooses by itself, when a node is
    removed or hidden. It tells by `nodeActivated` and `nodeAddedByUser` what a person chose. A
    question is asked before a node is written into that was not made for the volume.
    """

    def __init__(self, panel: Any, selector: Any, name: str, kind: str) -> None:
        self._panel, self._selector, self._name, self._kind = panel, selector, name, kind
        selector.connect("nodeActivated(vtkMRMLNode*)", self.choose)
        selector.connect("nodeAddedByUser(vtkMRMLNode*)", self._take_new)

    def show(self, parameters: Any) -> None:
        """Show what is chosen."""
        node = getattr(parameters, self._name)
        if self._selector.currentNode() is not node:
            self._selector.setCurrentNode(node)

    def leave_others(self, parameters: Any) -> None:
        """Leave the outputs of other volumes."""
        node, volume = getattr(parameters, self._name), parameters.inputVolume
        if None not in (node, volume) and not writing.belongs_to(node, self._kind, volume):
            setattr(parameters, self._name, None)

    def find(self, parameters: Any) -> None:
        """Choose the volume's earlier output, unless one of its outputs is chosen."""
        node, volume = getattr(parameters, self._name), parameters.inputVolume
        if not writing.belongs_to(node, self._kind, volume):
            found = writing.output_of(volume, self._kind, self._selector.nodeTypes[0])
            setattr(parameters, self._name, found)

    def choose(self, node: Any) -> None:
        """Take the node that a person chose, None for a new one, where that may be written."""
        parameters = self._panel.parameters
        if node is None or self._agreed(parameters, node):
            setattr(parameters, self._name, node)
        self.show(parameters)

    def _take_new(self, node: Any) -> None:
        parameters = self._panel.parameters
        if parameters.inputVolume is not None:
            writing.claim(node, self._kind, parameters.inputVolume)
            setattr(parameters, self._name, node)

    def _agreed(self, parameters: Any, node: Any) -> bool:
        """Whether a node may be written into, after asking where it was not made for this."""
        volume = parameters.inputVolume
        if volume is None:
            self._panel.say(_("Choose the volume first."))
            return False
        if writing.belongs_to(node, self._kind, volume):
            return True
        if node in (volume, parameters.mask):
            text = _("'{name}' is the volume or the mask: choose another one.")
            self._panel.say(text.format(name=node.GetName()))
            return False
        question = _(
            "The voxels of '{name}' are replaced by each result of {source}. Write into it?"
        )
        if self._kind == SEGMENTATION:
            question = _(
                "Put the vessels of {source} into '{name}'? Its other segments stay as they are."
            )
        question = question.format(name=node.GetName(), source=volume.GetName())
        if writing.is_output(node, self._kind):
            others = ", ".join(each.GetName() for each in writing.sources_of(node))
            question += " " + _("It holds the result of {others}.").format(others=others)
        if not slicer.util.confirmYesNoDisplay(question, windowTitle=self._panel.title()):
            return False
        writing.claim(node, self._kind, volume)
        return True
