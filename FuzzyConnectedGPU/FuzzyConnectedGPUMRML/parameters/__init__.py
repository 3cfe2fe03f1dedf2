"""The panel's choices and results, kept in the scene."""

from .choices import Border, Feature, Form, Model, Region, Side, Solver, ThresholdSource
from .parameter_node import FuzzyConnectedGPUParameterNode

__all__ = [
    "Border",
    "Feature",
    "Form",
    "FuzzyConnectedGPUParameterNode",
    "Model",
    "Region",
    "Side",
    "Solver",
    "ThresholdSource",
]
