"""From arrays to MRML nodes: the fuzzy scene and the labelmap, with their display, and points.

All images are made before the first node is touched, and nodes that were added are removed again
if anything fails, so that the scene is either complete or as it was.
"""

from ..errors import InputError
from ..geometry import voxels_to_points
from .changes import all_or_nothing, put_beside
from .images import image_from_array
from .ownership import (
    CONNECTEDNESS,
    LABELMAP,
    SEGMENTATION,
    check_apart,
    check_mask_apart,
    hand_over,
)
from .reading import ijk_to_ras, node_name
from .segments import check_segmentation, new_segment, put_segment

# Red over orange to yellow, in every Slicer and in slicer-core: readable over a grey image.
SCENE_COLORS = "vtkMRMLColorTableNodeIron"
# Connectedness below it is not drawn, so that the image stays visible around the vessels.
SCENE_VISIBLE_FROM = 0.05


def check_outputs(
    volume_node,
    scene_node,
    labelmap_node,
    segmentation_node,
    segment_id="",
    mask_node=None,
    mask_segment_id="",
):
    """Refuse output nodes that cannot take the result; nothing is changed.

    `segmentation_node` may be True, which stands for a new one.

    Raises
    ------
    InputError
        An output is of the wrong kind, is the input itself or the mask, is a segmentation of
        surfaces, or lacks the segment that is to be overwritten.
    """
    segmentation_node = None if segmentation_node is True else segmentation_node
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
    check_apart((scene_node, labelmap_node), {"input volume": volume_node, "mask": mask_node})
    check_mask_apart(segmentation_node, segment_id, mask_node, mask_segment_id)
    if segmentation_node is not None:
        check_segmentation(segmentation_node, segment_id)


def write_outputs(
    volume_node,
    seeds_node,
    values,
    labels,
    scene_node=None,
    labelmap_node=None,
    segmentation_node=None,
    segment_id="",
    mask_segment_id="",
):
    """Put a fuzzy scene and a labelmap of a volume into the MRML scene.

    Parameters
    ----------
    volume_node : vtkMRMLScalarVolumeNode
        Gives geometry, parent transform and names.
    seeds_node : vtkMRMLMarkupsNode
        Gives the segment its name.
    values : ndarray, shape (K, J, I), float32; or None
        Without them the scene stays as it is.
    labels : ndarray, shape (K, J, I), uint8, 0 or 1
    scene_node, labelmap_node : nodes, optional
        Filled; where None, new nodes are added.
    segmentation_node : vtkMRMLSegmentationNode or True, optional
        Gets a segment named as the seeds; see `mrml_segments.put_segment`. True adds a new one.
    segment_id : str
        The segment to overwrite; empty for the seeds' own.
    mask_segment_id : str
        Of the segmentation: the mask, which stays as it is.

    Returns
    -------
    labelmap_node, scene_node : nodes
    segment_id : str
        Empty without a segmentation.
    segmentation_node : vtkMRMLSegmentationNode or None
    """
    writing = _Writing(volume_node)
    scene_image = None if values is None else image_from_array(values)
    labelmap_image = image_from_array(labels)
    there = None if segmentation_node is True else segmentation_node
    segment = segmentation_node and new_segment(volume_node, labels, there, seeds_node)
    with all_or_nothing() as change:
        labelmap_node = writing.fill(change, labelmap_node, LABELMAP, labelmap_image)
        associate(labelmap_node, volume_node)
        if scene_image is not None:
            scene_node = writing.fill(change, scene_node, CONNECTEDNESS, scene_image)
        if scene_node is not None and scene_node.GetDisplayNode() is None:
            scene_node.CreateDefaultDisplayNodes()
            _show_as_overlay(scene_node.GetDisplayNode())
        if segment is not None:
            segmentation_node = writing.node(change, there, SEGMENTATION)
            segment_id = put_segment(
                segment, segmentation_node, volume_node, segment_id, mask_segment_id, change
            )
        writing.end()
    return labelmap_node, scene_node, segment_id, segmentation_node


# Kind of output -> class of its node, and what is added to the volume's name.
OUTPUTS = {
    LABELMAP: ("vtkMRMLLabelMapVolumeNode", "vessels"),
    CONNECTEDNESS: ("vtkMRMLScalarVolumeNode", "connectedness"),
    SEGMENTATION: ("vtkMRMLSegmentationNode", "segmentation"),
}


class _Writing:
    """The outputs of one run, each given or new."""

    def __init__(self, volume_node):
        self._volume_node, self._new, self._all = volume_node, [], []

    def node(self, change, given, kind):
        """The node that was given, or a new one."""
        class_name, word = OUTPUTS[kind]
        node = given
        if node is None:
            node = change(class_name, f"{self._volume_node.GetName() or 'Volume'} {word}")
            self._new.append(node)
        self._all.append((node, kind))
        return node

    def fill(self, change, given, kind, image):
        """As `node`, with an image."""
        node = self.node(change, given, kind)
        if node is given:
            change.keep(node)
        _fill(node, image, self._volume_node)
        return node

    def end(self):
        """All went well: they are the volume's outputs from now on."""
        put_beside(self._new, self._volume_node)
        for node, kind in self._all:
            hand_over(node, kind, self._volume_node)


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

    name = slicer.mrmlScene.GenerateUniqueName(name)
    node = slicer.mrmlScene.AddNewNodeByClass("vtkMRMLMarkupsFiducialNode", name)
    for index, position in enumerate(world_points(voxels, volume_node)):
        label = labels[index] if labels is not None else f"{name}-{index + 1}"
        node.AddControlPointWorld(position, label)
    return node


def world_points(voxels, volume_node):
    """The centres of a volume's voxels (n, 3; K, J, I) in the world, as a list."""
    import slicer
    import vtk

    to_world = vtk.vtkGeneralTransform()
    slicer.vtkMRMLTransformNode.GetTransformBetweenNodes(
        volume_node.GetParentTransformNode(), None, to_world
    )
    centres = voxels_to_points(voxels, ijk_to_ras(volume_node))
    return [to_world.TransformPoint(centre) for centre in centres]


def fill_labelmap(labelmap_node, labels, volume_node):
    """Put labels (K, J, I; uint8) of a volume into a labelmap node, with its display."""
    _fill(labelmap_node, image_from_array(labels), volume_node)
    associate(labelmap_node, volume_node)


def associate(labelmap_node, volume_node):
    """Let a labelmap know its volume, and show it as labels."""
    labelmap_node.SetNodeReferenceID("AssociatedNodeID", volume_node.GetID())
    if labelmap_node.GetDisplayNode() is None:
        labelmap_node.CreateDefaultDisplayNodes()


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
