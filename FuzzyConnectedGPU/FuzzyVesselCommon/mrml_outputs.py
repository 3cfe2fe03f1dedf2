"""From arrays to MRML nodes: the fuzzy scene, the labelmap and the segment, with their display.

All images are made before the first node is touched, and nodes that were added are removed again
if anything fails, so that the scene is either complete or as it was.
"""

import numpy as np

from .errors import InputError
from .geometry import voxels_to_points
from .mrml import ijk_to_ras, matrix_from_array, node_name
from .mrml_changes import all_or_nothing
from .mrml_images import image_from_array
from .mrml_regions import BINARY_LABELMAP

# Red over orange to yellow, in every Slicer and in slicer-core: readable over a grey image.
SCENE_COLORS = "vtkMRMLColorTableNodeIron"
# Connectedness below it is not drawn, so that the image stays visible around the vessels.
SCENE_VISIBLE_FROM = 0.05
SEGMENT_COLOR = (0.85, 0.25, 0.2)
# Tag of a segment: the node whose seeds it was grown from.
SEEDS_TAG = "FuzzyVesselGPU.SeedsNodeID"


def check_outputs(volume_node, scene_node, labelmap_node, segmentation_node):
    """Refuse output nodes that cannot take the result; nothing is changed.

    Raises
    ------
    InputError
        An output is of the wrong kind, is the input itself, or is a segmentation of surfaces.
    """
    kinds = (
        (scene_node, "vtkMRMLScalarVolumeNode", "scalar volume"),
        (labelmap_node, "vtkMRMLLabelMapVolumeNode", "labelmap volume"),
        (segmentation_node, "vtkMRMLSegmentationNode", "segmentation"),
    )
    for node, class_name, kind in kinds:
        if node is not None and not node.IsA(class_name):
            raise InputError(f"The output {node_name(node)} must be a {kind}.")
    if scene_node is not None and scene_node.IsA("vtkMRMLLabelMapVolumeNode"):
        raise InputError(f"The fuzzy scene cannot go into the labelmap {node_name(scene_node)}.")
    for node in (scene_node, labelmap_node):
        if node is volume_node:
            raise InputError(f"The output {node_name(node)} is the input volume; choose another.")
    if segmentation_node is not None:
        segmentation = segmentation_node.GetSegmentation()
        source = segmentation.GetSourceRepresentationName()
        if segmentation.GetNumberOfSegments() and source != BINARY_LABELMAP:
            raise InputError(
                f"The segmentation {node_name(segmentation_node)} is made of '{source}': make "
                f"'{BINARY_LABELMAP}' its source in the module Segmentations, or choose another."
            )


def write_outputs(
    volume_node,
    seeds_node,
    values,
    labels,
    scene_node=None,
    labelmap_node=None,
    segmentation_node=None,
):
    """Put a fuzzy scene and a labelmap of a volume into the MRML scene.

    Parameters
    ----------
    volume_node : vtkMRMLScalarVolumeNode
        Gives geometry, parent transform and names.
    seeds_node : vtkMRMLMarkupsNode
        Gives the segment its name.
    values : ndarray, shape (K, J, I), float32
    labels : ndarray, shape (K, J, I), uint8, 0 or 1
    scene_node, labelmap_node : nodes, optional
        Filled; where None, new nodes are added.
    segmentation_node : vtkMRMLSegmentationNode, optional
        Gets a segment named as the seeds; an earlier one from the same seeds is replaced.

    Returns
    -------
    labelmap_node, scene_node : nodes
    segment_id : str
        Empty without a segmentation.
    """
    scene_image, labelmap_image = image_from_array(values), image_from_array(labels)
    segment = _segment(volume_node, labels, segmentation_node, seeds_node)
    name = volume_node.GetName() or "Volume"
    with all_or_nothing() as add:
        labelmap_node = labelmap_node or add("vtkMRMLLabelMapVolumeNode", f"{name} vessels")
        scene_node = scene_node or add("vtkMRMLScalarVolumeNode", f"{name} connectedness")
        _fill(scene_node, scene_image, volume_node)
        _fill(labelmap_node, labelmap_image, volume_node)
        labelmap_node.SetNodeReferenceID("AssociatedNodeID", volume_node.GetID())
        if labelmap_node.GetDisplayNode() is None:
            labelmap_node.CreateDefaultDisplayNodes()
        if scene_node.GetDisplayNode() is None:
            scene_node.CreateDefaultDisplayNodes()
            _show_as_overlay(scene_node.GetDisplayNode())
        segment_id = ""
        if segmentation_node is not None:
            segment_id = _put_segment(segment, segmentation_node, volume_node)
    return labelmap_node, scene_node, segment_id


