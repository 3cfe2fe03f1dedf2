"""A preview in the slice views: a segmentation of its own that is not saved and not listed."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from FuzzyVesselCoreLib.mrml.changes import remove_node
from FuzzyVesselCoreLib.mrml.images import image_from_array
from FuzzyVesselCoreLib.mrml.reading import BINARY_LABELMAP, matrix_from_array
from FuzzyVesselCoreLib.mrml.segments import SEGMENT_COLOR

Color = tuple[float, float, float]

FILL, OUTLINE = 0.6, 1.0  # opacity
SEGMENT_ID = "preview"


@dataclass(frozen=True)
class Frame:
    """Where labels lie.

    Attributes
    ----------
    ijk_to_frame : ndarray, shape (4, 4)
        From I, J, K of the whole grid to the frame below the transform, in mm.
    transform_id : str or None
        Of the parent transform.
    """

    ijk_to_frame: np.ndarray
    transform_id: str | None = None


class LabelPreview:
    """Shows labels as segments in the slice views.

    Parameters
    ----------
    title : str
        Of the node.
    """

    def __init__(self, title: str) -> None:
        self._title = title
        self._node: Any = None

    @property
    def shown(self) -> bool:
        import slicer

        return self._node is not None and bool(slicer.mrmlScene.IsNodePresent(self._node))

    def show(
        self,
        labels: np.ndarray,
        box: tuple[slice, ...],
        frame: Frame,
        segmentation_node: Any = None,
        segment_ids: Sequence[str] = ("",),
        looks: Sequence[tuple[str, Color]] = (),
    ) -> None:
        """Show labels in the place of earlier ones.

        Parameters
        ----------
        labels : ndarray, shape (K, J, I), uint8
            1 for the first segment, and so on. Not copied, which takes as long as to compute them:
            nobody may write into them afterwards.
        box : tuple of slice
            Their place on the grid.
        frame : Frame
        segmentation_node : vtkMRMLSegmentationNode, optional
        segment_ids : sequence of str
            Of the segments that the labels are meant for: the preview has their names, their
            colours and their views. Empty for one that is not there yet.
        looks : sequence of (str, (r, g, b))
            Name and colour of each of these.
        """
        import slicer

        if not self.shown:
            self._node = self._new_node(segmentation_node)
        image = oriented_image(labels, box, frame.ijk_to_frame)
        there = segmentation_node and segmentation_node.GetSegmentation()
        with slicer.util.NodeModify(self._node):
            self._node.SetAndObserveTransformNodeID(frame.transform_id)
            _empty(self._node.GetSegmentation())
            for label, segment_id in enumerate(segment_ids, 1):
                meant = there and segment_id and there.GetSegment(segment_id)
                name, color = looks[label - 1] if looks else (self._title, SEGMENT_COLOR)
                segment = slicer.vtkSegment()
                segment.SetName(meant.GetName() if meant else name)
                segment.SetColor(meant.GetColor() if meant else color)
                segment.SetLabelValue(label)
                segment.AddRepresentation(BINARY_LABELMAP, image)
                own = segment_id or f"{SEGMENT_ID}{label}"
                self._node.GetSegmentation().AddSegment(segment, own)

    def drop(self) -> None:
        """Show nothing any more."""
        if self._node is not None:
            remove_node(self._node)
        self._node = None

    def _new_node(self, meant_node: Any) -> Any:
        import slicer

        node = slicer.vtkMRMLSegmentationNode()
        node.SetName(slicer.mrmlScene.GenerateUniqueName(self._title))
        node.SaveWithSceneOff()
        node.HideFromEditorsOn()
        slicer.mrmlScene.AddNode(node)
        node.CreateDefaultDisplayNodes()
        display = node.GetDisplayNode()
        display.SaveWithSceneOff()
        display.SetVisibility3D(False)
        display.SetOpacity2DFill(FILL)
        display.SetOpacity2DOutline(OUTLINE)
        meant = meant_node.GetDisplayNode() if meant_node is not None else None
        if meant is not None:
            display.SetViewNodeIDs(meant.GetViewNodeIDs())
        return node


def _empty(segmentation: Any) -> None:
    """Remove all segments; each of several would first erase its labels from their image."""
    for segment_id in segmentation.GetSegmentIDs():
        segmentation.GetSegment(segment_id).RemoveAllRepresentations()
    segmentation.RemoveAllSegments()


def oriented_image(labels: np.ndarray, box: tuple[slice, ...], ijk_to_frame: np.ndarray) -> Any:
    """Labels of a part of a grid as an image, which has no copy of them.

    Parameters
    ----------
    labels : ndarray, shape (K, J, I), uint8
    box : tuple of slice
        Their place on the grid.
    ijk_to_frame : ndarray, shape (4, 4)
        Of the whole grid.

    Returns
    -------
    vtkOrientedImageData
    """
    import slicer

    image = image_from_array(labels, slicer.vtkOrientedImageData(), taken=True)
    geometry = np.array(ijk_to_frame, float)
    geometry[:3, 3] += geometry[:3, :3] @ [side.start for side in box[::-1]]
    image.SetGeometryFromImageToWorldMatrix(matrix_from_array(geometry))
    return image
