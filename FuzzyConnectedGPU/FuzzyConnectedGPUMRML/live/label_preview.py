"""A preview in the slice views: a segmentation of its own that is not saved and not listed."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from FuzzyVesselCoreLib.mrml.changes import remove_node
from FuzzyVesselCoreLib.mrml.images import image_from_array
from FuzzyVesselCoreLib.mrml.reading import matrix_from_array
from FuzzyVesselCoreLib.mrml.segment_masks import BINARY_LABELMAP
from FuzzyVesselCoreLib.mrml.segments import SEGMENT_COLOR

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
    """Shows labels as a segment in the slice views.

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
        segment_id: str = "",
    ) -> None:
        """Show labels in the place of earlier ones.

        Parameters
        ----------
        labels : ndarray, shape (K, J, I), uint8
        box : tuple of slice
            Their place on the grid.
        frame : Frame
        segmentation_node : vtkMRMLSegmentationNode, optional
        segment_id : str
            Of the segment that the labels are meant for: the preview has its name, its colour and
            its views.
        """
        import slicer

        meant = segmentation_node and segmentation_node.GetSegmentation().GetSegment(segment_id)
        if not self.shown:
            self._node = self._new_node(segmentation_node)
        segment = slicer.vtkSegment()
        segment.SetName(meant.GetName() if meant else self._title)
        segment.SetColor(meant.GetColor() if meant else SEGMENT_COLOR)
        segment.AddRepresentation(BINARY_LABELMAP, oriented_image(labels, box, frame.ijk_to_frame))
        with slicer.util.NodeModify(self._node):
            self._node.SetAndObserveTransformNodeID(frame.transform_id)
            self._node.GetSegmentation().RemoveAllSegments()
            self._node.GetSegmentation().AddSegment(segment, segment_id or SEGMENT_ID)

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


def oriented_image(labels: np.ndarray, box: tuple[slice, ...], ijk_to_frame: np.ndarray) -> Any:
    """Labels of a part of a grid as an image.

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

    image = image_from_array(labels, slicer.vtkOrientedImageData())
    geometry = np.array(ijk_to_frame, float)
    geometry[:3, 3] += geometry[:3, :3] @ [side.start for side in box[::-1]]
    image.SetGeometryFromImageToWorldMatrix(matrix_from_array(geometry))
    return image
