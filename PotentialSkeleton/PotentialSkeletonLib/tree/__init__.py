"""Rooted views of a skeleton: trees, root-to-tip lines, and tracts grouped to vessels."""

from ..graph.lines import Course, line_shape
from .polylines import skeleton_of_polylines
from .rooting import Forest, RootedLine, nearest_ends, root_to_tip_lines, rooted_forest
from .tracts import Tract, split_lines

__all__ = [
    "Course",
    "Forest",
    "RootedLine",
    "Tract",
    "line_shape",
    "nearest_ends",
    "root_to_tip_lines",
    "rooted_forest",
    "skeleton_of_polylines",
    "split_lines",
]
