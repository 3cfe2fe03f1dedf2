"""Section Threshold: less and more, automatic choices, V(t), and the result that follows."""

from typing import Any

import qt
import slicer
from slicer.i18n import tr as _

from FuzzyConnectedGPUMRML import run_inputs
from FuzzyConnectedGPUMRML.views import ThresholdPreview
from FuzzyConnectedGPUMRML.volumes import labelled_millilitres
from FuzzyVesselCoreLib.errors import InputError

from . import region_section
from .plots import VolumePlot, millilitres
from .wording import threshold_reason, worded

LEAST = 1e-4  # the slider's lowest value that is a threshold
LOOK = 200  # milliseconds between two looks whether the slider is still held


class ThresholdSection:
    """The threshold of the connectedness map that is there; nothing is computed anew."""

    def __init__(self, panel: Any) -> None:
        self._panel, self.ui = panel, panel.ui
        self._plot = VolumePlot(self.ui.curveFrame, self.choose)
        self._curve: Any = None
        self._curve_of: tuple | None = None
        self._applied: tuple[float, int] | None = None  # what the labels were written of
        self._reason = ""
        self._preview: ThresholdPreview | None = None  # from the slider's first move to its release
        self._held = qt.QTimer()
        self._held.setInterval(LOOK)
        self._held.connect("timeout()", self._end_if_released)
        self.ui.thresholdSlider.connect("valueIsChanging(double)", self.preview)
        self.ui.thresholdSpinBox.connect("valueChanged(double)", self.choose)
        self.ui.automaticThresholdButton.connect("clicked()", lambda: self.choose_by("automatic"))
        self.ui.backgroundThresholdButton.connect("clicked()", lambda: self.choose_by("background"))

    # --- what the user does

    def preview(self, threshold: float) -> None:
        """Show in all slices what a threshold would take; the slider is held."""
        scene_node, threshold = self._panel.result_scene(), max(threshold, LEAST)
        if scene_node is None or scene_node.GetDisplayNode() is None:
            return
        if self._preview is None:
            self._preview = ThresholdPreview(scene_node, [self._panel.parameters.segmentation])
            self._held.start()
        self._preview.show(threshold)
        self._show_volume(threshold, None)

    def end_preview(self) -> None:
        """The views show the result again."""
        self._held.stop()
        if self._preview is not None:
            self._preview.end()
            self._preview = None

    def _end_if_released(self) -> None:
        if not slicer.app.mouseButtons():
            self.end_preview()
            self._panel.update_soon()

    def choose(self, threshold: float) -> None:
        """Take a threshold by hand."""
        if self._panel.parameters is not None:
            self._panel.parameters.threshold = min(max(threshold, LEAST), 1.0)

    def choose_by(self, source: str) -> None:
        """Take the automatic threshold or that of the background points, now and in later runs."""
        parameters = self._panel.parameters
        if self._panel.running.active:
            parameters.thresholdSource = type(parameters.thresholdSource)(source)
        else:
            self._choose_by(source, parameters)
        self._panel.update_soon()

    def _choose_by(self, source: str, parameters: Any) -> None:
        kinds, logic = type(parameters.thresholdSource), self._panel.logic
        parameters.thresholdSource = kinds(source)
        scene_node, points = self._panel.result_scene(parameters), parameters.backgroundSeeds
        if scene_node is None:
            return
        try:
            if source == "background" and run_inputs.contrast_threshold(scene_node) is None:
                clear = float(logic.backgroundThreshold(scene_node, points))
                threshold = max(float(parameters.threshold), clear)  # never lower: it would leak
            else:
                threshold = logic.automaticThreshold(scene_node, points, parameters.cut)
        except InputError as error:
            parameters.thresholdSource = kinds("manual")
            self._panel.say(worded(error))
            return
        self._reason = threshold_reason(threshold)
        with slicer.util.NodeModify(parameters.parameterNode):
            parameters.threshold = float(threshold)
            self._apply(parameters, parameters.threshold)

    # --- what runs do

    def taken(self, parameters: Any, result: Any, chosen: Any) -> None:
        """A run wrote the labels of a threshold; what was chosen meanwhile is taken instead."""
        self._applied = (float(result.threshold), chosen.fillGaps)
        self._reason = threshold_reason(result.threshold)
        if parameters.threshold == chosen.threshold:
            parameters.threshold = self._applied[0]
            self._applied = (parameters.threshold, chosen.fillGaps)
        now = parameters.thresholdSource.value
        if now == "background" or now not in (chosen.thresholdSource.value, "manual"):
            self._choose_by(now, parameters)
        self._follow(parameters, result.sceneNode)

    # --- what follows

    def react(self, parameters: Any) -> None:
        """Write the labels where the user or a script has set another threshold."""
        scene_node = self._panel.result_scene()
        self._read_curve(scene_node)
        if not self._panel.running.active:  # what is moved in a run is taken when the run ends
            self._follow(parameters, scene_node)

    def _follow(self, parameters: Any, scene_node: Any) -> None:
        wanted = (parameters.threshold, parameters.fillGaps)
        if self._applied is None or scene_node is None:
            self._applied = wanted
        if wanted == self._applied:
            return
        with slicer.util.NodeModify(parameters.parameterNode):
            if wanted[0] != self._applied[0]:
                self._reason = ""
                parameters.thresholdSource = type(parameters.thresholdSource)("manual")
            self._apply(parameters, parameters.threshold)

    def _apply(self, parameters: Any, threshold: float) -> None:
        self.end_preview()
        self._applied = (threshold, parameters.fillGaps)
        scene_node, panel = parameters.sceneVolume, self._panel
        by_contrast = run_inputs.contrast_threshold(scene_node) is not None
        cut = 0.0 if by_contrast else parameters.cut
        try:
            result = panel.logic.thresholdScene(
                scene_node,
                max(threshold, LEAST, cut),
                backgroundSeedsNode=parameters.backgroundSeeds,
                cut=cut,
                fillGaps=parameters.fillGaps,
                **region_section.nodes_of(parameters),
                labelmapNode=parameters.labelmap,
                segmentationNode=parameters.segmentation,
                segmentID=panel.output.segment_to_write(parameters),
                showDisputed=parameters.showDisputed,
            )
        except InputError as error:
            panel.say(worded(error))
            return
        volume_node = scene_node.GetNodeReference(run_inputs.VOLUME)
        scene_node.SetAttribute(run_inputs.THRESHOLD_INPUTS, panel.threshold_text(volume_node))
        panel.output.written(parameters, result, volume_node)
        edited = panel.output.edited_text(parameters)
        if edited:
            panel.say(edited)

    def cut_again(self, parameters: Any) -> None:
        """Write the labels of the present threshold anew."""
        if self._panel.result_scene(parameters) is not None and not self._panel.running.active:
            self._apply(parameters, parameters.threshold)

    def _read_curve(self, scene_node: Any) -> None:
        image = None
        if scene_node is not None:
            image = (scene_node.GetID(), scene_node.GetImageData().GetMTime())
        if image == self._curve_of:
            return
        self._curve_of, self._curve = image, None
        try:
            self._curve = self._panel.logic.volumeCurve(scene_node) if image else None
        except InputError as error:
            self._panel.say(worded(error))

    def volume_was_changed(self) -> None:
        """Threshold and result are those of another volume: nothing is written because of it."""
        self.end_preview()
        self._applied, self._reason = None, ""

    # --- what is shown

    def measured(self, parameters: Any) -> float | None:
        """Millilitres of the result, also of one that was loaded; None where there is none."""
        there = self._curve is not None and self._panel.output.is_shown(parameters)
        return labelled_millilitres(parameters.labelmap) if there else None

    def excess(self, parameters: Any, volume_ml: float) -> float:
        """How many times larger the result is than that of the automatic threshold."""
        automatic = run_inputs.automatic_threshold(self._panel.result_scene(parameters))
        if self._curve is None or automatic is None:
            return 1.0
        return volume_ml / max(self._curve.at(automatic), 1e-9)

    def share(self, volume_ml: float) -> float:
        """Of the image that a volume fills."""
        return volume_ml / self._curve.total if self._curve is not None else 0.0

    def show(self, parameters: Any) -> None:
        ui, source = self.ui, parameters.thresholdSource.value
        self._plot.show_curve(self._curve)
        ui.automaticThresholdButton.checked = source == "automatic"
        ui.backgroundThresholdButton.checked = source == "background"
        ui.backgroundThresholdButton.setVisible(parameters.model.value == "affinity")
        points, why = parameters.backgroundSeeds, ""
        if points is None or not points.GetNumberOfDefinedControlPoints():
            why = _("Click points with Not vessel first, where the result leaks.")
        self._panel.enable(ui.backgroundThresholdButton, why)
        there = self._panel.result_scene(parameters) is not None or self._panel.running.active
        why = "" if there else _("There is no result yet: press Apply.")
        self._panel.enable(ui.thresholdSlider, why)
        if self._preview is not None:
            return  # the widgets are under the user's hand
        blocked = ui.thresholdSpinBox.blockSignals(True)
        ui.thresholdSpinBox.value = parameters.threshold
        ui.thresholdSpinBox.blockSignals(blocked)
        self._show_volume(parameters.threshold, self.measured(parameters))
        ui.thresholdNoteLabel.text = self._reason if source == "automatic" else ""
        ui.thresholdNoteLabel.setVisible(bool(ui.thresholdNoteLabel.text))

    def _show_volume(self, threshold: float, exact: float | None) -> None:
        volume, text = exact, ""
        if self._preview is not None and self._curve is not None:
            volume = self._curve.at(threshold)
        if volume is not None:
            text = f"<span style='font-size:large; font-weight:600'>{millilitres(volume)}</span>"
        self.ui.volumeValueLabel.text = text
        self._plot.show_threshold(threshold)

    def forget(self) -> None:
        """The connectedness map is gone."""
        self._held.stop()
        self._preview = self._curve = self._curve_of = self._applied = None
        self._reason = ""
        self._plot.show_curve(None)
