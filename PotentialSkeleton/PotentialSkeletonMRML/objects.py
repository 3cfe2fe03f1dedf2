"""The object to take a skeleton of: a labelmap, one label of it, or a segment; nodes are only read.

They are taken on their own voxels, whatever their axes are: nothing is resampled.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from FuzzyVesselCoreLib.errors import InputError
from FuzzyVesselCoreLib.mrml import reading
from FuzzyVesselCoreLib.mrml.provenance import voxels_fingerprint
from FuzzyVesselCoreLib.mrml.reading import BINARY_LABELMAP, node_name
from FuzzyVesselCoreLib.mrml.writing import SKELETON, is_output
from FuzzyVesselCoreLib.translation import tr as _
from FuzzyVesselCoreLib.voxels.masks import bounding_box

LISTED = 20  # labels or segments that a message names at most
# Axes this near to right angles (sine of the deviation) count as such: headers are rounded. A
# transform that changes no length by more than this share counts as rigid.
TOLERANCE = 1e-3


@dataclass(frozen=True)
class InputObject:
    """An object on its own grid, from a labelmap or a segmentation (`node`, `segment_id` or "").

    `mask` is K, J, I; `ijk_to_ras` leads to the frame below the node's parent transform, whose ID
    is `transform_id` (all as when the object was read). Outputs are named after `name`; `warnings`
    say why lengths may differ from those in the world. `label` is the value in the labelmap, None
    for everything that is not 0. `fingerprint` is of all its voxels, see `voxels_fingerprint`.
    """

    node: Any
    segment_id: str
    mask: np.ndarray
    ijk_to_ras: np.ndarray
    transform_id: str | None
    name: str
    warnings: list
    label: int | None
    fingerprint: str

    @property
    def spacing(self) -> tuple[float, ...]:
        """Lengths of one step along K, J, I in mm."""
        return tuple(float(each) for each in np.linalg.norm(self.ijk_to_ras[:3, 2::-1], axis=0))

    def points(self, positions: np.ndarray) -> np.ndarray:
        """Positions (n, 3) in voxels K, J, I, also between them, as points of the node's frame."""
        return reading.voxels_to_points(positions, self.ijk_to_ras)

    def cropped(self) -> "InputObject":
        """The object with one layer of empty voxels around it."""
        box: Any = bounding_box(self.mask)
        matrix = self.ijk_to_ras.copy()
        matrix[:3, 3] += matrix[:3, :3] @ [side.start - 1.0 for side in box[::-1]]
        return replace(self, mask=np.pad(self.mask[box], 1), ijk_to_ras=matrix)


def read_object(node: Any, segment_id: str | None = None, label: int | None = None) -> InputObject:
    """The object in a labelmap (by default everything that is not 0) or in a segmentation.

    A segment is given by its ID or name, which is not needed where there is only one. `InputError`
    where there is no such node, label or segment, or it is empty.
    """
    if node is None:
        raise InputError(_("No input was given: choose a labelmap or a segmentation."))
    named = node_name(node)
    if is_segmentation(node):
        if label is not None:
            text = _("{node} is a segmentation: name a segment, not a label.")
            raise InputError(text.format(node=named))
        segment_id = segment_named(node, segment_id)
        mask, matrix, name = _segment(node, segment_id)
    elif node.IsA("vtkMRMLLabelMapVolumeNode"):
        if segment_id:
            text = _("{node} is a labelmap: choose a label, not a segment.")
            raise InputError(text.format(node=named))
        mask, name = _labelled(node, label)
        matrix, segment_id = reading.ijk_to_ras(node), ""
    else:
        raise InputError(_("{node} is no labelmap and no segmentation.").format(node=named))
    under, warnings = node.GetTransformNodeID(), _warnings(matrix, node)
    text = voxels_fingerprint(node, segment_id)
    return InputObject(node, segment_id, mask, matrix, under, name, warnings, label, text)


def is_segmentation(node: Any) -> bool:
    """Whether a node, or None, is a segmentation."""
    return node is not None and node.IsA("vtkMRMLSegmentationNode")


def segment_named(node: Any, wanted: str | None) -> str:
    """The ID of a segment that is given by its ID or name, or is the only one."""
    segmentation = node.GetSegmentation()
    ids = list(segmentation.GetSegmentIDs())
    names = [segmentation.GetSegment(each).GetName() for each in ids]
    if not ids:
        raise InputError(_("The segmentation {node} has no segment.").format(node=node_name(node)))
    named = [each for each, name in zip(ids, names) if name == wanted]
    found = [wanted] if wanted in ids else named if wanted else ids
    if len(found) == 1:
        return str(found[0])
    there = ", ".join(f"'{name}'" for name in names[:LISTED])
    if not wanted:
        text = _("{node} has {count} segments; choose one of {there}.")
        raise InputError(text.format(node=node_name(node), count=len(ids), there=there))
    text = _("{node} has no segment '{name}'; it has {there}.")
    raise InputError(text.format(node=node_name(node), name=wanted, there=there))


