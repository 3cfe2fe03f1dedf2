"""Section Affinity: numbers from the seeds, or edited by hand, and what they mean for the image."""

import math
from dataclasses import replace

import slicer
from slicer.i18n import tr as _

from FuzzyConnectedGPULib import GaussianAffinity
from FuzzyConnectedGPULib.intensity_curves import affinity_curve, intensity_histogram
from FuzzyVesselCommon.errors import InputError
from FuzzyVesselCommon.mrml import placed_points

from .plots import HistogramPlot


class AffinitySection:
    """Mean and spreads, with a plot."""

    def __init__(self, panel):
        self._panel, self.ui = panel, panel.ui
        self._plot = HistogramPlot(self.ui.histogramFrame)
        self._image = self._estimated_from = self._filled = None
        self.ui.automaticAffinityButton.connect("clicked()", self.back_to_automatic)

    def back_to_automatic(self):
        """Let the seeds decide again."""
        self._filled = self._estimated_from = None
        self._panel.parameters.automaticAffinity = True

    def forget(self):
        """Volume and seeds are gone."""
        self._image = self._estimated_from = self._filled = None
        self._plot.show_histogram(None, None)

    def show(self, parameters):
        self._show_histogram(parameters.inputVolume)
        problem = self._follow(parameters)
        why = _("The numbers follow the seeds already.") if parameters.automaticAffinity else ""
        self._panel.enable(self.ui.automaticAffinityButton, why)
        seeds = self._panel.seeds.intensities()
        affinity = affinity_of(parameters)
        known = affinity is not None and not problem and (seeds or not parameters.automaticAffinity)
        self._plot.show_affinity(
            (lambda values: affinity_curve(affinity, values)) if known else None, seeds
        )
        note = _("Follows the vessel seeds.") if parameters.automaticAffinity else _("Edited.")
        self.ui.affinityNoteLabel.text = problem or note

    def _follow(self, parameters):
        """Fill the numbers from the seeds, unless somebody edited them; what stands against it."""
        numbers = (parameters.mean, parameters.sigma, parameters.gradientSigma)
        if not parameters.automaticAffinity:
            return "" if affinity_of(parameters) else _("The spreads must be above 0.")
        if self._filled is not None and numbers != self._filled:
            self._filled = None
            parameters.automaticAffinity = False
            return ""
        volume, seeds = parameters.inputVolume, parameters.seeds
        if not self._panel.has_voxels(volume) or seeds is None:
            return ""
        asked = (
            volume.GetID(),
            volume.GetImageData().GetMTime(),
            placed_points(seeds).world.tolist(),
            parameters.radius,
            parameters.side,
        )
        if not asked[2] or asked == self._estimated_from:
            return ""
        try:
            found = self._panel.logic.estimateAffinity(
                volume, seeds, parameters.radius, parameters.side.value
            )
        except InputError as error:
            return str(error)
        self._estimated_from = asked
        with slicer.util.NodeModify(parameters.parameterNode):
            parameters.mean, parameters.sigma = found.mean, found.sigma
            parameters.gradientSigma = found.gradient_sigma
        self._filled = (parameters.mean, parameters.sigma, parameters.gradientSigma)
        return ""

    def _show_histogram(self, volume):
        image = None
        if self._panel.has_voxels(volume):
            image = (volume.GetID(), volume.GetImageData().GetMTime())
        if image == self._image:
            return
        self._image = image
        if image is None:
            self._plot.show_histogram(None, None)
            return
        edges, share = intensity_histogram(slicer.util.arrayFromVolume(volume))
        self._plot.show_histogram(edges, share)
        digits = max(0, min(6, 3 - math.ceil(math.log10(max(edges[-1] - edges[0], 1e-9)))))
        for box, more in (
            (self.ui.meanSpinBox, 0),
            (self.ui.sigmaSpinBox, 1),
            (self.ui.gradientSpinBox, 1),
        ):
            box.decimals = digits + more
            box.singleStep = 10.0 ** (1 - digits - more)


def affinity_of(parameters):
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
