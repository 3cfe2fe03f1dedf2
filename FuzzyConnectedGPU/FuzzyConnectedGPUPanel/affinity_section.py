"""Section Affinity: numbers from the seeds, or edited by hand, and what they mean for the image."""

import math
from dataclasses import replace

import slicer
from slicer.i18n import tr as _

from FuzzyConnectedGPULib import GaussianAffinity
from FuzzyConnectedGPULib.affinity.intensity_curves import affinity_curve, intensity_histogram
from FuzzyVesselCoreLib.errors import InputError
from FuzzyVesselCoreLib.mrml.reading import placed_points

from .plots import HistogramPlot

LARGEST = 1e9  # mean or spread that the panel takes


class AffinitySection:
    """Mean and spreads, with a plot.

    Attributes
    ----------
    problem : str
        What stands against a run, as a sentence; or an empty text.
    """

    def __init__(self, panel):
        self._panel, self.ui, self.problem = panel, panel.ui, ""
        self._plot = HistogramPlot(self.ui.histogramFrame)
        self._image = self._estimated_from = self._filled = None
        self._no_histogram = ""
        self.ui.automaticAffinityButton.connect("clicked()", self.back_to_automatic)

    def back_to_automatic(self):
        """Let the seeds decide again."""
        self._filled = self._estimated_from = None
        self._panel.parameters.automaticAffinity = True

    def forget(self):
        """Volume and seeds are gone."""
        self.problem = ""
        self._image = self._estimated_from = self._filled = None
        self._no_histogram = ""
        self._plot.show_histogram(None, None)

    def show(self, parameters):
        problem = self._show_histogram(parameters.inputVolume) or self._follow(parameters)
        self.problem = problem
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
        largest = max(abs(found.mean), found.sigma, found.gradient_sigma)
        if largest > LARGEST:
            text = _("The intensities round the seeds are up to {found:.0e}, and may be {most:.0e}")
            return text.format(found=largest, most=LARGEST) + _(": scale the volume first.")
        self._estimated_from = asked
        with slicer.util.NodeModify(parameters.parameterNode):
            parameters.mean, parameters.sigma = found.mean, found.sigma
            parameters.gradientSigma = found.gradient_sigma
        self._filled = (parameters.mean, parameters.sigma, parameters.gradientSigma)
        return ""

    def _show_histogram(self, volume):
        """Show the histogram of another volume; returns why there is none."""
        image = None
        if self._panel.has_voxels(volume):
            image = (volume.GetID(), volume.GetImageData().GetMTime())
        if image == self._image:
            return self._no_histogram
        self._image, self._no_histogram, curve = image, "", (None, None)
        if image is not None:
            try:
                curve = intensity_histogram(slicer.util.arrayFromVolume(volume))
            except InputError as error:
                self._no_histogram = str(error)
        self._plot.show_histogram(*curve)
        if curve[0] is not None:
            self._set_digits(curve[0])
        return self._no_histogram

    def _set_digits(self, edges):
        """Let the numbers have as many digits as the range of intensities asks for."""
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
