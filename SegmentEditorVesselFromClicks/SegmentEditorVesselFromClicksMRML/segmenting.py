"""One run on MRML nodes: the editor's settings and a segment's points in, a vessel out."""

from collections.abc import Callable
from typing import Any

from .clicks import BACKGROUND, VESSEL, Clicks
from .editor_inputs import EditorInputs
from .growing import CachedEvidence, Vessel
from .sharing import grow_among


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

    Where other segments have points, too, it is divided among them.

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
    inputs = EditorInputs(editor_node, source_image)
    points, notes = inputs.points_of(clicks)
    grid = inputs.grid
    vessel = grow_among(
        grid.voxels,
        grid.spacing,
        inputs.vessels_of(clicks, points[VESSEL]),
        clicks.segment_id,
        points[BACKGROUND],
        inputs.area,
        inputs.in_range,
        device=device,
        progress=progress,
        cached=cached,
    )
    return vessel, [*notes, *vessel.scene.notes]
