"""Sections Method and Vessel brightness: the model, its own options, and the affinity's numbers."""

from dataclasses import replace
from typing import Any

import slicer
from slicer.i18n import tr as _

from FuzzyConnectedGPULib import GaussianAffinity
from FuzzyConnectedGPUMRML.run_inputs import CORRECTED
from FuzzyConnectedGPUMRML.vessels import clicked_vessels
from FuzzyVesselCoreLib.errors import InputError
from FuzzyVesselCoreLib.mrml.points import placed_points

from .wording import worded

NUMBERS = ("mean", "sigma", "gradientSigma")


class MethodSection:
    """The model and its options; the affinity's numbers follow the points until they are edited.

    Attributes
    ----------
    problem : str
        What stands against a run, as a sentence; or an empty text.
    """

    def __init__(self, panel: Any) -> None:
        self._panel, self.ui = panel, panel.ui
        self.forget()

    def forget(self) -> None:
        """Volume and points are gone."""
        self.problem = ""
        self._estimated_from: tuple | None = None
        self._estimated: tuple = ()  # the numbers

    def react(self, parameters: Any) -> None:
        """Estimate the numbers anew where the points or the volume have changed."""
        if parameters.model.value != "affinity":
            self.problem = ""
            return
        numbers = tuple(getattr(parameters, name) for name in NUMBERS)
        if not parameters.automaticAffinity:
            self.forget()
        elif numbers != self._estimated and self._estimated:  # somebody typed one
            self.forget()
            parameters.automaticAffinity = False
        else:
            self._estimate(parameters)
        if not self.problem and affinity_of(parameters) is None:
            self.problem = _("The spreads of the vessel brightness must be above 0.")

    def _estimate(self, parameters: Any) -> None:
        lists, volume = clicked_vessels(parameters), parameters.inputVolume
        if not lists or not self._panel.has_voxels(volume):
            return
        seeds = lists[0]  # of several vessels the first, whichever is selected
        asked = (
            volume.GetID(),
            volume.GetImageData().GetMTime(),
            placed_points(seeds).world.tolist(),
            parameters.radius,
            parameters.side,
        )
        if asked == self._estimated_from:
            return
        self._estimated_from, self._estimated, self.problem = asked, (), ""
        try:
            found = self._panel.logic.estimateAffinity(
                volume, seeds, parameters.radius, parameters.side.value
            )
            numbers = float(found.mean), float(found.sigma), float(found.gradient_sigma)
            with slicer.util.NodeModify(parameters.parameterNode):
                for name, number in zip(NUMBERS, numbers):
                    setattr(parameters, name, number)
        except (InputError, ValueError) as error:  # also a number outside the parameter's range
            self.problem = worded(error)
        else:
            self._estimated = numbers

    def show(self, parameters: Any) -> None:
        by_affinity = parameters.model.value == "affinity"
        self.ui.affinityGroupBox.setVisible(by_affinity)
        why = _("Only used by the contrast.") if by_affinity else ""
        self._panel.enable(self.ui.borderComboBox, why)


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
