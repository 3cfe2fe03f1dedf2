"""Curve skeletons by the potential-field method, from a labelmap to a graph (arrays K, J, I).

`extraction` (public entry and options) -> `preparing`, `component` (each component, the report):
`field`, `critical_points`, `seeds`, `traced_curves`, `endpoints`, `thinning`, `graph`.
`by_component` makes the skeleton of a labelled volume that does not fit in memory. `tree`,
`branch_tools` and `interchange` take the result. Public is what these, `by_component` and this
package export; all else is private.
"""

from .critical_points import CriticalPoint, critical_points
from .extraction import SkeletonOptions, skeletonize
from .field.force_field import FORCE_METHODS, ForceField, force_field
from .graph.curve_skeleton import Branch, CurveSkeleton, Node
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
