"""Section Threshold: less and more, the automatic choice, and the result that follows."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import qt
import slicer
from slicer.i18n import tr as _

from FuzzyConnectedGPUMRML import fuzzy_scene
from FuzzyConnectedGPUMRML.fuzzy_scene import labelled_millilitres
from FuzzyConnectedGPUMRML.segmenting import scene_threshold, threshold_scene
from FuzzyConnectedGPUMRML.views import preview_threshold
from FuzzyVesselCoreLib.errors import InputError

from .wording import millilitres, threshold_reason, worded

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
        """The fuzzy scene is gone, or is that of another volume."""
        self.end_preview()
        self._applied: tuple | None = None  # what the labels were written of

    # --- what the user does

    def preview(self, threshold: float) -> None:
        """Show in all slices what a threshold would take; the slider is held."""
        scene_node, threshold = self._panel.result_scene(), max(threshold, LEAST)
        if scene_node is None or scene_node.GetDisplayNode() is None:
            return
        if self._end_preview is None:
            self._end_preview = preview_threshold(scene_node, [self._panel.parameters.segmentation])
            self._held.start()
        scene_node.GetDisplayNode().SetThreshold(threshold, 1.0)
        curve = self._curve()
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
        kinds = type(parameters.thresholdSource)
        with slicer.util.NodeModify(parameters.parameterNode):
            if threshold is not None:
                parameters.thresholdSource = kinds.MANUAL
                parameters.threshold = min(max(threshold, LEAST), 1.0)
            else:
                parameters.thresholdSource = kinds.AUTOMATIC
                if not self._panel.running.active:
                    self._take_automatic(parameters)
                elif self._applied is not None:  # what was moved in the run is given up
                    parameters.threshold = self._applied[0]

    def _take_automatic(self, parameters: Any) -> None:
        scene_node, points = self._panel.result_scene(parameters), parameters.backgroundSeeds
        if scene_node is None:
            return
        try:
            automatic = scene_threshold(scene_node, points, parameters.cut)
        except InputError as error:
            self._panel.say(worded(error))
            return
        parameters.threshold = float(automatic)
        self._apply(parameters)

    # --- what runs do

    def taken(self, parameters: Any, result: Any, options: Any) -> None:
        """A run wrote the labels of a threshold; what was chosen meanwhile is taken instead."""
        self._applied = (float(result.threshold), options.fill_gaps, options.showDisputed)
        if chosen_threshold(parameters) is None:
            if options.threshold is None:
                parameters.threshold = self._applied[0]
            else:
                self._take_automatic(parameters)
        self._follow(parameters)

    # --- what follows

    def react(self, parameters: Any) -> None:
        """Write the labels where the user or a script has set another threshold."""
        running = self._panel.running.active
        if self._applied is None or not (running or self._panel.result_scene()):
            self._applied = _wanted(parameters)
        if parameters.threshold != self._applied[0]:
            parameters.thresholdSource = type(parameters.thresholdSource).MANUAL
        if not running:  # what is moved in a run is taken when the run ends
            self._follow(parameters)

    def _follow(self, parameters: Any) -> None:
        if _wanted(parameters) != self._applied:
            self._apply(parameters)

    def _apply(self, parameters: Any) -> None:
        """Write the labels of the threshold, the filled gaps and the disputed voxels."""
        self.end_preview()
        scene_node, panel = parameters.sceneVolume, self._panel
        by_contrast = fuzzy_scene.contrast_threshold(scene_node) is not None
        least = LEAST if by_contrast else max(parameters.cut, LEAST)
        parameters.threshold = max(parameters.threshold, least)
        self._applied = _wanted(parameters)
        options = replace(
            panel.options(parameters),
            threshold=parameters.threshold,
            cut=None,
            segmentationNode=parameters.segmentation,
        )
        try:
            result = threshold_scene(scene_node, options)
        except InputError as error:
            panel.say(worded(error))
            return
        panel.output.written(parameters, result, scene_node.GetNodeReference(fuzzy_scene.VOLUME))
        edited = panel.output.edited_text(parameters)
        if edited:
            panel.say(edited)

    # --- what is shown

    def _curve(self) -> Any:
        """V(t) of the result; None where there is none, or its values are not those of a run."""
        scene_node = self._panel.result_scene()
        try:
            return scene_node and fuzzy_scene.scene_curve(scene_node)
        except InputError:
            return None

    def measured(self, parameters: Any) -> float | None:
        """Millilitres of the result, also of one that was loaded; None without a result."""
        there = self._curve() is not None and self._panel.output.is_shown(parameters)
        return labelled_millilitres(parameters.labelmap) if there else None

    def leaks(self, parameters: Any, volume_ml: float) -> tuple[float, float]:
        """The share of the image that a result fills, and how many times larger it is than that
        of the automatic threshold.
        """
        curve = self._curve()
        if curve is None:
            return 0.0, 1.0
        automatic = fuzzy_scene.threshold_of_run(self._panel.result_scene(parameters))
        expected = volume_ml if automatic is None else curve.at(automatic)
        return volume_ml / curve.total, volume_ml / max(expected, 1e-9)

    def show(self, parameters: Any) -> None:
        ui, automatic = self.ui, chosen_threshold(parameters) is None
        ui.automaticThresholdButton.checked = automatic
        there = self._panel.result_scene(parameters) is not None or self._panel.running.active
        why = "" if there else _("There is no result yet: press Apply.")
        self._panel.enable(ui.thresholdSlider, why)
        if self._end_preview is not None:
            return  # the widgets are under the user's hand
        blocked = ui.thresholdSpinBox.blockSignals(True)
        ui.thresholdSpinBox.value = parameters.threshold
        ui.thresholdSpinBox.blockSignals(blocked)
        self._show_volume(self.measured(parameters))
        reason = threshold_reason(fuzzy_scene.contrast_threshold(self._panel.result_scene()))
        ui.thresholdNoteLabel.text = reason if automatic else ""
        ui.thresholdNoteLabel.setVisible(bool(ui.thresholdNoteLabel.text))

    def _show_volume(self, volume: float | None) -> None:
        text = ""
        if volume is not None:
            text = f"<span style='font-size:large; font-weight:600'>{millilitres(volume)}</span>"
        self.ui.volumeValueLabel.text = text


def chosen_threshold(parameters: Any) -> float | None:
    """The threshold that a person chose; None where runs choose it."""
    manual = parameters.thresholdSource.value == "manual"
    return parameters.threshold if manual else None


def _wanted(parameters: Any) -> tuple:
    """What labels are written of, beside the fuzzy scene."""
    return parameters.threshold, parameters.fillGaps, parameters.showDisputed
