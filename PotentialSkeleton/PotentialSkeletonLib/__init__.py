"""Curve skeletons by the potential-field method, from a labelmap to a graph (arrays K, J, I)."""

from .field_methods import FORCE_METHODS
from .force_field import ForceField, force_field
from .voxel_classes import classify_voxels

__all__ = ["FORCE_METHODS", "ForceField", "classify_voxels", "force_field"]
