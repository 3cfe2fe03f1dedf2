"""Branches as markup curves in a folder, and critical points as lists of points."""

import colorsys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from FuzzyVesselCoreLib.mrml.changes import folder_item_of, subject_hierarchy
from FuzzyVesselCoreLib.translation import tr as _
from PotentialSkeletonLib import CurveSkeleton
from PotentialSkeletonLib.critical_points.critical_points import KINDS
from PotentialSkeletonLib.tree import rooted_forest

from .lines import RADIUS, vtk_array

OWN_FOLDER = "FuzzyVesselGPU.Curves"  # attribute of the folder's item
POINT_COLORS = dict(
    zip(KINDS, [(0.85, 0.2, 0.2), (0.95, 0.75, 0.2), (0.3, 0.75, 0.35), (0.25, 0.45, 0.9)])
)


@dataclass(frozen=True)
class BranchCurve:
    """What a curve node is filled with; `points` (n, 3) lie below the parent transform, in mm."""

    name: str
    points: np.ndarray
    radius: np.ndarray
    mean_radius: float
    color: tuple
    diameter: float  # of the line as it is drawn


def branch_curves(solid: Any, skeleton: CurveSkeleton) -> list[BranchCurve]:
    """A curve for each branch of a skeleton; `solid` gives the frame."""
    means, thin = skeleton.to_table()["mean_radius_mm"], min(solid.spacing)
    return [
        BranchCurve(
            f"{solid.name} branch {number}",
            solid.points(branch.points),
            branch.radius,
            means[number],
            branch_color(number),
            thin,
        )
        for number, branch in enumerate(skeleton.branches)
    ]


def branch_color(number: int) -> tuple[float, float, float]:
    """A colour (r, g, b), 0..1, that differs from those of the numbers nearby."""
    golden_ratio = 0.618034
    return colorsys.hsv_to_rgb(number * golden_ratio % 1.0, 0.65, 0.95)


def fill_curve(node: Any, curve: BranchCurve, transform_id: str | None) -> None:
    """Fill a vtkMRMLMarkupsCurveNode: hidden, locked points and the measurement Radius."""
    import slicer

    measurement = slicer.vtkMRMLStaticMeasurement()
    measurement.SetName(RADIUS)
    measurement.SetUnits("mm")
    measurement.SetDescription(_("Distance to the border of the object; the value is the mean."))
    measurement.SetControlPointValues(vtk_array(np.asarray(curve.radius, float), RADIUS))
    measurement.SetDisplayValue(curve.mean_radius, "mm")
    with slicer.util.NodeModify(node):
        for number in reversed(range(node.GetNumberOfMeasurements())):
            if node.GetNthMeasurement(number).GetName() == RADIUS:
                node.RemoveNthMeasurement(number)
        node.SetCurveTypeToLinear()
        _set_points(node, curve.points, transform_id)
        for number in range(node.GetNumberOfControlPoints()):
            node.SetNthControlPointVisibility(number, False)
        node.AddMeasurement(measurement)
        node.SetLocked(True)  # moved points would no longer have these radii


def show_curve(node: Any, curve: BranchCurve) -> None:
    """Display a new curve node as a line of the branch's colour, without points and texts."""
    display = _display(node, curve.color)
    display.SetPropertiesLabelVisibility(False)
    display.SetCurveLineSizeMode(display.UseLineDiameter)
    display.SetLineDiameter(curve.diameter)


def points_by_kind(solid: Any, skeleton: CurveSkeleton) -> dict[str, np.ndarray]:
    """Points of the frame of `solid` for each kind of critical point that there is."""
    found = {}
    for kind in KINDS:
        positions = [p.position for p in skeleton.critical_points if p.kind == kind]
        if positions:
            found[kind] = solid.points(np.array(positions))
    return found


def fill_list(node: Any, points: np.ndarray, transform_id: str | None) -> None:
    """Fill a vtkMRMLMarkupsFiducialNode, locked."""
    import slicer

    with slicer.util.NodeModify(node):
        _set_points(node, points, transform_id)
        node.SetLocked(True)


def show_list(node: Any, kind: str, size: float) -> None:
    """Display a new list in the colour of its kind; `size` is the points' diameter in mm."""
    display = _display(node, POINT_COLORS[kind])
    display.SetPointLabelsVisibility(False)
    display.UseGlyphScaleOff()
    display.SetGlyphSize(size)


def _display(node: Any, color: Sequence[float]) -> Any:
    if node.GetDisplayNode() is None:
        node.CreateDefaultDisplayNodes()
    display = node.GetDisplayNode()
    display.SetSelectedColor(color)
    display.SetColor(color)
    return display


def _set_points(node: Any, positions: np.ndarray, transform_id: str | None) -> None:
    import vtk

    points = vtk.vtkPoints()
    points.SetDataTypeToDouble()
    points.SetData(vtk_array(np.asarray(positions, float).reshape(-1, 3)))
    node.RemoveAllControlPoints()
    # Without a transform the world is the node's own frame: no inverse of a transform is needed,
    # which would only be an approximation where the transform bends space.
    node.SetAndObserveTransformNodeID(None)
    node.SetControlPointPositionsWorld(points)
    node.SetAndObserveTransformNodeID(transform_id)


# --- the folder of the subject hierarchy


def group(curves: Sequence[Any], skeleton: CurveSkeleton, name: str, source_node: Any) -> int:
    """Put the curves of a skeleton's branches into one folder of the subject hierarchy.

    A curve lies below that of its parent branch, seen from the tree's root; branches that close a
    loop have no parent. Where the first curve is in a folder already, the others join it; a new
    folder lies beside `source_node`. Returns the folder's item, or 0 where there is no hierarchy.
    """
    hierarchy = subject_hierarchy()
    if hierarchy is None or not curves:
        return 0
    folder = folder_of(curves[0])
    if not folder:
        place = folder_item_of(source_node) or hierarchy.GetSceneItemID()
        folder = hierarchy.CreateFolderItem(place, name)
        hierarchy.SetItemAttribute(folder, OWN_FOLDER, "yes")
        hierarchy.SetItemExpanded(folder, False)
    items = []
    for node in curves:  # an earlier tree's parents are given up
        item = hierarchy.GetItemByDataNode(node) or hierarchy.CreateItem(folder, node)
        hierarchy.SetItemParent(item, folder)
        items.append(item)
    forest = rooted_forest(skeleton)
    for branch in forest.branches:
        if branch.parent >= 0:
            parent = forest.branches[branch.parent].number
            hierarchy.SetItemParent(items[branch.number], items[parent])
    return folder


def remove_empty_folder(folder: int) -> None:
    """Remove a folder that `group` made and that holds nothing any more."""
    hierarchy = subject_hierarchy()
    own = folder and hierarchy is not None and hierarchy.HasItemAttribute(folder, OWN_FOLDER)
    if own and not hierarchy.GetNumberOfItemChildren(folder):
        hierarchy.RemoveItem(folder)


def folder_of(node: Any) -> int:
    """The item of the folder that a node lies in, or 0."""
    hierarchy = subject_hierarchy()
    item = hierarchy.GetItemByDataNode(node) if hierarchy is not None else 0
    while item := hierarchy.GetItemParent(item) if item else 0:
        if hierarchy.IsItemLevel(item, "Folder"):
            return item
        if hierarchy.GetItemDataNode(item) is None:
            return 0  # a study, a patient or the scene
    return 0
