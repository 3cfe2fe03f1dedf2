"""Curve skeletons by the potential-field method, from a labelmap to a graph (arrays K, J, I)."""

from .critical_points import CriticalPoint, critical_points
from .curve_skeleton import Branch, CurveSkeleton, Node
from .extraction import skeletonize
from .field_methods import FORCE_METHODS
from .force_field import ForceField, force_field
from .voxel_classes import classify_voxels

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
