"""Colours of lines, tubes and curves: by branch, radius, generation or tree."""

import colorsys
from collections.abc import Sequence
from typing import Any

import numpy as np

from .kept_result import tree_color
from .nodes import lines
from .nodes.curves import branch_color
from .nodes.lines import COLORS

NO_SEGMENT = (0.85, 0.25, 0.2)  # the colour of a tree of a labelmap
LEGEND_SIZE, LEGEND_LABELS = (0.1, 0.35), 3  # the size in shares of the view

OWN_LEGEND = "FuzzyVesselGPU.Legend"  # attribute
BRANCH, RADIUS, GENERATION, TREE = "branch", "radius", "generation", "tree"
# Cell arrays, red green blue.
BRANCH_COLORS, GENERATION_COLORS, TREE_COLORS = "BranchColor", "GenerationColor", "TreeColor"
ARRAYS = {BRANCH: BRANCH_COLORS, GENERATION: GENERATION_COLORS, TREE: TREE_COLORS}


def color_by(kind: str, models: Sequence[Any] = (), curves: Sequence[Any] = ()) -> None:
    """Colour what a run made.

    Parameters
    ----------
    kind : str
        "branch", "radius", "generation" or "tree": all branches have the colour of the segment.
    models : iterable of vtkMRMLModelNode
        Lines or tubes, as `extract` fills them.
    curves : sequence of vtkMRMLMarkupsCurveNode
        One a branch, in the order of the lines; each gets the colour of its branch, its mean
        radius, its generation or its tree.
    """
    models = list(models)
    tree = (tree_color(models[0]) if models else None) or NO_SEGMENT
    for model in models:
        _color_model(model, kind, tree)
    for model in models[:1]:
        show_legend(model, kind)
    if models and curves:
        for curve, color in zip(curves, curve_colors(models[0].GetPolyData(), kind, tree)):
            display = curve.GetDisplayNode()
            if display is not None:
                display.SetSelectedColor(color)
                display.SetColor(color)


def kind_of(model: Any) -> str:
    """What the colours of a model of lines tell, as `color_by` takes it."""
    display = model.GetDisplayNode()
    name = display.GetActiveScalarName() if display is not None else None
    return next((kind for kind, array in ARRAYS.items() if array == name), RADIUS)


def curve_colors(data: Any, kind: str, tree: Any = NO_SEGMENT) -> list[Any]:
    """One colour (r, g, b), 0..1, for each line of a vtkPolyData; `tree` is that of the segment."""
    if kind != RADIUS:
        return _cell_colors(data, kind, tree)
    low, high = radius_range(data)
    radii = np.array(_cells(data, lines.MEAN_RADIUS))
    return [radius_color(share) for share in np.clip((radii - low) / ((high - low) or 1.0), 0, 1)]


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


def generation_color(generation: int) -> tuple[float, float, float]:
    """From red for the trunk over yellow and green to blue and violet; then it goes round."""
    hues = (0.0, 0.08, 0.15, 0.3, 0.45, 0.55, 0.65, 0.78)
    return colorsys.hsv_to_rgb(hues[generation % len(hues)], 0.75, 0.95)


def _color_model(model: Any, kind: str, tree: Any) -> None:
    import vtk

    data, display = model.GetPolyData(), model.GetDisplayNode()
    if data is None or display is None:
        return
    if kind == RADIUS:
        display.SetActiveScalar(lines.RADIUS, vtk.vtkAssignAttribute.POINT_DATA)
        display.SetAndObserveColorNodeID(COLORS)
        display.SetScalarRangeFlag(display.UseDataScalarRange)
    else:
        _add_colors(data, ARRAYS[kind], _cell_colors(data, kind, tree))
        display.SetActiveScalar(ARRAYS[kind], vtk.vtkAssignAttribute.CELL_DATA)
        display.SetScalarRangeFlag(display.UseDirectMapping)
    display.ScalarVisibilityOn()


def _cell_colors(data: Any, kind: str, tree: Any) -> list[Any]:
    cells = _cells(data, lines.GENERATION if kind == GENERATION else lines.BRANCH)
    if kind == TREE:
        return [tree] * len(cells)
    color = branch_color if kind == BRANCH else generation_color
    return [color(int(number)) for number in cells]


def show_legend(model: Any, kind: str) -> None:
    """Show the colours of a model's radii with their numbers in the 3D views; None hides all."""
    import slicer

    for other in slicer.util.getNodesByClass("vtkMRMLColorLegendDisplayNode"):
        if other.GetAttribute(OWN_LEGEND):  # they would lie over one another
            other.SetVisibility(False)
    if model is None:
        return
    logic = slicer.vtkSlicerColorLogic
    legend = logic.GetColorLegendDisplayNode(model)
    if legend is None:
        known = slicer.mrmlScene.GetTagByClassName("vtkMRMLColorLegendDisplayNode")
        if kind != RADIUS or known is None:
            return
        legend = logic.AddDefaultColorLegendDisplayNode(model)
        legend.SetAttribute(OWN_LEGEND, "yes")
    legend.SetTitleText("Radius (mm)")
    legend.SetLabelFormat("%.1f")
    legend.SetSize(*LEGEND_SIZE)
    legend.SetNumberOfLabels(LEGEND_LABELS)
    legend.SetVisibility(kind == RADIUS)


def _add_colors(data: Any, name: str, colors: Sequence[tuple[float, ...]]) -> None:
    from vtk.util.numpy_support import numpy_to_vtk

    values = np.rint(255 * np.array(colors, float).reshape(-1, 3)).astype(np.uint8)
    array = numpy_to_vtk(values, deep=True)
    array.SetName(name)
    data.GetCellData().AddArray(array)


def _cells(data: Any, name: str) -> list[Any]:
    from vtk.util.numpy_support import vtk_to_numpy

    array = data.GetCellData().GetArray(name)
    return [] if array is None else vtk_to_numpy(array).tolist()
