"""A small vessel tree in the scene: trunk with stenosis, two limbs, spur, and a part apart."""

import numpy as np

from .mrml_cases import add_volume
from .solids import line, tube

LABELMAP = "vtkMRMLLabelMapVolumeNode"
SHAPE = (84, 56, 40)  # K, J, I
STENOSIS = (24, 28, 20)
GAP = (73, 51.5, 20)  # between the end of a limb and the part apart
# From I, J, K; axes along -R, -A, S
MATRIX = np.array([[-1.0, 0, 0, 30], [0, -1.0, 0, 12], [0, 0, 1.0, -40], [0, 0, 0, 1]])


def vessels():
    """The object, bool (K, J, I)."""
    trunk = line((6, 28, 20), (46, 28, 20))
    narrow = 5 - 2.6 * np.exp(-(((trunk[:, 0] - STENOSIS[0]) / 4) ** 2))
    mask = tube(trunk, narrow, SHAPE)
    mask |= tube(line((46, 28, 20), (68, 46, 20)), np.linspace(4, 2.6, 200), SHAPE)
    mask |= tube(line((46, 28, 20), (74, 10, 20)), np.linspace(3.6, 2.2, 200), SHAPE)
    mask |= tube(line((38, 28, 20), (38, 28, 32)), 1.6, SHAPE)  # the spur
    mask[71:76, 49:54] = False
    mask |= tube(line((77, 53, 20), (79, 53, 6)), 2.2, SHAPE)
    return mask


def add_vessels(name="Portal vein", transform=None, matrix=MATRIX):
    """Add a labelmap of them."""
    node = add_volume(vessels().astype(np.uint8), matrix, transform, LABELMAP)
    node.SetName(name)
    return node


def add_segmentation(masks, matrix=MATRIX, transform=None, name="Vessels"):
    """Add a segmentation; `masks` is a dict of a segment's name to an array (K, J, I)."""
    import slicer

    node = slicer.mrmlScene.AddNewNodeByClass("vtkMRMLSegmentationNode", name)
    node.CreateDefaultDisplayNodes()
    node.SetAndObserveTransformNodeID(transform.GetID() if transform else None)
    for number, (each, mask) in enumerate(masks.items()):
        labelmap = add_volume(np.asarray(mask).astype(np.uint8), matrix, transform, LABELMAP)
        slicer.modules.segmentations.logic().ImportLabelmapToSegmentationNode(labelmap, node)
        slicer.mrmlScene.RemoveNode(labelmap)
        node.GetSegmentation().GetNthSegment(number).SetName(each)
    return node


def world(voxel, matrix=MATRIX):
    """R, A, S of a voxel K, J, I, without a transform."""
    return (np.asarray(matrix) @ [*np.asarray(voxel, float)[::-1], 1])[:3]
