"""Rooted views of a skeleton: trees, root-to-tip lines, branches as groups of tracts."""

from .groups import Tract, split_lines
from .lines import RootedLine, root_to_tip_lines
from .polylines import skeleton_of_polylines
from .rooting import DirectedBranch, Forest, nearest_ends, rooted_forest

__all__ = [
    "DirectedBranch",
    "Forest",
    "RootedLine",
    "Tract",
    "nearest_ends",
    "root_to_tip_lines",
    "rooted_forest",
    "skeleton_of_polylines",
    "split_lines",
]
