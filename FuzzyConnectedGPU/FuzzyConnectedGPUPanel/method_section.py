"""Sections Method and Vessel brightness: the model, its own options, and the affinity's numbers."""

import math
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import slicer
from slicer.i18n import tr as _

from FuzzyConnectedGPULib import GaussianAffinity
from FuzzyConnectedGPULib.affinity import affinity_curve, intensity_histogram
from FuzzyConnectedGPUMRML.run_inputs import CORRECTED
from FuzzyConnectedGPUMRML.vessels import clicked_vessels
from FuzzyVesselCoreLib.errors import InputError
from FuzzyVesselCoreLib.mrml.points import placed_points

from .plots import HistogramPlot
from .wording import worded

LARGEST = 1e9  # mean or spread that the panel takes


class MethodSection:
    """The model and its options; mean and spreads of the affinity, with a plot.

    The spin boxes are not bound to the parameters: with other digits for another volume they round
    what they show, and only what a person types may become a parameter.

    Attributes
    ----------
    problem : str
        What stands against a run, as a sentence; or an empty text.
    """

    def __init__(self, panel: Any) -> None:
        self._panel, self.ui, self.problem = panel, panel.ui, ""
        self._plot = HistogramPlot(self.ui.histogramFrame)
        self._estimated_from: tuple | None = None
        self._not_estimated = ""
        self._image: tuple | None = None
        self._histogram: tuple[Any, Any] = (None, None)
        self._no_histogram = ""
        self._boxes = {
            "mean": self.ui.meanSpinBox,
            "sigma": self.ui.sigmaSpinBox,
            "gradientSigma": self.ui.gradientSpinBox,
        }
        for name, box in self._boxes.items():
            box.connect("valueChanged(double)", lambda value, name=name: self.edit(name, value))
        self.ui.automaticAffinityButton.connect("clicked()", self.back_to_automatic)

    # --- what the user does

    def edit(self, name: str, value: float) -> None:
        """Take a number that was typed; the others stay as they are."""
        parameters = self._panel.parameters
        if parameters is None:
            return
        with slicer.util.NodeModify(parameters.parameterNode):
            parameters.automaticAffinity = False
            setattr(parameters, name, value)

    def back_to_automatic(self) -> None:
        """Let the points decide again."""
        self._estimated_from = None
        self._panel.parameters.automaticAffinity = True

    # --- what follows

    def react(self, parameters: Any) -> None:
        """Estimate the numbers anew where the points or the volume have changed."""
        if parameters.model.value != "affinity":
            return  # nothing of it is shown or computed with
        self._read_histogram(parameters.inputVolume)
        self._estimate(parameters)
        self.problem = self._no_histogram or self._not_estimated
        if not parameters.automaticAffinity and not self._no_histogram:
            self.problem = "" if affinity_of(parameters) else _("The spreads must be above 0.")

    def _estimate(self, parameters: Any) -> None:
        lists = clicked_vessels(parameters)  # of several vessels the first, whichever is selected
        volume, seeds = parameters.inputVolume, lists[0] if lists else parameters.seeds
        if not parameters.automaticAffinity or not self._panel.has_voxels(volume) or seeds is None:
            self._estimated_from, self._not_estimated = None, ""
            return
        asked = (
            volume.GetID(),
            volume.GetImageData().GetMTime(),
            placed_points(seeds).world.tolist(),
            parameters.radius,
            parameters.side,
        )
        if not asked[2] or asked == self._estimated_from:
            return
        self._estimated_from, self._not_estimated = asked, ""
        try:
            found = self._panel.logic.estimateAffinity(
                volume, seeds, parameters.radius, parameters.side.value
            )
        except InputError as error:
            self._not_estimated = worded(error)
            return
        largest = max(abs(found.mean), found.sigma, found.gradient_sigma)
        if largest > LARGEST:
            text = _("The brightness round the points is up to {found:.0e}, and may be {most:.0e}")
            text = text.format(found=largest, most=LARGEST) + _(": scale the volume first.")
            self._not_estimated = text
            return
        with slicer.util.NodeModify(parameters.parameterNode):
            parameters.mean, parameters.sigma = float(found.mean), float(found.sigma)
            parameters.gradientSigma = float(found.gradient_sigma)

    def _read_histogram(self, volume: Any) -> None:
        image = None
        if self._panel.has_voxels(volume):
            image = (volume.GetID(), volume.GetImageData().GetMTime())
        if image == self._image:
            return
        self._image, self._no_histogram, self._histogram = image, "", (None, None)
        if image is not None:
            try:
                self._histogram = intensity_histogram(slicer.util.arrayFromVolume(volume))
            except InputError as error:
                self._no_histogram = worded(error)

    # --- what is shown

    def show(self, parameters: Any) -> None:
        self._show_method(parameters)
        self._plot.show_histogram(*self._histogram)
        self._show_numbers(parameters)
        why = _("The numbers follow the points already.") if parameters.automaticAffinity else ""
        self._panel.enable(self.ui.automaticAffinityButton, why)
        seeds = self._panel.seeds.intensities()
        affinity = affinity_of(parameters)
        known = not self.problem and (seeds or not parameters.automaticAffinity)
        curve = partial(affinity_curve, affinity) if affinity is not None and known else None
        self._plot.show_affinity(curve, seeds)
        note = _("Follows the vessel points.") if parameters.automaticAffinity else _("Edited.")
        self.ui.affinityNoteLabel.text = self.problem or note

    def _show_method(self, parameters: Any) -> None:
        """Enable and show what the chosen model and solver use."""
        ui, by_affinity = self.ui, parameters.model.value == "affinity"
        ui.affinityGroupBox.setVisible(by_affinity)
        corrected = by_affinity and parameters.solver.value == CORRECTED
        weighted = by_affinity and parameters.form.value == "weighted"
        for widget, used, why in (
            (ui.solverComboBox, by_affinity, _("Only used by the affinity to the points.")),
            (ui.formComboBox, by_affinity, _("Only used by the affinity to the points.")),
            (ui.borderComboBox, not by_affinity, _("Only used by the contrast.")),
            (ui.correctionsSpinBox, corrected, _("Only used by the corrected CUDA-kFOE solver.")),
            (ui.directionsSpinBox, corrected, _("Only used by the corrected CUDA-kFOE solver.")),
            (ui.weightSlider, weighted, _("Only used by the weighted sum.")),
        ):
            self._panel.enable(widget, "" if used else why)

    def _show_numbers(self, parameters: Any) -> None:
        """Show the numbers with as many digits as the range of intensities asks for."""
        edges = self._histogram[0]
        for name, box in self._boxes.items():
            blocked = box.blockSignals(True)
            if edges is not None:
                digits = _digits(edges) + (name != "mean")
                box.decimals, box.singleStep = digits, 10.0 ** (1 - digits)
            box.value = getattr(parameters, name)
            box.blockSignals(blocked)

    def forget(self) -> None:
        """Volume and points are gone."""
        self.problem = self._no_histogram = self._not_estimated = ""
        self._image = self._estimated_from = None
        self._histogram = (None, None)
        self._plot.show_histogram(None, None)


def _digits(edges: np.ndarray) -> int:
    return max(0, min(6, 3 - math.ceil(math.log10(max(edges[-1] - edges[0], 1e-9)))))


def affinity_of(parameters: Any) -> GaussianAffinity | None:
    """The affinity of the numbers, or None where they are none."""
    try:
        return replace(
            GaussianAffinity(parameters.mean, parameters.sigma, parameters.gradientSigma),
            form=parameters.form.value,
            weight=parameters.weight,
            side=parameters.side.value,
        )
    except InputError:
        return None


def model_options(parameters: Any) -> dict[str, Any]:
    """What a run's model is, with its own options, as `FuzzyConnectedGPULogic.segment` takes it."""
    if parameters.model.value == "contrast":
        return dict(model="contrast", border=parameters.border.value)
    options: dict[str, Any] = dict(
        model="affinity",
        cut=parameters.cut,
        solver=parameters.solver.value,
        affinity=affinity_of(parameters),
    )
    if parameters.solver.value == CORRECTED:
        options |= dict(corrections=parameters.corrections, directions=parameters.directions)
    return options
