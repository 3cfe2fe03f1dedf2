"""The names of this module are in `thresholds` now."""

from .thresholds import AutomaticThreshold, Leak, automatic_threshold, threshold_of_curve

__all__ = ["AutomaticThreshold", "Leak", "automatic_threshold", "threshold_of_curve"]
