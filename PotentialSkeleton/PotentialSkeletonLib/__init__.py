"""Curve skeletons by the potential-field method, from a labelmap to a graph (arrays K, J, I)."""

from .critical_points.critical_points import CriticalPoint, critical_points
from .extraction import skeletonize
from .field.force_field import ForceField, force_field
from .field.methods import FORCE_METHODS
from .graph.curve_skeleton import Branch, CurveSkeleton, Node
from .object.voxel_classes import classify_voxels

__all__ = [
    "FORCE_METHODS",
    "Branch",
    "CriticalPoint",
    "CurveSkeleton",
    "ForceField",
    "Node",
    "classify_voxels",
    "critical_points",
    "force_field",
    "skeletonize",
]
