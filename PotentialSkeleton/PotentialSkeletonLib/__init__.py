"""Curve skeletons by the potential-field method, from a labelmap to a graph (arrays K, J, I).

`extraction` (public entry, with `options` and `jit_warmup`) -> `assembly` (prepared object, its
components, graph, `report` with `messages`) -> `component` (one component, timed by `stages`;
its result is a `component_skeleton`). `by_component` makes the skeleton of a labelled volume that
fits in no memory.
What `component` does with every voxel is behind the interface of `component_volumes`, on the CPU
(`cpu_component_volumes`) or the GPU (`cuda_component_volumes`). The stages are sub-packages:
1 object, 2 field, 3 critical_points, 4 tracing, 5 endpoints, 6 thinning, 7 graph. Public is what
this package exports, and `by_component`; all else is private.
"""

from .critical_points.critical_points import CriticalPoint, critical_points
from .extraction import skeletonize
from .field.force_field import FORCE_METHODS, ForceField, force_field
from .graph.curve_skeleton import Branch, CurveSkeleton, Node
from .object.voxel_classes import classify_voxels
from .options import SkeletonOptions

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
