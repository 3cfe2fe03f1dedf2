"""The skeleton as lines with radius, the tubes that they describe, and their model nodes."""

from typing import Any

import numpy as np

RADIUS = "Radius"  # mm, at each point
# Of each line:
BRANCH, GENERATION, LENGTH, MEAN_RADIUS = "BranchId", "Generation", "Length", "MeanRadius"
COMPONENT, START, END = "ComponentId", "StartNode", "EndNode"
NAME = "Name"  # where a branch has one
# Where cross-sections were measured: the column of the table to the array.
SECTIONS = {
    "min_area_mm2": "MinimalArea",
    "mean_area_mm2": "MeanArea",
    "inscribed_diameter_mm": "InscribedDiameter",
    "equivalent_diameter_mm": "EquivalentDiameter",
}
COLORS = "vtkMRMLColorTableNodeIron"  # red to yellow, in every Slicer and slicer-core
LINE_WIDTH = 3  # pixels


def branch_lines(solid: Any, skeleton: Any) -> Any:
    """One polyline a branch.

    Parameters
    ----------
    solid : SolidInput
        Gives the frame.
    skeleton : CurveSkeleton

    Returns
    -------
    vtkPolyData
        Point array Radius (mm); cell arrays BranchId, Generation, Length (mm), MeanRadius (mm),
        ComponentId, StartNode, EndNode: with them the lines are the whole graph. Branches share no
        points, so that each can have values of its own at a junction.
    """
    import vtk

    sizes = [len(branch.points) for branch in skeleton.branches]
    points = vtk.vtkPoints()
    points.SetDataTypeToDouble()
    data = vtk.vtkPolyData()
    data.SetPoints(points)
    lines = vtk.vtkCellArray()
    if sizes:
        positions = np.concatenate([branch.points for branch in skeleton.branches])
        points.SetData(_array(solid.points(positions)))
        ends = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        lines.SetData(_array(ends), _array(np.arange(ends[-1])))
    data.SetLines(lines)
    radii = [branch.radius for branch in skeleton.branches]
    radius = np.concatenate(radii) if radii else np.empty(0)
    data.GetPointData().AddArray(_array(radius.astype(np.float64), RADIUS))
    data.GetPointData().SetActiveScalars(RADIUS)
    table = skeleton.to_table()
    columns = (
        (BRANCH, "branch", np.int32),
        (GENERATION, "generation", np.int32),
        (LENGTH, "length_mm", np.float64),
        (MEAN_RADIUS, "mean_radius_mm", np.float64),
        (COMPONENT, "component", np.int32),
        (START, "start", np.int32),
        (END, "end", np.int32),
    )
    for name, column, kind in columns:
        data.GetCellData().AddArray(_array(np.array(table[column], kind), name))
    return data


def tubes(lines: Any, sides: int = 12) -> Any:
    """The surface of tubes round lines, as thick as the object there.

    Parameters
    ----------
    lines : vtkPolyData
        With a point array Radius, for example from `branch_lines` or a skeleton's model node.
    sides : int
        Of a tube's cross section.

    Returns
    -------
    vtkPolyData
        Strips, with the lines' point and cell arrays.
    """
    import vtk

    shallow = vtk.vtkPolyData()
    shallow.ShallowCopy(lines)
    shallow.GetPointData().SetActiveScalars(RADIUS)
    tube = vtk.vtkTubeFilter()
    tube.SetInputData(shallow)
    tube.SetNumberOfSides(sides)
    tube.SetVaryRadiusToVaryRadiusByAbsoluteScalar()
    tube.CappingOn()
    tube.Update()
    return tube.GetOutput()


def fill_model(node: Any, data: Any, transform_id: str | None) -> None:
    """Put a vtkPolyData into a vtkMRMLModelNode, under a parent transform."""
    import slicer

    with slicer.util.NodeModify(node):
        node.SetAndObserveTransformNodeID(transform_id)
        node.SetAndObservePolyData(data)
    if node.GetDisplayNode() is None:
        node.CreateDefaultDisplayNodes()


def show_model(node: Any, lines: Any) -> None:
    """Colour a new model by radius; `lines` are drawn a few pixels wide."""
    display = node.GetDisplayNode()
    display.SetActiveScalarName(RADIUS)
    display.SetAndObserveColorNodeID(COLORS)
    display.SetScalarRangeFlag(display.UseDataScalarRange)
    display.ScalarVisibilityOn()
    if lines:
        display.SetLineWidth(LINE_WIDTH)
        display.LightingOff()


def _array(values: Any, name: str | None = None) -> Any:
    from vtk.util.numpy_support import numpy_to_vtk

    array = numpy_to_vtk(np.ascontiguousarray(values), deep=True)
    if name:
        array.SetName(name)
    return array
