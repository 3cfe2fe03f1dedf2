"""What a person can choose in the panel; scenes keep the members' names."""

import enum

from slicer.i18n import tr as _

from FuzzyVesselCoreLib.labelled_enum import LabelledEnum


class Region(LabelledEnum):
    """Where paths may go."""

    WHOLE = "whole", _("The whole volume")
    BOX = "roi", _("A box (ROI)")
    MASK = "mask", _("A mask or segment")


class Model(LabelledEnum):
    """What makes a voxel a vessel's; see `FuzzyConnectedGPULib.segmentation.MODELS`."""

    CONTRAST = "contrast", _("Contrast to the surroundings")
    AFFINITY = "affinity", _("Affinity to the points (published)")


class Border(LabelledEnum):
    """Where a vessel ends; see `FuzzyConnectedGPULib.contrast.clicks.borders`."""

    DRAWN = "drawn", _("As experts draw it")
    HALF = "half", _("At half the contrast")


class Side(LabelledEnum):
    """Which intensities beside the mean belong to the vessels, too."""

    BOTH = "both", _("Like the points")
    BRIGHT = "bright", _("Brighter as well")
    DARK = "dark", _("Darker as well")


class Form(LabelledEnum):
    """How intensity and difference make the affinity."""

    GEOMETRIC = "geometric", _("Geometric mean (published)")
    WEIGHTED = "weighted", _("Weighted sum (ITK 3)")


class Solver(LabelledEnum):
    """How connectedness is computed; see `FuzzyConnectedGPULib.SOLVERS`."""

    EXACT = "exact", _("Exact")
    CONTRACTION = "contraction", _("Exact, contraction (CUDA)")
    ACTIVE_TILES = "active-tiles", _("Exact, active tiles (CUDA)")
    BLOCKS = "blocks", _("Exact, blocks (CPU)")
    DIAL = "dial", _("Exact, bucket queue (CPU)")
    KFOE = "kfoe", _("Exact, FIFO queue (CPU, slow)")
    CUDA_KFOE = "cuda-kfoe", _("CUDA-kFOE (with errors)")
    CUDA_KFOE_CORRECTED = "cuda-kfoe-corrected", _("CUDA-kFOE, corrected")


class ThresholdSource(enum.Enum):
    """Who chooses the threshold."""

    AUTOMATIC = "automatic"
    BACKGROUND = "background"
    MANUAL = "manual"
