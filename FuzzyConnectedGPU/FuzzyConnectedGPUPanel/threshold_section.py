"""Section Threshold: slider, automatic choices, V(t), and the result that follows."""

import qt
import slicer
from slicer.i18n import tr as _

from FuzzyConnectedGPULib.threshold.choice import UNSURE
from FuzzyConnectedGPUMRML import run_inputs
from FuzzyConnectedGPUMRML.slice_layers import ThresholdPreview
from FuzzyVesselCoreLib.errors import InputError

from . import region_section
from .plots import VolumePlot, millilitres

LEAST = 1e-4  # the slider's lowest value that is a threshold
LOOK = 200  # milliseconds between two looks whether the slider is still held


class ThresholdSection:
    """The threshold of the fuzzy scene that is there; nothing is computed anew."""

    def __init__(self, panel):
        self._panel, self.ui = panel, panel.ui
        self._plot = VolumePlot(self.ui.curveFrame, self.choose)
        self._curve = self._curve_of = self._applied = self._preview = self._volume = None
        self._reason, self._at_start = "", None
        self._timer = qt.QTimer()
        self._timer.setInterval(LOOK)
        self._timer.connect("timeout()", self._end_if_released)
        self.ui.thresholdSlider.connect("valueIsChanging(double)", self.preview)
        self.ui.automaticThresholdButton.connect("clicked()", lambda: self.choose_by("automatic"))
        self.ui.backgroundThresholdButton.connect("clicked()", lambda: self.choose_by("background"))

    # --- what the user does

    def preview(self, threshold):
        """Show in all slices what a threshold would take; the slider is held."""
        scene_node = self._panel.result_scene()
        if scene_node is None or scene_node.GetDisplayNode() is None:
            return
        if self._preview is None:
            self._preview = ThresholdPreview(scene_node, [self._panel.parameters.segmentation])
            self._timer.start()
        self._preview.show(max(threshold, LEAST))
        self._show_volume(threshold)

    def end_preview(self):
        """The views show the result again."""
        self._timer.stop()
        if self._preview is not None:
            self._preview.end()
            self._preview = None

    def _end_if_released(self):
        if not slicer.app.mouseButtons():
            self.end_preview()
            self._panel.update_soon()

    def choose(self, threshold):
        """Take a threshold by hand."""
        if self._panel.parameters is not None:
            self._panel.parameters.threshold = min(max(threshold, LEAST), 1.0)

    def choose_by(self, source):
        """Take the automatic threshold or that of the background seeds, now and in later runs."""
        parameters = self._panel.parameters
        if self._panel.running.active:
            parameters.thresholdSource = type(parameters.thresholdSource)(source)
        else:
            self._choose_by(source, parameters)
        self._panel.update_soon()

    def _choose_by(self, source, parameters):
        kinds = type(parameters.thresholdSource)
        parameters.thresholdSource = kinds(source)
        if self._panel.result_scene(parameters) is None:
            return
        try:
            threshold = self._value(parameters, source)
        except InputError as error:
            parameters.thresholdSource = kinds("manual")
            self._panel.say(str(error))
            return
        self.set(parameters, threshold)

    def _value(self, parameters, source):
        scene_node = self._panel.result_scene(parameters)
        if source == "background" and run_inputs.contrast_threshold(scene_node) is None:
            return self._panel.logic.backgroundThreshold(scene_node, parameters.backgroundSeeds)
        return self._panel.logic.automaticThreshold(
            scene_node, parameters.backgroundSeeds, parameters.cut
        )

    # --- what runs do

    def set(self, parameters, threshold):
        """Take a threshold that was not chosen by hand, and write the labels of it."""
        self.note(threshold)
        with slicer.util.NodeModify(parameters.parameterNode):
            parameters.threshold = float(threshold)
            self._apply(parameters, parameters.threshold)

    def begin(self, parameters):
        """A run begins."""
        self.end_preview()
        source = parameters.thresholdSource.value
        self._at_start = (parameters.threshold, parameters.fillGaps, source)

    def taken(self, parameters, result):
        """A run wrote the labels of a threshold; what was chosen meanwhile is taken instead."""
        threshold, gaps, source = self._at_start
        self._curve_of = None
        self._volume = result.volumeMl
        self._applied = (float(result.threshold), gaps)
        self.note(result.threshold)
        now = parameters.thresholdSource.value
        if now == "background" or now not in (source, "manual"):
            self._choose_by(now, parameters)
        elif now == source and parameters.threshold == threshold:
            parameters.threshold = self._applied[0]
            self._applied = (parameters.threshold, gaps)
        self._follow(parameters, result.sceneNode, running=False)

    def note(self, threshold):
        """Remember what an automatic threshold says of itself."""
        confidence = getattr(threshold, "confidence", None)
        if confidence is None:
            reason = getattr(threshold, "reason", "")
            self._reason = f"{reason[:1].upper()}{reason[1:]}." if reason else ""
        elif confidence < UNSURE:
            self._reason = _("Unsure: {reason}.").format(reason=threshold.reason)
        else:
            self._reason = _("Sure to {confidence:.0%}: {reason}.").format(
                confidence=confidence, reason=threshold.reason
            )

    # --- what is shown

    def show(self, parameters):
        scene_node = self._panel.result_scene()
        self._show_curve(scene_node)
        self._follow(parameters, scene_node)
        source = parameters.thresholdSource.value
        self.ui.automaticThresholdButton.checked = source == "automatic"
        self.ui.backgroundThresholdButton.checked = source == "background"
        background = parameters.backgroundSeeds
        without = background is None or not background.GetNumberOfDefinedControlPoints()
        why = _("Place background points first, where the result leaks.") if without else ""
        if parameters.model.value == "contrast":
            why = _("Background points are kept out at every threshold.")
        self._panel.enable(self.ui.backgroundThresholdButton, why)
        self._show_volume(parameters.threshold)
        self._show_note(parameters, source)

    def _follow(self, parameters, scene_node, running=None):
        """Write the labels of a threshold that the user or a script has set."""
        if self._panel.running.active if running is None else running:
            return  # what is moved now is taken when the run ends
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

    def _apply(self, parameters, threshold):
        self.end_preview()
        self._applied = (threshold, parameters.fillGaps)
        threshold = max(threshold, LEAST)
        try:
            by_contrast = run_inputs.contrast_threshold(parameters.sceneVolume) is not None
            cut = 0.0 if by_contrast else parameters.cut
            result = self._panel.logic.thresholdScene(
                parameters.sceneVolume,
                max(threshold, cut),
                backgroundSeedsNode=parameters.backgroundSeeds,
                cut=cut,
                fillGaps=parameters.fillGaps,
                **region_section.nodes_of(parameters),
                labelmapNode=parameters.labelmap,
                segmentationNode=parameters.segmentation,
                segmentID=self._panel.output.segment_to_write(parameters),
            )
        except InputError as error:
            self._panel.say(str(error))
            return
        self._volume = result.volumeMl
        volume_node = parameters.sceneVolume.GetNodeReference(run_inputs.VOLUME)
        self._panel.output.written(parameters, result, volume_node)

    def _show_curve(self, scene_node):
        image = scene_node and (scene_node.GetID(), scene_node.GetImageData().GetMTime())
        if image == self._curve_of:
            return
        self._curve_of = image
        try:
            self._curve = self._panel.logic.volumeCurve(scene_node) if image else None
        except InputError as error:
            self._curve = None
            self._panel.say(str(error))
        self._plot.show_curve(self._curve)

    def _show_volume(self, threshold):
        text = ""
        if self._curve is not None:
            written = self._applied is not None and threshold == self._applied[0]
            exact = self._volume if written else None
            volume = millilitres(exact or self._curve.at(max(threshold, LEAST)))
            text = f"<span style='font-size:large; font-weight:600'>{volume}</span>"
        self.ui.volumeValueLabel.text = text
        self._plot.show_threshold(threshold)

    def _show_note(self, parameters, source):
        texts = [self._reason] if source == "automatic" else []
        if self._curve is not None and not self._panel.is_current():
            texts.insert(0, _("Of the earlier seeds and settings: press Apply."))
        self.ui.thresholdNoteLabel.text = " ".join(texts)
        self.ui.thresholdNoteLabel.setVisible(bool(texts and any(texts)))

    def forget(self):
        """The fuzzy scene is gone."""
        self._timer.stop()
        self._preview = self._curve = self._curve_of = self._applied = self._volume = None
        self._reason = ""
        self._plot.show_curve(None)
