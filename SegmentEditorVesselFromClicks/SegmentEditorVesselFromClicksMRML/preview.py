"""The preview of a segment, on the editor's voxels."""

from typing import Any

import numpy as np

from FuzzyConnectedGPUMRML.live.label_preview import Frame, LabelPreview
from FuzzyVesselCoreLib.voxels.bounding_box import bounding_box

from .editor_grid import EditorGrid


class Preview(LabelPreview):
    """Shows labels of one segment in the slice views.

    Parameters
    ----------
    title : str
        Of the node.
    """

    def show_on_grid(
        self,
        labels: np.ndarray,
        grid: EditorGrid,
        segmentation_node: Any,
        segment_id: str,
        box: tuple[slice, ...] | None = None,
    ) -> float:
        """Show labels in the place of earlier ones.

        Parameters
        ----------
        labels : ndarray, uint8
        grid : EditorGrid
        segmentation_node, segment_id
            The segment that the labels are meant for: the preview has its name and colour.
        box : tuple of slice, optional
            Place of the labels on the grid; by default they are those of the whole grid.

        Returns
        -------
        float
            Volume in ml.
        """
        if box is None:
            box = bounding_box(labels) or tuple(slice(0, 1) for _axis in labels.shape)
            labels = labels[box]
        frame = Frame(grid.ijk_to_segmentation, segmentation_node.GetTransformNodeID())
        self.show(labels, box, frame, segmentation_node, [segment_id])
        return float(np.count_nonzero(labels) * grid.millilitres)
