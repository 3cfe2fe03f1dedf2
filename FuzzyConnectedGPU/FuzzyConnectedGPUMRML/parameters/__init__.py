"""The panel's choices and results, kept in the scene."""

from .choices import Border, Form, Model, Region, Side, Solver, ThresholdSource
from .parameter_node import FuzzyConnectedGPUParameterNode

__all__ = [
    "Border",
    "Form",
    "FuzzyConnectedGPUParameterNode",
    "Model",
    "Region",
    "Side",
    "Solver",
    "ThresholdSource",
]
