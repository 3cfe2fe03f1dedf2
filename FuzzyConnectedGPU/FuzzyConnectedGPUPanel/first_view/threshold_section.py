"""Section Threshold: less and more, automatic choices, V(t), and the result that follows."""

from typing import Any

import slicer
from slicer.i18n import tr as _

from FuzzyConnectedGPUMRML import run_inputs
from FuzzyConnectedGPUMRML.volume_curve import labelled_millilitres
from FuzzyVesselCoreLib.errors import InputError

from ..advanced import region_section
from ..plots import VolumePlot, millilitres
from ..wording import threshold_reason, worded
from .threshold_preview import HeldSlider

LEAST = 1e-4  # the slider's lowest value that is a threshold


class ThresholdSection:
    """The threshold of the connectedness map that is there; nothing is computed anew."""

    def __init__(self, panel: Any) -> None:
        self._panel, self.ui = panel, panel.ui
        self._plot = VolumePlot(self.ui.curveFrame, self.choose)
        self._curve: Any = None
        self._curve_of: tuple | None = None
        self._applied: tuple[float, int] | None = None  # what the labels were written of
        self._reason = ""
        self.held = HeldSlider(panel, self._show_held)
        self.ui.thresholdSlider.connect("valueIsChanging(double)", self.preview)
        self.ui.thresholdSpinBox.connect("valueChanged(double)", self.choose)
        self.ui.automaticThresholdButton.connect("clicked()", lambda: self.choose_by("automatic"))
        self.ui.backgroundThresholdButton.connect("clicked()", lambda: self.choose_by("background"))

    # --- what the user does

    def preview(self, threshold: float) -> None:
        """Show in all slices what a threshold would take; the slider is held."""
        self.held.show(max(threshold, LEAST))

    def end_preview(self) -> None:
        """The views show the result again."""
        self.held.end()

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
        kinds = type(parameters.thresholdSource)
        parameters.thresholdSource = kinds(source)
        if self._panel.result_scene(parameters) is None:
            return
        try:
            threshold = self._value(parameters, source)
        except InputError as error:
            parameters.thresholdSource = kinds("manual")
            self._panel.say(worded(error))
            return
        self._take(parameters, threshold)

    def _value(self, parameters: Any, source: str) -> float:
        scene_node = self._panel.result_scene(parameters)
        if source == "background" and run_inputs.contrast_threshold(scene_node) is None:
            points = parameters.backgroundSeeds
            clear = self._panel.logic.backgroundThreshold(scene_node, points)
            return max(float(parameters.threshold), float(clear))  # never lower: it would leak
        return self._panel.logic.automaticThreshold(
            scene_node, parameters.backgroundSeeds, parameters.cut
        )

    # --- what runs do

    def _take(self, parameters: Any, threshold: float) -> None:
        """Take a threshold that was not chosen by hand, and write the labels of it."""
        self._note(threshold)
        with slicer.util.NodeModify(parameters.parameterNode):
            parameters.threshold = float(threshold)
            self._apply(parameters, parameters.threshold)

    def taken(self, parameters: Any, result: Any, chosen: Any) -> None:
        """A run wrote the labels of a threshold; what was chosen meanwhile is taken instead."""
        threshold, gaps = chosen.threshold, chosen.fillGaps
        source = chosen.thresholdSource.value
        self._applied = (float(result.threshold), gaps)
        self._note(result.threshold)
        now = parameters.thresholdSource.value
        if parameters.threshold == threshold:
            parameters.threshold = self._applied[0]
            self._applied = (parameters.threshold, gaps)
        if now == "background" or now not in (source, "manual"):
            self._choose_by(now, parameters)
        self._follow(parameters, result.sceneNode)

    def _note(self, threshold: Any) -> None:
        """Remember what an automatic threshold says of itself."""
        self._reason = threshold_reason(threshold)

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
        scene_node = parameters.sceneVolume
        by_contrast = run_inputs.contrast_threshold(scene_node) is not None
        cut = 0.0 if by_contrast else parameters.cut
        try:
            result = self._panel.logic.thresholdScene(
                scene_node,
                max(threshold, LEAST, cut),
                backgroundSeedsNode=parameters.backgroundSeeds,
                cut=cut,
                fillGaps=parameters.fillGaps,
                **region_section.nodes_of(parameters),
                labelmapNode=parameters.labelmap,
                segmentationNode=parameters.segmentation,
                segmentID=self._panel.output.segment_to_write(parameters),
                showDisputed=parameters.showDisputed,
            )
        except InputError as error:
            self._panel.say(worded(error))
            return
        volume_node = scene_node.GetNodeReference(run_inputs.VOLUME)
        scene_node.SetAttribute(
            run_inputs.THRESHOLD_INPUTS, self._panel.threshold_text(volume_node)
        )
        self._panel.output.written(parameters, result, volume_node)
        edited = self._panel.output.edited_text(parameters)
        if edited:
            self._panel.say(edited)

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

    # --- what is shown

    def measured(self, parameters: Any) -> float | None:
        """Millilitres of the result, also of one that was loaded; None where there is none."""
        if self._curve is None:
            return None
        return labelled_millilitres(parameters.labelmap)

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
        self._plot.show_curve(self._curve)
        source = parameters.thresholdSource.value
        self.ui.automaticThresholdButton.checked = source == "automatic"
        self._show_background(parameters, source)
        why = ""
        if self._panel.result_scene(parameters) is None and not self._panel.running.active:
            why = _("There is no result yet: press Apply.")
        self._panel.enable(self.ui.thresholdSlider, why)
        if self.held.active:
            return  # the widgets are under the user's hand
        blocked = self.ui.thresholdSpinBox.blockSignals(True)
        self.ui.thresholdSpinBox.value = parameters.threshold
        self.ui.thresholdSpinBox.blockSignals(blocked)
        self._show_volume(parameters.threshold, self.measured(parameters))
        self.ui.thresholdNoteLabel.text = self._reason if source == "automatic" else ""
        self.ui.thresholdNoteLabel.setVisible(bool(self.ui.thresholdNoteLabel.text))

    def _show_background(self, parameters: Any, source: str) -> None:
        button = self.ui.backgroundThresholdButton
        button.checked = source == "background"
        button.setVisible(parameters.model.value == "affinity")
        points = parameters.backgroundSeeds
        without = points is None or not points.GetNumberOfDefinedControlPoints()
        why = _("Click points with Not vessel first, where the result leaks.") if without else ""
        self._panel.enable(button, why)

    def _show_held(self, threshold: float) -> None:
        self._show_volume(threshold, None)

    def _show_volume(self, threshold: float, exact: float | None) -> None:
        text = ""
        if self._curve is not None:
            volume = self._curve.at(max(threshold, LEAST)) if exact is None else exact
            text = f"<span style='font-size:large; font-weight:600'>{millilitres(volume)}</span>"
        self.ui.volumeValueLabel.text = text
        self._plot.show_threshold(threshold)

    def forget(self) -> None:
        """The connectedness map is gone."""
        self.held.forget()
        self._curve = self._curve_of = self._applied = None
        self._reason = ""
        self._plot.show_curve(None)
