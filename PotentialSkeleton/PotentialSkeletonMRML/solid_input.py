"""The object to take a skeleton of: one label of a labelmap, or one segment; nodes are only read.

A labelmap and a segment are taken on their own voxels, whatever their axes are: nothing is
resampled.
"""

from dataclasses import dataclass, field
from operator import index
from typing import Any

import numpy as np

from FuzzyVesselCoreLib.errors import InputError
from FuzzyVesselCoreLib.geometry import voxels_to_points
from FuzzyVesselCoreLib.mrml.reading import ijk_to_ras, node_name, voxels_of
from FuzzyVesselCoreLib.translation import tr as _

from . import axes
from .segment_input import listed, segment_mask, segment_named


@dataclass(frozen=True)
class SolidInput:
    """An object on its own grid.

    Attributes
    ----------
    node : vtkMRMLTransformableNode
        The labelmap or segmentation that it comes from.
    segment_id : str
        Empty for a labelmap.
    mask : ndarray, shape (K, J, I), bool
    ijk_to_ras : ndarray, shape (4, 4)
        To the frame below the node's parent transform.
    transform_id : str or None
        Of that transform, as all of this when the object was read.
    name : str
        What outputs are named after.
    warnings : list of str
        Why lengths may differ from those in the world.
    label : int or None
        Value in the labelmap; None for everything that is not 0.
    """

    node: Any
    segment_id: str
    mask: np.ndarray
    ijk_to_ras: np.ndarray
    transform_id: str | None
    name: str
    warnings: list = field(default_factory=list)
    label: int | None = None

    @property
    def spacing(self) -> tuple[float, ...]:
        """Lengths of one step along K, J, I in mm."""
        return axes.spacing(self.ijk_to_ras)

    def points(self, positions: np.ndarray) -> np.ndarray:
        """Positions (n, 3) in voxels K, J, I, also between them, as points of the node's frame."""
        return voxels_to_points(positions, self.ijk_to_ras)

    def has_segment(self) -> bool:
        """Whether the segment is still there, for a segmentation."""
        there = self.node.GetSegmentation() if self.segment_id else None
        return there is None or there.GetSegment(self.segment_id) is not None


def read_solid(node: Any, segment_id: str | None = None, label: int | None = None) -> SolidInput:
    """The object in a labelmap or segmentation.

    Parameters
    ----------
    node : vtkMRMLLabelMapVolumeNode or vtkMRMLSegmentationNode
    segment_id : str, optional
        ID or name of a segment; not needed where there is only one.
    label : int, optional
        Value in the labelmap; by default everything that is not 0.

    Returns
    -------
    SolidInput

    Raises
    ------
    InputError
        There is no such node, label or segment, it is empty, or its values are no whole numbers.
    """
    if node is None:
        raise InputError(_("No input was given: choose a labelmap or a segmentation."))
    if node.IsA("vtkMRMLSegmentationNode"):
        if label is not None:
            raise InputError(
                _("{node} is a segmentation: name a segment, not a label.").format(
                    node=node_name(node)
                )
            )
        segment_id = segment_named(node, segment_id)
        mask, matrix, name = segment_mask(node, segment_id)
    elif node.IsA("vtkMRMLLabelMapVolumeNode"):
        if segment_id:
            raise InputError(
                _("{node} is a labelmap: choose a label, not a segment.").format(
                    node=node_name(node)
                )
            )
        mask, name = _labelled(node, label)
        matrix, segment_id = ijk_to_ras(node), ""
    else:
        raise InputError(_no_labelmap(node))
    transform_id = node.GetTransformNodeID()
    return SolidInput(
        node, segment_id, mask, matrix, transform_id, name, axes.warnings(matrix, node), label
    )


def _no_labelmap(node: Any) -> str:
    if node.IsA("vtkMRMLScalarVolumeNode"):
        return _(
            "The volume {node} is no labelmap: convert it in the module Volumes "
            "('Convert to label map'), or segment it first."
        ).format(node=node_name(node))
    return _("{node} is no labelmap and no segmentation.").format(node=node_name(node))


def _labelled(node: Any, label: int | None) -> tuple[np.ndarray, str]:
    """Where a labelmap has a label, and the name of that object."""
    values = voxels_of(node)
    if values.dtype.kind == "f":
        broken = ~np.isfinite(values) | (values != np.rint(values))
        if broken.any():
            raise InputError(
                _(
                    "The labelmap {node} has values that are no whole numbers, such as "
                    "{value:g}: apply a threshold first."
                ).format(node=node_name(node), value=values[broken][0])
            )
    if not values.any():
        raise InputError(
            _("The labelmap {node} is empty: every voxel is 0.").format(node=node_name(node))
        )
    name = node.GetName() or "Labelmap"
    if label is None:
        return values != 0, name
    try:
        label = index(label)
    except TypeError as error:
        raise InputError(
            _("The label is {label!r}; a whole number is needed.").format(label=label)
        ) from error
    mask = values == label
    if label == 0 or not mask.any():
        there = [f"{value:g}" for value in np.unique(values) if value != 0]
        raise InputError(
            _("The labelmap {node} has no label {label}; it has {there}.").format(
                node=node_name(node), label=label, there=listed(there)
            )
        )
    return mask, f"{name} label {label}"
