"""Fuzzy connectedness, from seeds to a labelmap, in plain arrays (K, J, I)."""

from .affinity import GaussianAffinity, estimate_affinity
from .fuzzy_connectedness import connectedness
from .scene import FuzzyScene, error_voxels
from .solvers import SOLVERS

__all__ = [
    "SOLVERS",
    "FuzzyScene",
    "GaussianAffinity",
    "connectedness",
    "error_voxels",
    "estimate_affinity",
]
