"""Section Method: the model, its own options, and what is only used by the other one."""

from typing import Any

from slicer.i18n import tr as _

from FuzzyConnectedGPUMRML.run_inputs import CORRECTED

from .affinity_section import affinity_of


class MethodSection:
    """Enables and shows what the chosen model and solver use."""

    def __init__(self, panel: Any) -> None:
        self._panel, self.ui = panel, panel.ui

    def react(self, parameters: Any) -> None:
        """Nothing follows from the method but what is shown."""

    def show(self, parameters: Any) -> None:
        by_affinity = parameters.model.value == "affinity"
        ui, enable = self.ui, self._panel.enable
        ui.affinityGroupBox.setVisible(by_affinity)
        why = "" if by_affinity else _("Only used by the affinity to the points.")
        enable(ui.solverComboBox, why)
        enable(ui.formComboBox, why)
        why = _("Only used by the contrast to the surroundings.") if by_affinity else ""
        enable(ui.borderComboBox, why)
        corrected = by_affinity and parameters.solver.value == CORRECTED
        why = "" if corrected else _("Only used by the corrected CUDA-kFOE solver.")
        enable(ui.correctionsSpinBox, why)
        enable(ui.directionsSpinBox, why)
        weighted = by_affinity and parameters.form.value == "weighted"
        enable(ui.weightSlider, "" if weighted else _("Only used by the weighted sum."))

    def forget(self) -> None:
        """Nothing is kept."""


def model_options(parameters: Any) -> dict[str, Any]:
    """What a run's model is, with its own options, as `FuzzyConnectedGPULogic.segment` takes it."""
    if parameters.model.value == "contrast":
        return dict(model="contrast", border=parameters.border.value)
    options = dict(
        model="affinity",
        cut=parameters.cut,
        solver=parameters.solver.value,
    )
    options["affinity"] = affinity_of(parameters)
    if parameters.solver.value == CORRECTED:
        options |= dict(corrections=parameters.corrections, directions=parameters.directions)
    return options
