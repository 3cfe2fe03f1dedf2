"""Affinity of adjacent voxels, and how it is estimated from the seeds."""

from .gaussian_affinity import (
    MAD_TO_SIGMA,
    TOP_LEVEL,
    GaussianAffinity,
    estimate_affinity,
    level_values,
)

__all__ = ["MAD_TO_SIGMA", "TOP_LEVEL", "GaussianAffinity", "estimate_affinity", "level_values"]
