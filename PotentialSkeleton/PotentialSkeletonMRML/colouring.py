"""Colours of lines, tubes and curves: by branch, by radius or by generation."""

import colorsys

import numpy as np

from .nodes import lines
from .nodes.curves import branch_color
from .nodes.lines import COLORS

LEGEND_SIZE, LEGEND_LABELS = (0.1, 0.35), 3  # the size in shares of the view

OWN_LEGEND = "FuzzyVesselGPU.Legend"  # attribute
BRANCH, RADIUS, GENERATION = "branch", "radius", "generation"
BRANCH_COLORS, GENERATION_COLORS = "BranchColor", "GenerationColor"  # cell arrays, red green blue


def color_by(kind, models=(), curves=()):
    """Colour what a run made.

    Parameters
    ----------
    kind : str
        "branch", "radius" or "generation".
    models : iterable of vtkMRMLModelNode
        Lines or tubes, as `extract` fills them.
    curves : sequence of vtkMRMLMarkupsCurveNode
        One a branch, in the order of the lines; each gets the colour of its branch, its mean radius
        or its generation.
    """
    models = list(models)
    for model in models:
        _color_model(model, kind)
    for model in models[:1]:
        _show_legend(model, kind)
    if models and curves:
        for curve, color in zip(curves, curve_colors(models[0].GetPolyData(), kind)):
            display = curve.GetDisplayNode()
            if display is not None:
                display.SetSelectedColor(color)
                display.SetColor(color)


def kind_of(model):
    """What the colours of a model of lines tell, as `color_by` takes it."""
    display = model.GetDisplayNode()
    name = display.GetActiveScalarName() if display is not None else None
    return {BRANCH_COLORS: BRANCH, GENERATION_COLORS: GENERATION}.get(name, RADIUS)


def curve_colors(data, kind):
    """One colour (r, g, b), 0..1, for each line of a vtkPolyData."""
    if kind == BRANCH:
        return [branch_color(int(number)) for number in _cells(data, lines.BRANCH)]
    if kind == GENERATION:
        return [generation_color(int(number)) for number in _cells(data, lines.GENERATION)]
    low, high = radius_range(data)
    radii = np.array(_cells(data, lines.MEAN_RADIUS))
    return [radius_color(share) for share in np.clip((radii - low) / ((high - low) or 1.0), 0, 1)]


def radius_range(data):
    """Smallest and largest radius, in mm, of the lines of a vtkPolyData."""
    array = data.GetPointData().GetArray(lines.RADIUS)
    return array.GetRange() if array is not None and array.GetNumberOfTuples() else (0.0, 1.0)


def radius_color(share):
    """The colour (r, g, b), 0..1, of a radius at a share of the range of radii."""
    import slicer

    table, color = slicer.mrmlScene.GetNodeByID(COLORS), [0.0] * 4
    table.GetColor(round(float(share) * (table.GetNumberOfColors() - 1)), color)
    return tuple(color[:3])


def generation_color(generation):
    """From red for the trunk over yellow and green to blue and violet; then it goes round."""
    hues = (0.0, 0.08, 0.15, 0.3, 0.45, 0.55, 0.65, 0.78)
    return colorsys.hsv_to_rgb(hues[generation % len(hues)], 0.75, 0.95)


def _color_model(model, kind):
    import vtk

    data, display = model.GetPolyData(), model.GetDisplayNode()
    if data is None or display is None:
        return
    if kind == RADIUS:
        display.SetActiveScalar(lines.RADIUS, vtk.vtkAssignAttribute.POINT_DATA)
        display.SetAndObserveColorNodeID(COLORS)
        display.SetScalarRangeFlag(display.UseDataScalarRange)
    else:
        by_branch = kind == BRANCH
        name = BRANCH_COLORS if by_branch else GENERATION_COLORS
        cells = _cells(data, lines.BRANCH if by_branch else lines.GENERATION)
        color = branch_color if by_branch else generation_color
        _add_colors(data, name, [color(int(number)) for number in cells])
        display.SetActiveScalar(name, vtk.vtkAssignAttribute.CELL_DATA)
        display.SetScalarRangeFlag(display.UseDirectMapping)
    display.ScalarVisibilityOn()


def _show_legend(model, kind):
    """Show the colours of radii with their numbers in the 3D views, or hide them."""
    import slicer

    logic = slicer.vtkSlicerColorLogic
    legend = logic.GetColorLegendDisplayNode(model)
    if legend is None:
        known = slicer.mrmlScene.GetTagByClassName("vtkMRMLColorLegendDisplayNode")
        if kind != RADIUS or known is None:
            return
        legend = logic.AddDefaultColorLegendDisplayNode(model)
        legend.SetAttribute(OWN_LEGEND, "yes")
    for other in slicer.util.getNodesByClass("vtkMRMLColorLegendDisplayNode"):
        if other.GetAttribute(OWN_LEGEND):  # they would lie over one another
            other.SetVisibility(False)
    legend.SetTitleText("Radius (mm)")
    legend.SetLabelFormat("%.1f")
    legend.SetSize(*LEGEND_SIZE)
    legend.SetNumberOfLabels(LEGEND_LABELS)
    legend.SetVisibility(kind == RADIUS)


def _add_colors(data, name, colors):
    from vtk.util.numpy_support import numpy_to_vtk

    values = np.rint(255 * np.array(colors, float).reshape(-1, 3)).astype(np.uint8)
    array = numpy_to_vtk(values, deep=True)
    array.SetName(name)
    data.GetCellData().AddArray(array)


def _cells(data, name):
    from vtk.util.numpy_support import vtk_to_numpy

    array = data.GetCellData().GetArray(name)
    return [] if array is None else vtk_to_numpy(array).tolist()
