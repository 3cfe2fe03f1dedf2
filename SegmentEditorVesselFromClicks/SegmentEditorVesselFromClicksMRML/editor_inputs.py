"""What a vessel is computed from in the editor: voxels, where editing is allowed, and points."""

from typing import Any

import numpy as np

from FuzzyVesselCoreLib.errors import InputError
from FuzzyVesselCoreLib.geometry import inside
from FuzzyVesselCoreLib.translation import tr as _

from .clicks import BACKGROUND, VESSEL, Clicks
from .editable_area import editable_area, in_intensity_range
from .editor_grid import EditorGrid, editor_grid, scanned_area
from .growing import both


class EditorInputs:
    """The source volume on the editor's voxels, and where editing is allowed.

    Parameters
    ----------
    editor_node : vtkMRMLSegmentEditorNode
        With a segmentation, a source volume and the settings of *Masking*.
    source_image : vtkOrientedImageData
        See `editor_grid.editor_grid`.

    Attributes
    ----------
    grid : EditorGrid
    area, in_range : ndarray of bool, shape (K, J, I), or None
        Editable area that the source volume reaches, and intensity range.

    Raises
    ------
    InputError
        An input cannot be worked with.
    """

    def __init__(self, editor_node: Any, source_image: Any) -> None:
        self._segmentation_node = editor_node.GetSegmentationNode()
        self.grid: EditorGrid = editor_grid(source_image)
        self.area = both(
            editable_area(editor_node, source_image),
            scanned_area(source_image, editor_node.GetSourceVolumeNode(), self._segmentation_node),
        )
        self.in_range = in_intensity_range(editor_node, self.grid.voxels)
        self._shape = self.grid.voxels.shape
        self.allowed = both(self.area, self.in_range)

    def points_of(self, clicks: Clicks) -> tuple[dict[str, np.ndarray], list[str]]:
        """The voxels (n, 3; K, J, I) of points by their kind, and which were left out, in words.

        Raises
        ------
        InputError
            There is no vessel point where it may be edited.
        """
        notes: list[str] = []
        points = {}
        for kind, mask in ((VESSEL, self.allowed), (BACKGROUND, None)):
            placed = clicks.points(kind)
            voxels = self.grid.voxels_of(placed.world, self._segmentation_node)
            hit = inside(voxels, self._shape)
            if mask is not None:
                hit[hit] = mask[tuple(voxels[hit].T)]
            missed = ", ".join(label for label, found in zip(placed.labels, hit) if not found)
            if missed:
                text = _("Left out, because nothing may be edited there: {points}.")
                notes.append(text.format(points=missed))
            points[kind] = voxels[hit]
        if len(points[VESSEL]):
            points[BACKGROUND] = _without(points[BACKGROUND], *self.others_of(clicks).values())
            return points, notes
        if not notes:
            raise InputError(_("Click into a vessel first."))
        raise InputError(
            _(
                "No vessel point lies where it may be edited: click inside the source volume, the "
                "editable area and the editable intensity range."
            )
        )

    def others_of(self, clicks: Clicks) -> dict[str, np.ndarray]:
        """The vessel points (n, 3; K, J, I) of other segments, where it may be edited."""
        segmentation = self._segmentation_node.GetSegmentation()
        own = self._vessel_points(clicks)
        found: dict[str, np.ndarray] = {}
        for segment_id in segmentation.GetSegmentIDs():
            if segment_id != clicks.segment_id:
                voxels = self._vessel_points(Clicks(self._segmentation_node, segment_id))
                voxels = _without(voxels, own, *found.values())
                if len(voxels):
                    found[segment_id] = voxels
        return found

    def vessels_of(self, clicks: Clicks, own: np.ndarray) -> dict[str, np.ndarray]:
        """The points of all segments, in the order of the segments; those of `clicks` are given."""
        points = {**self.others_of(clicks), clicks.segment_id: own}
        order = self._segmentation_node.GetSegmentation().GetSegmentIDs()
        return {segment_id: points[segment_id] for segment_id in order if segment_id in points}

    def _vessel_points(self, clicks: Clicks) -> np.ndarray:
        placed = clicks.points(VESSEL)
        voxels = self.grid.voxels_of(placed.world, self._segmentation_node)
        voxels = voxels[inside(voxels, self._shape)]
        return voxels if self.allowed is None else voxels[self.allowed[tuple(voxels.T)]]


def _without(voxels: np.ndarray, *others: np.ndarray) -> np.ndarray:
    """The voxels (n, 3) that are none of the others."""
    taken = {tuple(each) for other in others for each in other.tolist()}
    free = [tuple(each) not in taken for each in voxels.tolist()]
    return voxels[np.array(free, bool)]
