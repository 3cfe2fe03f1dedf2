"""The object to take a skeleton of: one label of a labelmap, or one segment; nodes are only read.

A labelmap and a segment are taken on their own voxels, whatever their axes are: nothing is
resampled.
"""

from dataclasses import dataclass, field
from operator import index

import numpy as np

from FuzzyVesselCoreLib.errors import InputError
from FuzzyVesselCoreLib.geometry import voxels_to_points
from FuzzyVesselCoreLib.mrml.images import array_from_image
from FuzzyVesselCoreLib.mrml.reading import array_from_matrix, ijk_to_ras, node_name, voxels_of
from FuzzyVesselCoreLib.mrml.regions import BINARY_LABELMAP

from . import axes

MOST_LISTED = 20  # labels or segments that a message lists


@dataclass(frozen=True)
class SolidInput:
    """An object on its own grid.

    Attributes
    ----------
    node : vtkMRMLTransformableNode
        The labelmap or segmentation that it comes from.
    mask : ndarray, shape (K, J, I), bool
    ijk_to_ras : ndarray, shape (4, 4)
        To the frame below the node's parent transform.
    name : str
        What outputs are named after.
    warnings : list of str
        Why lengths may differ from those in the world.
    """

    node: object
    mask: np.ndarray
    ijk_to_ras: np.ndarray
    name: str
    warnings: list = field(default_factory=list)

    @property
    def spacing(self):
        """Lengths of one step along K, J, I in mm."""
        return axes.spacing(self.ijk_to_ras)

    def points(self, positions):
        """Positions (n, 3) in voxels K, J, I, also between them, as points of the node's frame."""
        return voxels_to_points(positions, self.ijk_to_ras)


def read_solid(node, segment_id=None, label=None):
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
        raise InputError("No input was given: choose a labelmap or a segmentation.")
    if node.IsA("vtkMRMLSegmentationNode"):
        if label is not None:
            raise InputError(f"{node_name(node)} is a segmentation: name a segment, not a label.")
        mask, matrix, name = _segment(node, segment_id)
    elif node.IsA("vtkMRMLLabelMapVolumeNode"):
        if segment_id:
            raise InputError(f"{node_name(node)} is a labelmap: choose a label, not a segment.")
        mask, name = _labelled(node, label)
        matrix = ijk_to_ras(node)
    else:
        raise InputError(_no_labelmap(node))
    return SolidInput(node, mask, matrix, name, axes.warnings(matrix, node))


def _no_labelmap(node):
    if node.IsA("vtkMRMLScalarVolumeNode"):
        return (
            f"The volume {node_name(node)} is no labelmap: convert it in the module Volumes "
            "('Convert to label map'), or segment it first."
        )
    return f"{node_name(node)} is no labelmap and no segmentation."


def _labelled(node, label):
    """Where a labelmap has a label, and the name of that object."""
    values = voxels_of(node)
    if values.dtype.kind == "f":
        broken = ~np.isfinite(values) | (values != np.rint(values))
        if broken.any():
            raise InputError(
                f"The labelmap {node_name(node)} has values that are no whole numbers, such as "
                f"{values[broken][0]:g}: apply a threshold first."
            )
    if not values.any():
        raise InputError(f"The labelmap {node_name(node)} is empty: every voxel is 0.")
    name = node.GetName() or "Labelmap"
    if label is None:
        return values != 0, name
    try:
        label = index(label)
    except TypeError as error:
        raise InputError(f"The label is {label!r}; a whole number is needed.") from error
    mask = values == label
    if label == 0 or not mask.any():
        there = [f"{value:g}" for value in np.unique(values) if value != 0]
        raise InputError(
            f"The labelmap {node_name(node)} has no label {label}; it has {_listed(there)}."
        )
    return mask, f"{name} label {label}"


def _segment(node, segment_id):
    """Voxels, matrix and name of a segment."""
    segmentation = node.GetSegmentation()
    segment_id = _found_segment(node, segmentation, segment_id)
    segment = segmentation.GetSegment(segment_id)
    name = segment.GetName() or segment_id
    if not segmentation.ContainsRepresentation(BINARY_LABELMAP):
        segment = _converted(segmentation, segment_id, name)
    image = segment.GetRepresentation(BINARY_LABELMAP)
    if image is None or image.IsEmpty():
        raise InputError(f"The segment '{name}' of {node_name(node)} is empty.")
    mask = array_from_image(image) == segment.GetLabelValue()
    if not mask.any():
        raise InputError(f"The segment '{name}' of {node_name(node)} is empty.")
    return mask, _first_voxel_to_frame(image), name


def _found_segment(node, segmentation, wanted):
    """The ID of a segment that is given by its ID or name, or is the only one."""
    ids = list(segmentation.GetSegmentIDs())
    names = [segmentation.GetSegment(each).GetName() for each in ids]
    if not ids:
        raise InputError(f"The segmentation {node_name(node)} has no segment.")
    if not wanted and len(ids) == 1:
        return ids[0]
    if wanted in ids:
        return wanted
    if names.count(wanted) == 1:
        return ids[names.index(wanted)]
    there = _listed([f"'{name}'" for name in names])
    if not wanted:
        raise InputError(f"{node_name(node)} has {len(ids)} segments; choose one of {there}.")
    raise InputError(f"{node_name(node)} has no segment '{wanted}'; it has {there}.")


def _listed(texts):
    more = len(texts) - MOST_LISTED
    return ", ".join(texts[:MOST_LISTED]) + (f" and {more} more" if more > 0 else "")


def _converted(segmentation, segment_id, name):
    """A copy of a segment of surfaces with a labelmap, on the segmentation's reference grid."""
    import slicer

    copy = slicer.vtkSegmentation()
    copy.SetSourceRepresentationName(segmentation.GetSourceRepresentationName())
    copy.CopyConversionParameters(segmentation)
    copy.CopySegmentFromSegmentation(segmentation, segment_id)
    if not copy.CreateRepresentation(BINARY_LABELMAP):
        raise InputError(f"The segment '{name}' could not be converted to a labelmap.")
    return copy.GetSegment(segment_id)


def _first_voxel_to_frame(image):
    """The matrix from I, J, K, counted from an image's first voxel on, to its segmentation."""
    import vtk

    matrix = vtk.vtkMatrix4x4()
    image.GetImageToWorldMatrix(matrix)
    array = array_from_matrix(matrix)
    array[:3, 3] += array[:3, :3] @ np.array(image.GetExtent()[::2], float)
    return array
