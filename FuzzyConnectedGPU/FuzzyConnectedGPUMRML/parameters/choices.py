"""What a person can choose in the panel; scenes keep the members' names."""

import enum

from slicer.i18n import tr as _

from FuzzyVesselCoreLib.labelled_enum import LabelledEnum


class Region(LabelledEnum):
    """Where paths may go."""

    WHOLE = "whole"
    BOX = "roi"
    MASK = "mask"

    @classmethod
    def labels(cls) -> dict[LabelledEnum, str]:
        return {
            cls.WHOLE: _("The whole volume"),
            cls.BOX: _("A box (ROI)"),
            cls.MASK: _("A mask or segment"),
        }


class Model(LabelledEnum):
    """What makes a voxel a vessel's; see `FuzzyConnectedGPULib.segmentation.MODELS`."""

    CONTRAST = "contrast"
    AFFINITY = "affinity"

    @classmethod
    def labels(cls) -> dict[LabelledEnum, str]:
        return {
            cls.CONTRAST: _("Contrast to the surroundings"),
            cls.AFFINITY: _("Affinity to the points (published)"),
        }


class Border(LabelledEnum):
    """Where a vessel ends; see `FuzzyConnectedGPULib.contrast.clicks.borders`."""

    DRAWN = "drawn"
    HALF = "half"

    @classmethod
    def labels(cls) -> dict[LabelledEnum, str]:
        return {
            cls.DRAWN: _("As experts draw it"),
            cls.HALF: _("At half the contrast"),
        }


class Side(LabelledEnum):
    """Which intensities beside the mean belong to the vessels, too."""

    BOTH = "both"
    BRIGHT = "bright"
    DARK = "dark"

    @classmethod
    def labels(cls) -> dict[LabelledEnum, str]:
        return {
            cls.BOTH: _("Like the points"),
            cls.BRIGHT: _("Brighter as well"),
            cls.DARK: _("Darker as well"),
        }


class Feature(LabelledEnum):
    """What the affinity compares; see `FuzzyConnectedGPULib.features`."""

    INTENSITY = "intensity"
    SCALE = "scale"
    VESSELNESS = "vesselness"

    @classmethod
    def labels(cls) -> dict[LabelledEnum, str]:
        return {
            cls.INTENSITY: _("Intensity"),
            cls.SCALE: _("Intensity within the object scale"),
            cls.VESSELNESS: _("Vesselness"),
        }


class Form(LabelledEnum):
    """How intensity and difference make the affinity."""

    GEOMETRIC = "geometric"
    WEIGHTED = "weighted"

    @classmethod
    def labels(cls) -> dict[LabelledEnum, str]:
        return {
            cls.GEOMETRIC: _("Geometric mean (published)"),
            cls.WEIGHTED: _("Weighted sum (ITK 3)"),
        }


class Solver(LabelledEnum):
    """How connectedness is computed; see `FuzzyConnectedGPULib.SOLVERS`."""

    EXACT = "exact"
    CONTRACTION = "contraction"
    ACTIVE_TILES = "active-tiles"
    BLOCKS = "blocks"
    DIAL = "dial"
    KFOE = "kfoe"
    CUDA_KFOE = "cuda-kfoe"
    CUDA_KFOE_CORRECTED = "cuda-kfoe-corrected"

    @classmethod
    def labels(cls) -> dict[LabelledEnum, str]:
        return {
            cls.EXACT: _("Exact"),
            cls.CONTRACTION: _("Exact, contraction (CUDA)"),
            cls.ACTIVE_TILES: _("Exact, active tiles (CUDA)"),
            cls.BLOCKS: _("Exact, blocks (CPU)"),
            cls.DIAL: _("Exact, bucket queue (CPU)"),
            cls.KFOE: _("Exact, FIFO queue (CPU, slow)"),
            cls.CUDA_KFOE: _("CUDA-kFOE (with errors)"),
            cls.CUDA_KFOE_CORRECTED: _("CUDA-kFOE, corrected"),
        }


class ThresholdSource(enum.Enum):
    """Who chooses the threshold."""

    AUTOMATIC = "automatic"
    BACKGROUND = "background"
    MANUAL = "manual"
