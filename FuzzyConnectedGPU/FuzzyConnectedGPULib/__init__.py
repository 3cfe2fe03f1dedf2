"""Fuzzy connectedness, from seeds to a labelmap, in plain arrays (K, J, I)."""

from .affinity.gaussian_affinity import GaussianAffinity, estimate_affinity
from .contrast.automatic.automatic_seeds import automatic_seeds
from .fuzzy_connectedness import connectedness
from .relative import RelativeConnectedness, relative_connectedness
from .scene import FuzzyScene, error_voxels
from .segmentation import MODELS, Segmentation, segment
from .solvers import SOLVERS
from .threshold.thresholds import (
    AutomaticThreshold,
    automatic_threshold,
    background_threshold,
    binarize,
    volume_curve,
)

__all__ = [
    "MODELS",
    "SOLVERS",
    "AutomaticThreshold",
    "FuzzyScene",
    "GaussianAffinity",
    "RelativeConnectedness",
    "Segmentation",
    "automatic_seeds",
    "automatic_threshold",
    "background_threshold",
    "binarize",
    "connectedness",
    "error_voxels",
    "estimate_affinity",
    "relative_connectedness",
    "segment",
    "volume_curve",
]
