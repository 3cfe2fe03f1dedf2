"""Branches as markup curves: one curve a branch, together in a folder."""

import colorsys
from dataclasses import dataclass
from typing import Any

import numpy as np

from FuzzyVesselCoreLib.translation import tr as _

from .lines import RADIUS


@dataclass(frozen=True)
class BranchCurve:
    """What a curve node is filled with.

    Attributes
    ----------
    name : str
    points : vtkPoints
        In the frame below the parent transform.
    radius : vtkDoubleArray
        mm, one value a point.
    mean_radius : float
        mm.
    color : tuple of float
    diameter : float
        mm, of the line as it is drawn.
    """

    name: str
    points: object
    radius: object
    mean_radius: float
    color: tuple
    diameter: float


def branch_curves(solid: Any, skeleton: Any) -> Any:
    """List of `BranchCurve`, in the order of the skeleton's branches."""
    means = skeleton.to_table()["mean_radius_mm"]
    return [
        BranchCurve(
            f"{solid.name} branch {number}",
            points_of(solid.points(branch.points)),
            doubles(branch.radius),
            means[number],
            branch_color(number),
            min(solid.spacing),
        )
        for number, branch in enumerate(skeleton.branches)
    ]


def branch_color(number: int) -> tuple[float, float, float]:
    """A colour (r, g, b), 0..1, that differs from those of the numbers nearby."""
    golden_ratio = 0.618034
    return colorsys.hsv_to_rgb(number * golden_ratio % 1.0, 0.65, 0.95)


def points_of(positions: np.ndarray) -> Any:
    """An array (n, 3) as vtkPoints of doubles."""
    import vtk
    from vtk.util.numpy_support import numpy_to_vtk

    points = vtk.vtkPoints()
    points.SetDataTypeToDouble()
    points.SetData(numpy_to_vtk(np.ascontiguousarray(positions, float).reshape(-1, 3), deep=True))
    return points


def doubles(values: np.ndarray) -> Any:
    from vtk.util.numpy_support import numpy_to_vtk

    array = numpy_to_vtk(np.ascontiguousarray(values, np.float64), deep=True)
    array.SetName(RADIUS)
    return array


def fill_curve(node: Any, curve: Any, transform_id: str | None) -> None:
    """Fill a vtkMRMLMarkupsCurveNode."""
    import slicer

    with slicer.util.NodeModify(node):
        _remove_measurement(node, RADIUS)
        node.SetCurveTypeToLinear()
        set_points(node, curve.points, transform_id)
        for number in range(node.GetNumberOfControlPoints()):
            node.SetNthControlPointVisibility(number, False)
        node.AddMeasurement(_measurement(curve))
        node.SetLocked(True)  # moved points would no longer have these radii


def show_curve(node: Any, curve: Any) -> None:
    """Display a new curve node as a line of the branch's colour, without points and texts."""
    if node.GetDisplayNode() is None:
        node.CreateDefaultDisplayNodes()
    display = node.GetDisplayNode()
    display.SetSelectedColor(curve.color)
    display.SetColor(curve.color)
    display.SetPropertiesLabelVisibility(False)
    display.SetCurveLineSizeMode(display.UseLineDiameter)
    display.SetLineDiameter(curve.diameter)


def set_points(node: Any, points: np.ndarray, transform_id: str | None) -> None:
    """Give a markups node other control points, in the frame below its new parent transform."""
    node.RemoveAllControlPoints()
    # Without a transform the world is the node's own frame: no inverse of a transform is needed,
    # which would only be an approximation where the transform bends space.
    node.SetAndObserveTransformNodeID(None)
    node.SetControlPointPositionsWorld(points)
    node.SetAndObserveTransformNodeID(transform_id)


def _measurement(curve: Any) -> Any:
    import slicer

    measurement = slicer.vtkMRMLStaticMeasurement()
    measurement.SetName(RADIUS)
    measurement.SetUnits("mm")
    measurement.SetDescription(_("Distance to the border of the object; the value is the mean."))
    measurement.SetControlPointValues(curve.radius)
    measurement.SetDisplayValue(curve.mean_radius, "mm")
    return measurement


def _remove_measurement(node: Any, name: str) -> None:
    for number in reversed(range(node.GetNumberOfMeasurements())):
        if node.GetNthMeasurement(number).GetName() == name:
            node.RemoveNthMeasurement(number)
