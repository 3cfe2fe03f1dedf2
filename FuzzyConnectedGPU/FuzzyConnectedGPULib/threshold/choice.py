"""The names of this module are in `thresholds` now."""

from .thresholds import UNSURE, check_threshold, choose_threshold, raised

__all__ = ["UNSURE", "check_threshold", "choose_threshold", "raised"]
