"""Curve skeletons by the potential-field method, from a labelmap to a graph (arrays K, J, I).

`extraction` (public entry and options) -> `preparing`, `component` (each component, the report):
`force_field`, `critical_points`, `seeds`, `traced_curves`, `endpoints`, `thinning`,
`skeleton_graph` -> `curve_skeleton`, the result, which `tree`, `branch_tools` and `interchange`
take. `by_component` makes the skeleton of a labelled volume that does not fit in memory. Public is
what these, `by_component` and this package export; all else is private.
"""

from .critical_points import CriticalPoint, critical_points
from .curve_skeleton import Branch, CurveSkeleton, Node
from .extraction import SkeletonOptions, skeletonize
from .force_field import FORCE_METHODS, ForceField, force_field
from .voxel_classes import classify_voxels

__all__ = [
    "FORCE_METHODS",
    "Branch",
    "CriticalPoint",
    "CurveSkeleton",
    "ForceField",
    "Node",
    "SkeletonOptions",
    "classify_voxels",
    "critical_points",
    "force_field",
    "skeletonize",
]
