"""Section Threshold: less and more, the automatic choice, V(t), and the result that follows."""

from collections.abc import Callable
from typing import Any

import numpy as np
import qt
import slicer
from slicer.i18n import tr as _

from FuzzyConnectedGPUMRML import run_inputs
from FuzzyConnectedGPUMRML.views import ThresholdPreview
from FuzzyConnectedGPUMRML.volumes import labelled_millilitres
from FuzzyVesselCoreLib.errors import InputError
from FuzzyVesselCoreLib.widgets.plots import ACCENT, SECOND, Plot

from .input_section import region_of
from .tables import millilitres
from .wording import threshold_reason, worded

LEAST = 1e-4  # the slider's lowest value that is a threshold
LOOK = 200  # milliseconds between two looks whether the slider is still held


class ThresholdSection:
    """The threshold of the connectedness map that is there; nothing is computed anew."""

    def __init__(self, panel: Any) -> None:
        self._panel, self.ui = panel, panel.ui
        self._plot = VolumePlot(self.ui.curveFrame, self.choose)
        self._held = qt.QTimer()
        self._held.setInterval(LOOK)
        self._held.connect("timeout()", self._end_if_released)
        self.ui.thresholdSlider.connect("valueIsChanging(double)", self.preview)
        self.ui.thresholdSpinBox.connect("valueChanged(double)", self.choose)
        self.ui.automaticThresholdButton.connect("clicked()", lambda: self.choose(None))
        self.forget()

    def forget(self) -> None:
        """The connectedness map is gone."""
        self._held.stop()
        self._preview: ThresholdPreview | None = None  # from the slider's first move to its release
        self._curve: Any = None
        self._curve_of: tuple | None = None
        self._applied: tuple | None = None  # what the labels were written of
        self._reason = ""
        self._plot.show_curve(None, None)

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
        self._show_volume(threshold, self._curve and self._curve.at(threshold))

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

    def _take_automatic(self, parameters: Any) -> None:
        scene_node = self._panel.result_scene(parameters)
        if scene_node is None:
            return
        try:
            threshold = self._panel.logic.automaticThreshold(
                scene_node, parameters.backgroundSeeds, parameters.cut
            )
        except InputError as error:
            self._panel.say(worded(error))
            return
        parameters.threshold, self._reason = float(threshold), threshold_reason(threshold)
        self._apply(parameters)

    # --- what runs do

    def taken(self, parameters: Any, result: Any, chosen: Any) -> None:
        """A run wrote the labels of a threshold; what was chosen meanwhile is taken instead."""
        self._reason, moved = threshold_reason(result.threshold), parameters.threshold
        parameters.threshold = float(result.threshold)
        self._applied = (parameters.threshold, chosen.fillGaps, chosen.showDisputed)
        automatic = parameters.thresholdSource.value != "manual"
        if moved != chosen.threshold:
            parameters.threshold = moved
        elif automatic and chosen.thresholdSource is not parameters.thresholdSource:
            self._take_automatic(parameters)
        self._follow(parameters, result.sceneNode)

    # --- what follows

    def react(self, parameters: Any) -> None:
        """Write the labels where the user or a script has set another threshold."""
        scene_node = self._panel.result_scene()
        self._read_curve(scene_node)
        if not self._panel.running.active:  # what is moved in a run is taken when the run ends
            self._follow(parameters, scene_node)

    def _follow(self, parameters: Any, scene_node: Any) -> None:
        wanted = (parameters.threshold, parameters.fillGaps, parameters.showDisputed)
        if self._applied is None or scene_node is None:
            self._applied = wanted
        if wanted == self._applied:
            return
        with slicer.util.NodeModify(parameters.parameterNode):
            if wanted[0] != self._applied[0]:
                self._reason = ""
                parameters.thresholdSource = type(parameters.thresholdSource).MANUAL
            self._apply(parameters)

    def _apply(self, parameters: Any) -> None:
        """Write the labels of the threshold, the filled gaps and the disputed voxels."""
        self.end_preview()
        self._applied = (parameters.threshold, parameters.fillGaps, parameters.showDisputed)
        scene_node, panel = parameters.sceneVolume, self._panel
        by_contrast = run_inputs.contrast_threshold(scene_node) is not None
        cut = 0.0 if by_contrast else parameters.cut
        try:
            result = panel.logic.thresholdScene(
                scene_node,
                max(parameters.threshold, LEAST, cut),
                backgroundSeedsNode=parameters.backgroundSeeds,
                cut=cut,
                fillGaps=parameters.fillGaps,
                **region_of(parameters),
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
        ui, automatic = self.ui, parameters.thresholdSource.value != "manual"
        ui.automaticThresholdButton.checked = automatic
        there = self._panel.result_scene(parameters) is not None or self._panel.running.active
        why = "" if there else _("There is no result yet: press Apply.")
        self._panel.enable(ui.thresholdSlider, why)
        if self._preview is not None:
            return  # the widgets are under the user's hand
        blocked = ui.thresholdSpinBox.blockSignals(True)
        ui.thresholdSpinBox.value = parameters.threshold
        ui.thresholdSpinBox.blockSignals(blocked)
        self._show_volume(parameters.threshold, self.measured(parameters))
        ui.thresholdNoteLabel.text = self._reason if automatic else ""
        ui.thresholdNoteLabel.setVisible(bool(ui.thresholdNoteLabel.text))

    def _show_volume(self, threshold: float, volume: float | None) -> None:
        text = ""
        if volume is not None:
            text = f"<span style='font-size:large; font-weight:600'>{millilitres(volume)}</span>"
        self.ui.volumeValueLabel.text = text
        self._plot.show_curve(self._curve, threshold)


class VolumePlot(Plot):
    """V(t): the volume over the threshold, on a logarithmic scale, and where the threshold is.

    `chosen` is called with a threshold where the user clicks.
    """

    HEIGHT = 120

    def __init__(self, frame: Any, chosen: Callable[[float], None]) -> None:
        Plot.__init__(self, frame)
        self._curve, self._threshold, self._chosen = None, None, chosen
        self.toolTip = _(
            "Volume over the threshold. Where the curve jumps up towards lower thresholds, the "
            "result leaks. Click to set the threshold."
        )

    def show_curve(self, curve: Any, threshold: float | None) -> None:
        """Show a `VolumeCurve` and the threshold, or None."""
        self._curve, self._threshold = curve, threshold
        self.update()

    def mousePressEvent(self, event: Any) -> None:
        area = self.area()
        place = event.position() if hasattr(event, "position") else event.pos()  # Qt 6 and Qt 5
        share = (place.x() - area.left()) / area.width()
        if self._curve is not None and 0 <= share <= 1:
            self._chosen(share)

    def paint_curves(self, painter: Any, area: Any) -> None:
        curve = self._curve
        if curve is None:
            self.hint(painter, area, _("After a run: volume over threshold. A leak is a jump."))
            return
        places = np.unique(np.linspace(0, len(curve.thresholds) - 1, 400).astype(int))
        volumes = np.maximum(curve.millilitres[places], 1e-12)
        least, most = volumes[-1], volumes[0]
        heights = np.log(volumes / least) / max(np.log(most / least), 1e-12) * 0.94 + 0.03
        self.line(painter, area, curve.thresholds[places].tolist(), heights.tolist(), SECOND, 2.0)
        if self._threshold is not None:
            self.upright(painter, area, self._threshold, ACCENT)
        painter.setPen(self.palette.color(qt.QPalette.WindowText))
        inner = area.adjusted(4, 2, -4, -2)
        painter.drawText(inner, qt.Qt.AlignRight | qt.Qt.AlignTop, millilitres(most))
        painter.drawText(inner, qt.Qt.AlignLeft | qt.Qt.AlignBottom, millilitres(least))
        self.numbers(painter, area, ["0", _("threshold"), "1"])
