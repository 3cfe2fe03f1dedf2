"""Models of lines and tubes, and colours: by branch, radius, generation or tree."""

import colorsys
from typing import Any

import numpy as np

from . import lines
from .lines import vtk_array

COLORS = "vtkMRMLColorTableNodeIron"  # red to yellow, in every Slicer and slicer-core
LINE_WIDTH = 3  # pixels
NO_SEGMENT = (0.85, 0.25, 0.2)  # the colour of a tree of a labelmap
# Cell arrays, red green blue; "radius" is the fourth kind of colours.
COLOR_ARRAYS = {"branch": "BranchColor", "generation": "GenerationColor", "tree": "TreeColor"}


def color_model(model: Any, kind: str, tree: Any) -> None:
    """Colour lines or tubes as `extract` fills them; `tree` is the colour of their segment."""
    import vtk

    data, display = model.GetPolyData(), model.GetDisplayNode()
    if data is None or display is None:
        return
    if kind == "radius":
        display.SetActiveScalar(lines.RADIUS, vtk.vtkAssignAttribute.POINT_DATA)
        display.SetAndObserveColorNodeID(COLORS)
        display.SetScalarRangeFlag(display.UseDataScalarRange)
    else:
        colors = np.array(line_colors(data, kind, tree), float).reshape(-1, 3)
        values = np.rint(255 * colors).astype(np.uint8)
        data.GetCellData().AddArray(vtk_array(values, COLOR_ARRAYS[kind]))
        display.SetActiveScalar(COLOR_ARRAYS[kind], vtk.vtkAssignAttribute.CELL_DATA)
        display.SetScalarRangeFlag(display.UseDirectMapping)
    display.ScalarVisibilityOn()


def fill_model(node: Any, data: Any, transform_id: str | None) -> None:
    """Put lines or tubes (vtkPolyData) into a vtkMRMLModelNode, under a parent transform.

    A new model is coloured by radius; lines are drawn a few pixels wide.
    """
    import slicer

    with slicer.util.NodeModify(node):
        node.SetAndObserveTransformNodeID(transform_id)
        node.SetAndObservePolyData(data)
    if node.GetDisplayNode() is None:
        node.CreateDefaultDisplayNodes()
        color_model(node, "radius", NO_SEGMENT)
        if data.GetNumberOfLines():
            node.GetDisplayNode().SetLineWidth(LINE_WIDTH)
            node.GetDisplayNode().LightingOff()


def kind_of(model: Any) -> str:
    """What the colours of a model of lines tell, as `color_by` takes it."""
    display = model.GetDisplayNode()
    name = display.GetActiveScalarName() if display is not None else None
    return next((kind for kind, array in COLOR_ARRAYS.items() if array == name), "radius")


def line_colors(data: Any, kind: str, tree: Any) -> list[Any]:
    """One colour (r, g, b), 0..1, for each line of a vtkPolyData; `tree` is that of the segment."""
    arrays = {"radius": "MeanRadius", "generation": "Generation"}
    found = lines.values_of(data, arrays.get(kind, "BranchId"))
    values = np.zeros(0) if found is None else found
    if kind == "tree":
        return [tree] * len(values)
    if kind != "radius":
        color = branch_color if kind == "branch" else generation_color
        return [color(int(number)) for number in values]
    low, high = radius_range(data)
    return [radius_color(each) for each in np.clip((values - low) / (high - low or 1), 0, 1)]


def radius_range(data: Any) -> tuple[float, float]:
    """Smallest and largest radius, in mm, of the lines of a vtkPolyData."""
    array = data.GetPointData().GetArray(lines.RADIUS)
    return array.GetRange() if array is not None and array.GetNumberOfTuples() else (0.0, 1.0)


def radius_color(share: float) -> tuple[float, ...]:
    """The colour (r, g, b), 0..1, of a radius at a share of the range of radii."""
    import slicer

    table, color = slicer.mrmlScene.GetNodeByID(COLORS), [0.0] * 4
    table.GetColor(round(float(share) * (table.GetNumberOfColors() - 1)), color)
    return tuple(color[:3])


def branch_color(number: int) -> tuple[float, float, float]:
    """A colour (r, g, b), 0..1, that differs from those of the numbers nearby."""
    golden_ratio = 0.618034
    return colorsys.hsv_to_rgb(number * golden_ratio % 1.0, 0.65, 0.95)


def generation_color(generation: int) -> tuple[float, float, float]:
    """From red for the trunk over yellow and green to blue and violet; then it goes round."""
    hues = (0.0, 0.08, 0.15, 0.3, 0.45, 0.55, 0.65, 0.78)
    return colorsys.hsv_to_rgb(hues[generation % len(hues)], 0.75, 0.95)
