"""The preview of a segment, on the editor's voxels."""

from typing import Any

import numpy as np

from FuzzyConnectedGPUMRML.views import LabelPreview

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
    ) -> float:
        """Show labels in the place of earlier ones.

        Parameters
        ----------
        labels : ndarray, uint8
        grid : EditorGrid
        segmentation_node, segment_id
            The segment that the labels are meant for: the preview has its name and colour.

        Returns
        -------
        float
            Volume in ml.
        """
        segment = segmentation_node.GetSegmentation().GetSegment(segment_id)
        transform_id = segmentation_node.GetTransformNodeID()
        self.show(labels, grid.ijk_to_segmentation, transform_id, [segment.GetColor()])
        return float(np.count_nonzero(labels) * grid.millilitres)