def add_points(voxels, volume_node, name, labels=None):
    """Add a list of points at the centres of a volume's voxels.

    Parameters
    ----------
    voxels : array_like, shape (n, 3)
        K, J, I.
    volume_node : vtkMRMLScalarVolumeNode
    name : str
    labels : sequence of str, optional

    Returns
    -------
    vtkMRMLMarkupsFiducialNode
        In world coordinates, under no transform.
    """
    import slicer
    import vtk

    to_world = vtk.vtkGeneralTransform()
    slicer.vtkMRMLTransformNode.GetTransformBetweenNodes(
        volume_node.GetParentTransformNode(), None, to_world
    )
    name = slicer.mrmlScene.GenerateUniqueName(name)
    node = slicer.mrmlScene.AddNewNodeByClass("vtkMRMLMarkupsFiducialNode", name)
    for index, centre in enumerate(voxels_to_points(voxels, ijk_to_ras(volume_node))):
        label = labels[index] if labels is not None else f"{name}-{index + 1}"
        node.AddControlPointWorld(to_world.TransformPoint(centre), label)
    return node


def _fill(node, image, volume_node):
    import slicer

    with slicer.util.NodeModify(node):
        node.SetAndObserveTransformNodeID(volume_node.GetTransformNodeID())
        node.CopyOrientation(volume_node)
        node.SetAndObserveImageData(image)


def _show_as_overlay(display):
    display.SetAndObserveColorNodeID(SCENE_COLORS)
    display.AutoWindowLevelOff()
    display.SetWindowLevelMinMax(0.0, 1.0)
    display.InterpolateOff()
    display.AutoThresholdOff()
    display.SetThreshold(SCENE_VISIBLE_FROM, 1.0)
    display.ApplyThresholdOn()


def _segment(volume_node, labels, segmentation_node, seeds_node):
    """The labels, cut to what is not 0, as a vtkSegment in the segmentation's frame; or None."""
    import slicer
    import vtk

    if segmentation_node is None:
        return None
    first, part = _cropped(labels)
    image = image_from_array(part, slicer.vtkOrientedImageData())
    geometry = ijk_to_ras(volume_node)
    geometry[:3, 3] += geometry[:3, :3] @ first
    image.SetGeometryFromImageToWorldMatrix(matrix_from_array(geometry))
    source, target = (
        volume_node.GetParentTransformNode(),
        _future_parent(segmentation_node, volume_node),
    )
    if source is not target:
        transform = vtk.vtkGeneralTransform()
        slicer.vtkMRMLTransformNode.GetTransformBetweenNodes(source, target, transform)
        slicer.vtkOrientedImageDataResample.TransformOrientedImage(image, transform)
    segment = slicer.vtkSegment()
    segment.SetName(seeds_node.GetName() or "Vessels")
    segment.SetColor(SEGMENT_COLOR)
    segment.SetTag(SEEDS_TAG, seeds_node.GetID() or "")
    segment.AddRepresentation(BINARY_LABELMAP, image)
    return segment


def _cropped(labels):
    """First index (I, J, K) and voxels of the smallest box with everything that is not 0."""
    bounds = []
    for axis in range(3):
        others = tuple(a for a in range(3) if a != axis)
        used = np.flatnonzero(labels.any(axis=others))
        bounds.append(slice(used[0], used[-1] + 1) if used.size else slice(0, 1))
    return np.array([b.start for b in bounds[::-1]]), labels[tuple(bounds)]


def _future_parent(segmentation_node, volume_node):
    """The transform that the segmentation will hang under: an empty one follows the volume."""
    empty = segmentation_node.GetSegmentation().GetNumberOfSegments() == 0
    return (volume_node if empty else segmentation_node).GetParentTransformNode()


def _put_segment(segment, segmentation_node, volume_node):
    """Add the segment, or put it in the place of the one from the same seeds; return its ID."""
    segmentation = segmentation_node.GetSegmentation()
    if segmentation.GetNumberOfSegments() == 0:
        segmentation.SetSourceRepresentationName(BINARY_LABELMAP)
        segmentation_node.SetAndObserveTransformNodeID(volume_node.GetTransformNodeID())
        segmentation_node.SetReferenceImageGeometryParameterFromVolumeNode(volume_node)
    if segmentation_node.GetDisplayNode() is None:
        segmentation_node.CreateDefaultDisplayNodes()
    earlier = _segment_of_seeds(segmentation, _tag(segment))
    if not earlier:
        segmentation.AddSegment(segment)
        return segmentation.GetSegmentIdBySegment(segment)
    previous = segmentation.GetSegment(earlier)
    segment.SetName(previous.GetName())
    segment.SetColor(previous.GetColor())
    index = segmentation.GetSegmentIndex(earlier)
    segmentation.RemoveSegment(earlier)
    segmentation.AddSegment(segment, earlier)
    segmentation.SetSegmentIndex(earlier, index)
    return earlier


def _segment_of_seeds(segmentation, seeds_id):
    if not seeds_id:
        return ""
    for segment_id in segmentation.GetSegmentIDs():
        if _tag(segmentation.GetSegment(segment_id)) == seeds_id:
            return segment_id
    return ""


def _tag(segment):
    """The ID of the node whose seeds the segment was grown from, or an empty text."""
    import vtk

    value = vtk.reference("")
    return str(value) if segment.GetTag(SEEDS_TAG, value) else ""
