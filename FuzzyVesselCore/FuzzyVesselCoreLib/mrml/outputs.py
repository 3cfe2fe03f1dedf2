"""The nodes that one run on a volume writes: checked, added or filled, and handed over."""

from collections.abc import Callable
from typing import Any

from ..errors import InputError
from ..translation import tr as _
from .changes import put_beside
from .images import fill_volume, show_as_overlay
from .ownership import (
    CONNECTEDNESS,
    DIVISION,
    LABELMAP,
    SEGMENTATION,
    check_apart,
    check_mask_apart,
    hand_over,
)
from .reading import node_name
from .segments import check_segmentation

# Kind of output -> class of its node, and what is added to the volume's name.
OUTPUTS = {
    LABELMAP: ("vtkMRMLLabelMapVolumeNode", "vessels"),
    CONNECTEDNESS: ("vtkMRMLScalarVolumeNode", "connectedness"),
    SEGMENTATION: ("vtkMRMLSegmentationNode", "segmentation"),
    DIVISION: ("vtkMRMLLabelMapVolumeNode", "division"),
}


def check_outputs(
    volume_node: Any,
    scene_node: Any,
    labelmap_node: Any,
    segmentation_node: Any,
    segment_id: str = "",
    mask_node: Any = None,
    mask_segment_id: str = "",
) -> None:
    """Raise `InputError` for output nodes that cannot take the result.

    One is of the wrong kind, the input or the mask, a segmentation of surfaces, or lacks its
    segment. `segmentation_node` may be True, which stands for a new one.
    """
    segmentation_node = None if segmentation_node is True else segmentation_node
    kinds = (
        (scene_node, "vtkMRMLScalarVolumeNode", _("scalar volume")),
        (labelmap_node, "vtkMRMLLabelMapVolumeNode", _("labelmap volume")),
        (segmentation_node, "vtkMRMLSegmentationNode", _("segmentation")),
    )
    for node, class_name, kind in kinds:
        if node is not None and not node.IsA(class_name):
            raise InputError(
                _("The output {node} must be a {kind}.").format(node=node_name(node), kind=kind)
            )
    if scene_node is not None and scene_node.IsA("vtkMRMLLabelMapVolumeNode"):
        raise InputError(
            _("The fuzzy scene cannot go into the labelmap {scene}.").format(
                scene=node_name(scene_node)
            )
        )
    check_apart((scene_node, labelmap_node), {_("input volume"): volume_node, _("mask"): mask_node})
    check_mask_apart(segmentation_node, segment_id, mask_node, mask_segment_id)
    if segmentation_node is not None:
        check_segmentation(segmentation_node, segment_id)


class Writing:
    """The outputs of one run on a volume, each given or new."""

    def __init__(self, volume_node: Any) -> None:
        self._volume_node = volume_node
        self._new: list[Any] = []
        self._all: list[Any] = []

    def node(self, add: Callable[[str, str], Any], given: Any, kind: str) -> Any:
        """The node that was given, or a new one of a kind of `OUTPUTS`."""
        class_name, word = OUTPUTS[kind]
        node = given
        if node is None:
            node = add(class_name, f"{self._volume_node.GetName() or 'Volume'} {word}")
            self._new.append(node)
        self._all.append((node, kind))
        return node

    def fill(self, add: Callable[[str, str], Any], given: Any, kind: str, image: Any) -> Any:
        """As `node`, with an image."""
        node = self.node(add, given, kind)
        if kind == CONNECTEDNESS:
            show_as_overlay(node)
        fill_volume(node, image, self._volume_node)
        return node

    def end(self) -> None:
        """They are the volume's outputs from now on."""
        put_beside(self._new, self._volume_node)
        for node, kind in self._all:
            hand_over(node, kind, self._volume_node)
