"""Critical points of the field as lists of points: one list a kind, each of its own colour."""

from typing import Any

import numpy as np

from PotentialSkeletonLib.critical_points.critical_points import KINDS

from .curves import points_of, set_points

COLORS = dict(
    zip(KINDS, [(0.85, 0.2, 0.2), (0.95, 0.75, 0.2), (0.3, 0.75, 0.35), (0.25, 0.45, 0.9)])
)


def points_by_kind(solid: Any, skeleton: Any) -> dict[str, Any]:
    """vtkPoints, in the frame below the parent transform, for each kind that there is."""
    found = {}
    for kind in KINDS:
        positions = [p.position for p in skeleton.critical_points if p.kind == kind]
        if positions:
            found[kind] = points_of(solid.points(np.array(positions)))
    return found


def fill_list(node: Any, points: np.ndarray, transform_id: str | None) -> None:
    """Fill a vtkMRMLMarkupsFiducialNode."""
    import slicer

    with slicer.util.NodeModify(node):
        set_points(node, points, transform_id)
        node.SetLocked(True)


def show_list(node: Any, kind: str, size: float) -> None:
    """Display a new list in the colour of its kind; `size` is the points' diameter in mm."""
    if node.GetDisplayNode() is None:
        node.CreateDefaultDisplayNodes()
    display = node.GetDisplayNode()
    display.SetSelectedColor(COLORS[kind])
    display.SetColor(COLORS[kind])
    display.SetPointLabelsVisibility(False)
    display.UseGlyphScaleOff()
    display.SetGlyphSize(size)
