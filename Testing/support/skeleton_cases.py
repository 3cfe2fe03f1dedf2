"""A fork as labelmap or segment under several axes and transforms, and what a result holds."""

import numpy as np

from . import solids
from .mrml_cases import (
    OBLIQUE_LEFT_HANDED,
    add_volume,
    linear_transform,
    rotation_about,
    warp_transform,
)

LABELMAP = "vtkMRMLLabelMapVolumeNode"
ALL = dict(tubesNode=True)
NONE = dict(curveNodes=False, modelNode=False, labelmapNode=False, tableNode=False)


def stretch():
    return linear_transform()


def rigid():
    return linear_transform(scales=(1, 1, 1))


TRANSFORMS = {"none": lambda: None, "rigid": rigid, "stretch": stretch, "warp": warp_transform}
RIGHT_ANGLED = rotation_about((1, 2, -1), 40) @ np.diag([0.6, 0.7, 1.4, 1.0])
RIGHT_ANGLED[:3, 3] = -12, 30, 55
AXES = {
    "right-handed": RIGHT_ANGLED,
    "left-handed": RIGHT_ANGLED @ np.diag([1, 1, -1, 1]),
    "sheared": OBLIQUE_LEFT_HANDED,
}


def fork():
    """A fork of three limbs of different widths."""
    mask = np.zeros((40, 28, 30), bool)
    for end, radius in (((4, 14, 15), 4.0), ((35, 6, 8), 2.5), ((34, 22, 23), 3.0)):
        mask |= solids.tube(solids.line((18, 14, 15), end), radius, mask.shape)
    return mask


MASK = fork()


def add_labelmap(mask=MASK, axes=RIGHT_ANGLED, transform=None):
    return add_volume(np.asarray(mask, np.uint8), axes, transform, LABELMAP)


def add_segmentation(labelmap, names=("vessel",)):
    """A segmentation with a segment for each label of a labelmap."""
    import slicer

    node = slicer.mrmlScene.AddNewNodeByClass("vtkMRMLSegmentationNode", "parts")
    node.SetAndObserveTransformNodeID(labelmap.GetTransformNodeID())
    slicer.modules.segmentations.logic().ImportLabelmapToSegmentationNode(labelmap, node)
    for segment_id, name in zip(node.GetSegmentation().GetSegmentIDs(), names, strict=True):
        node.GetSegmentation().GetSegment(segment_id).SetName(name)
    return node


def spacing_of(axes):
    return tuple(np.linalg.norm(axes[:3, :3], axis=0)[::-1])


def control_points(node):
    """World positions (n, 3) of a markups node."""
    positions = np.zeros((node.GetNumberOfControlPoints(), 3))
    for number, position in enumerate(positions):
        node.GetNthControlPointPositionWorld(number, position)
    return positions


def voxels(node):
    import slicer

    return slicer.util.arrayFromVolume(node)


def column(node, name):
    table = node.GetTable()
    values = [table.GetValueByName(row, name) for row in range(table.GetNumberOfRows())]
    return [value.ToString() if value.IsString() else value.ToDouble() for value in values]


def nodes_of(result):
    """All nodes of a result."""
    single = (result.modelNode, result.tubesNode, result.labelmapNode, result.tableNode)
    return [node for node in (*single, *result.curveNodes) if node is not None]
