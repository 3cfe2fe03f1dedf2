"""Fuzzy connectedness, from seeds to a labelmap, in plain arrays (K, J, I)."""

from .affinity import GaussianAffinity, estimate_affinity
from .fuzzy_connectedness import connectedness
from .scene import FuzzyScene, error_voxels
from .solvers import SOLVERS
from .threshold import (
    AutomaticThreshold,
    automatic_threshold,
    background_threshold,
    binarize,
    volume_curve,
)

__all__ = [
    "SOLVERS",
    "AutomaticThreshold",
    "FuzzyScene",
    "GaussianAffinity",
    "automatic_threshold",
    "background_threshold",
    "binarize",
    "connectedness",
    "error_voxels",
    "estimate_affinity",
    "volume_curve",
]
