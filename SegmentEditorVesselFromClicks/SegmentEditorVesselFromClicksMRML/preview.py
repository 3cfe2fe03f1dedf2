"""The preview: a segmentation of its own that is not saved and that no list shows."""

from typing import Any

import numpy as np

from FuzzyVesselCoreLib.mrml.changes import remove_node
from FuzzyVesselCoreLib.mrml.images import image_from_array
from FuzzyVesselCoreLib.mrml.segment_masks import BINARY_LABELMAP

FILL, OUTLINE = 0.6, 1.0  # opacity


class Preview:
    """Shows labels of one segment in the slice views."""

    def __init__(self) -> None:
        self._node: Any = None

    @property
    def shown(self) -> bool:
        import slicer

        return self._node is not None and bool(slicer.mrmlScene.IsNodePresent(self._node))

    def show(
        self, labels: np.ndarray, source_image: Any, segmentation_node: Any, segment_id: str
    ) -> None:
        """Show labels in the place of earlier ones.

        Parameters
        ----------
        labels : ndarray, shape (K, J, I), uint8
        source_image : vtkOrientedImageData
            Gives the geometry.
        segmentation_node : vtkMRMLSegmentationNode
        segment_id : str
            The segment that the labels are meant for: the preview has its name and colour.
        """
        import slicer

        if not self.shown:
            self._node = _new_node(segmentation_node)
        meant = segmentation_node.GetSegmentation().GetSegment(segment_id)
        segment = slicer.vtkSegment()
        segment.SetName(meant.GetName())
        segment.SetColor(meant.GetColor())
        segment.AddRepresentation(BINARY_LABELMAP, labelmap_of(labels, source_image))
        with slicer.util.NodeModify(self._node):
            self._node.SetAndObserveTransformNodeID(segmentation_node.GetTransformNodeID())
            self._node.GetSegmentation().RemoveAllSegments()
            self._node.GetSegmentation().AddSegment(segment, segment_id)

    def drop(self) -> None:
        """Show nothing any more."""
        if self._node is not None:
            remove_node(self._node)
        self._node = None


def _new_node(segmentation_node):
    import slicer

    node = slicer.vtkMRMLSegmentationNode()
    node.SetName(slicer.mrmlScene.GenerateUniqueName("Vessel from clicks preview"))
    node.SaveWithSceneOff()
    node.HideFromEditorsOn()
    slicer.mrmlScene.AddNode(node)
    node.CreateDefaultDisplayNodes()
    display = node.GetDisplayNode()
    display.SaveWithSceneOff()
    display.SetVisibility3D(False)
    display.SetOpacity2DFill(FILL)
    display.SetOpacity2DOutline(OUTLINE)
    meant = segmentation_node.GetDisplayNode()
    if meant is not None:
        display.SetViewNodeIDs(meant.GetViewNodeIDs())
    return node


def labelmap_of(labels: np.ndarray, source_image: Any) -> Any:
    """Labels of the grid as an image of the part that holds some, or of one voxel.

    Parameters
    ----------
    labels : ndarray, shape (K, J, I), uint8
    source_image : vtkOrientedImageData
        Gives the geometry.

    Returns
    -------
    vtkOrientedImageData
        Its extent is that of the part.
    """
    import slicer
    import vtk

    box = []
    for axis in range(3):
        others = tuple(a for a in range(3) if a != axis)
        places = np.flatnonzero(labels.any(axis=others))
        box.append(slice(places[0], places[-1] + 1) if places.size else slice(0, 1))
    part = labels[tuple(box)]
    image = slicer.vtkOrientedImageData()
    image_from_array(part, image)
    starts = [first + s.start for first, s in zip(source_image.GetExtent()[::2], reversed(box))]
    image.SetExtent(*(e for s, n in zip(starts, part.shape[::-1]) for e in (s, s + n - 1)))
    matrix = vtk.vtkMatrix4x4()
    source_image.GetImageToWorldMatrix(matrix)
    image.SetGeometryFromImageToWorldMatrix(matrix)
    return image
