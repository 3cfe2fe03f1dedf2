"""Rooted views of a skeleton: trees, root-to-tip lines, and tracts grouped to vessels."""
# ruff: noqa: F401

from ..course import Course, line_shape
from .rooting import (
    Forest,
    RootedLine,
    nearest_ends,
    root_to_tip_lines,
    rooted_forest,
    skeleton_of_polylines,
)
from .tracts import Tract, split_lines