def segments_named(node: Any, wanted: Sequence[str] | None) -> list[str]:
    """IDs of segments by their IDs or names; None for all that are shown.

    `InputError` where the node is no segmentation, or there is no segment.
    """
    if not is_segmentation(node):
        raise InputError(_("Several trees need a segmentation, with a segment for each of them."))
    ids = visible_segments(node) if wanted is None else list(wanted)
    if not ids:
        raise InputError(_("No segment of {node} is shown or named.").format(node=node_name(node)))
    return list(dict.fromkeys(segment_named(node, each) for each in ids))


def visible_segments(node: Any) -> list[str]:
    """IDs of the segments that are shown; all where nothing says which are."""
    ids, display = list(node.GetSegmentation().GetSegmentIDs()), node.GetDisplayNode()
    return ids if display is None else [i for i in ids if display.GetSegmentVisibility(i)]


def current_object() -> tuple[Any, str]:
    """The node and, of a segmentation, the segment that a person most likely means.

    It is the segment that is open in the Segment Editor, else the newest segmentation or labelmap
    that is shown, else the newest one. A labelmap of centrelines does not count.
    """
    import slicer

    editor = slicer.mrmlScene.GetFirstNodeByClass("vtkMRMLSegmentEditorNode")
    edited: Any = editor.GetSegmentationNode() if editor is not None else None
    if edited and edited.GetSegmentation().GetSegment(editor.GetSelectedSegmentID() or ""):
        return edited, editor.GetSelectedSegmentID()
    slices = slicer.util.getNodesByClass("vtkMRMLSliceCompositeNode")
    in_slices = {each.GetLabelVolumeID() for each in slices}

    def shown(node: Any) -> bool:
        display = node.GetDisplayNode()
        if is_segmentation(node) and display is not None:
            return display.GetVisibility() and node.GetSegmentation().GetNumberOfSegments() > 0
        return node.GetID() in in_slices

    nodes = [
        node
        for node in reversed(list(slicer.mrmlScene.GetNodes()))
        if node.GetClassName() in ("vtkMRMLSegmentationNode", "vtkMRMLLabelMapVolumeNode")
        and not (node.GetHideFromEditors() or is_output(node, SKELETON))
    ]
    return max(nodes, key=shown, default=None), ""


def _segment(node: Any, segment_id: str) -> tuple[np.ndarray, np.ndarray, str]:
    """Mask, matrix to the node's frame and name of a segment, also of one made of surfaces."""
    import slicer

    segmentation = node.GetSegmentation()
    segment = segmentation.GetSegment(segment_id)
    name = segment.GetName() or segment_id
    if not segmentation.ContainsRepresentation(BINARY_LABELMAP):
        copy = slicer.vtkSegmentation()  # converted on the segmentation's reference grid
        copy.SetSourceRepresentationName(segmentation.GetSourceRepresentationName())
        copy.CopyConversionParameters(segmentation)
        copy.CopySegmentFromSegmentation(segmentation, segment_id)
        copy.CreateRepresentation(BINARY_LABELMAP)
        segment = copy.GetSegment(segment_id)
    image = segment.GetRepresentation(BINARY_LABELMAP)
    empty = image is None or image.IsEmpty()
    mask = np.zeros(0) if empty else reading.array_from_image(image) == segment.GetLabelValue()
    if not mask.any():
        text = _("The segment '{name}' of {node} is empty: fill it in the Segment Editor.")
        raise InputError(text.format(name=name, node=node_name(node)))
    return mask, reading.image_to_world(image), name


def _labelled(node: Any, label: int | None) -> tuple[np.ndarray, str]:
    """Where a labelmap has a label, and the name of that object."""
    values = reading.voxels_of(node, copy=False)
    if not values.any():
        text = _("The labelmap {node} is empty: every voxel is 0.")
        raise InputError(text.format(node=node_name(node)))
    name = node.GetName() or "Labelmap"
    if label is None:
        return values != 0, name
    mask = values == label
    if label == 0 or not mask.any():
        there = [f"{value:g}" for value in np.unique(values) if value != 0]
        text = _("The labelmap {node} has no label {label}; it has {there}.")
        found = ", ".join(there[:LISTED])
        raise InputError(text.format(node=node_name(node), label=label, there=found))
    return mask, f"{name} label {label}"


def _warnings(matrix: np.ndarray, node: Any) -> list[str]:
    """Sentences where lengths in voxels times the spacing are not those in the world."""
    found = []
    directions = matrix[:3, :3] / np.linalg.norm(matrix[:3, :3], axis=0)
    skew = np.abs(np.triu(directions.T @ directions, 1)).max()
    if skew > TOLERANCE:
        text = _(
            "The axes of {node} are {angle:.1f} degrees off the right angle: positions are exact, "
            "lengths and radii are approximate."
        )
        found.append(text.format(node=node_name(node), angle=np.degrees(np.arcsin(skew))))
    to_world = reading.matrix_between(node, None)
    turn = np.zeros((3, 3)) if to_world is None else to_world[:3, :3]
    if np.abs(turn.T @ turn - np.eye(3)).max() > 2 * TOLERANCE:
        text = _(
            "The transform {transform} changes lengths: curves lie where it puts them, but "
            "lengths and radii are those of {node} without it."
        )
        transform = node_name(node.GetParentTransformNode())
        found.append(text.format(transform=transform, node=node_name(node)))
    return found
