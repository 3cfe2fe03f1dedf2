"""Curve skeletons by the potential-field method, from a labelmap to a graph (arrays K, J, I).

`extraction` (public entry) -> `preparing`, `component` (one component, by `force_field`,
`critical_points`, `seeds`, `traced_curves`, `endpoints`, `thinning`, `skeleton_graph`), `report` ->
`curve_skeleton`, the result, which `tree`, `branch_tools` and `interchange`
take. `by_component` makes the skeleton of a labelled volume that does not fit in memory. Public is
what these, `by_component` and this package export; all else is private.

NumPy alone is needed to import the package: what needs SciPy or numba is imported at its first use.
"""

from .critical_points import CriticalPoint, critical_points
from .curve_skeleton import Branch, CurveSkeleton, Node
from .extraction import skeletonize
from .force_field import ForceField, classify_voxels, force_field
from .options import FORCE_METHODS, SkeletonOptions

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
