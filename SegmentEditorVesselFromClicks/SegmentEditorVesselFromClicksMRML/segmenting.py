"""One run on MRML nodes: the editor's settings and a segment's points in, a vessel out."""

from collections.abc import Callable
from typing import Any

import numpy as np

from FuzzyVesselCoreLib.errors import InputError
from FuzzyVesselCoreLib.geometry import inside
from FuzzyVesselCoreLib.translation import tr as _

from .clicks import BACKGROUND, VESSEL, Clicks
from .editable_area import editable_area, in_intensity_range
from .editor_grid import EditorGrid, editor_grid, scanned_area
from .growing import CachedEvidence, Vessel, both, grow


def vessel_of_clicks(
    editor_node: Any,
    source_image: Any,
    clicks: Clicks,
    *,
    device: str = "auto",
    progress: Callable[[float], bool] | None = None,
    cached: CachedEvidence | None = None,
) -> tuple[Vessel, list[str]]:
    """Segment what the points of a segment mean; nodes are read, never changed.

    Parameters
    ----------
    editor_node : vtkMRMLSegmentEditorNode
        With a segmentation, a source volume and the settings of *Masking*.
    source_image : vtkOrientedImageData
        The source volume on the editor's voxels; see `editor_grid.editor_grid`.
    clicks : Clicks
    device, progress, cached
        As in `growing.grow`.

    Returns
    -------
    vessel : Vessel
        On the voxels of `source_image`.
    notes : list of str
        Sentences: which points were left out, and what the computation has to say.

    Raises
    ------
    InputError
        There is no vessel point where it may be edited, or an input cannot be worked with.
    DeviceError, Cancelled
    """
    segmentation_node = editor_node.GetSegmentationNode()
    grid = editor_grid(source_image)
    area = both(
        editable_area(editor_node, source_image),
        scanned_area(source_image, editor_node.GetSourceVolumeNode(), segmentation_node),
    )
    in_range = in_intensity_range(editor_node, grid.voxels)
    points, notes = _editable_points(clicks, grid, segmentation_node, both(area, in_range))
    vessel = grow(
        grid.voxels,
        grid.spacing,
        points[VESSEL],
        points[BACKGROUND],
        area,
        in_range,
        device=device,
        progress=progress,
        cached=cached,
    )
    return vessel, [*notes, *vessel.scene.notes]


def _editable_points(
    clicks: Clicks, grid: EditorGrid, segmentation_node: Any, allowed: np.ndarray | None
) -> tuple[dict[str, np.ndarray], list[str]]:
    """The voxels (n, 3; K, J, I) of each kind of point, and notes on points that are left out."""
    notes: list[str] = []
    points = {}
    for kind, mask in ((VESSEL, allowed), (BACKGROUND, None)):
        placed = clicks.points(kind)
        voxels = grid.voxels_of(placed.world, segmentation_node)
        hit = inside(voxels, grid.voxels.shape)
        if mask is not None:
            hit[hit] = mask[tuple(voxels[hit].T)]
        missed = ", ".join(label for label, found in zip(placed.labels, hit) if not found)
        if missed:
            text = _("Left out, because nothing may be edited there: {points}.")
            notes.append(text.format(points=missed))
        points[kind] = voxels[hit]
    if len(points[VESSEL]):
        return points, notes
    if not notes:
        raise InputError(_("Click into a vessel first."))
    raise InputError(
        _(
            "No vessel point lies where it may be edited: click inside the source volume, the "
            "editable area and the editable intensity range."
        )
    )
