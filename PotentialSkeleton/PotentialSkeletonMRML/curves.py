"""Branches as markup curves, which lie in a folder of the subject hierarchy as the branches do."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from FuzzyVesselCoreLib.mrml.changes import folder_item_of, subject_hierarchy
from FuzzyVesselCoreLib.translation import tr as _
from PotentialSkeletonLib import CurveSkeleton
from PotentialSkeletonLib.tree import rooted_forest

from .lines import RADIUS, vtk_array

OWN_FOLDER = "FuzzyVesselGPU.Curves"  # attribute of the folder's item


def fill_curve(
    node: Any, points: np.ndarray, radius: np.ndarray, mean: float, transform_id: str | None
) -> None:
    """Fill a vtkMRMLMarkupsCurveNode: hidden, locked points and the measurement Radius.

    `points` (n, 3) lie below the parent transform, in mm, as `radius` (n,) and its `mean` are.
    """
    import slicer
    import vtk

    measurement = slicer.vtkMRMLStaticMeasurement()
    measurement.SetName(RADIUS)
    measurement.SetUnits("mm")
    measurement.SetDescription(_("Distance to the border of the object; the value is the mean."))
    measurement.SetControlPointValues(vtk_array(np.asarray(radius, float), RADIUS))
    measurement.SetDisplayValue(mean, "mm")
    positions = vtk.vtkPoints()
    positions.SetDataTypeToDouble()
    positions.SetData(vtk_array(np.asarray(points, float).reshape(-1, 3)))
    with slicer.util.NodeModify(node):
        for number in reversed(range(node.GetNumberOfMeasurements())):
            if node.GetNthMeasurement(number).GetName() == RADIUS:
                node.RemoveNthMeasurement(number)
        node.SetCurveTypeToLinear()
        node.RemoveAllControlPoints()
        # Without a transform the world is the node's own frame: no inverse of a transform is
        # needed, which would only be an approximation where the transform bends space.
        node.SetAndObserveTransformNodeID(None)
        node.SetControlPointPositionsWorld(positions)
        node.SetAndObserveTransformNodeID(transform_id)
        for number in range(node.GetNumberOfControlPoints()):
            node.SetNthControlPointVisibility(number, False)
        node.AddMeasurement(measurement)
        node.SetLocked(True)  # moved points would no longer have these radii


def show_curve(node: Any, color: tuple, diameter: float) -> None:
    """Display a new curve node as a line of a colour and a diameter in mm, without texts."""
    node.CreateDefaultDisplayNodes()
    display = node.GetDisplayNode()
    display.SetSelectedColor(color)
    display.SetColor(color)
    display.SetPropertiesLabelVisibility(False)
    display.SetCurveLineSizeMode(display.UseLineDiameter)
    display.SetLineDiameter(diameter)


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
    own = folder and hierarchy.HasItemAttribute(folder, OWN_FOLDER)
    if own and not hierarchy.GetNumberOfItemChildren(folder):
        hierarchy.RemoveItem(folder)


def folder_of(node: Any) -> int:
    """The item of the folder that a node lies in, or 0."""
    hierarchy = subject_hierarchy()
    item = hierarchy.GetItemByDataNode(node) if hierarchy is not None else 0
    return hierarchy.GetItemAncestorAtLevel(item, "Folder") if item else 0
