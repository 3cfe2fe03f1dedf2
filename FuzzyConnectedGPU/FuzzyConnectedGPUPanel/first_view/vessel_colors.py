"""Colours of lists in the panel: those of one vessel, or of several."""

from typing import Any

from FuzzyConnectedGPUMRML.vessels import Color, color_of, vessels_of
from FuzzyVesselCoreLib.mrml.new_points import BACKGROUND_COLOR, VESSEL_COLOR


def several(parameters: Any) -> bool:
    """Whether there are several vessels."""
    return len(vessels_of(parameters)) > 1


def list_color(parameters: Any, node: Any) -> Color:
    """The colour of the mark of a list of points."""
    if node is not None and node is parameters.backgroundSeeds:
        return BACKGROUND_COLOR
    return color_of(node) if node is not None and several(parameters) else VESSEL_COLOR
