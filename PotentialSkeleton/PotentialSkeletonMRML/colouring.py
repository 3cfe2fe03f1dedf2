"""Colours of lines, tubes and curves: by branch, by radius or by generation."""

import colorsys

import numpy as np

from . import lines
from .curves import branch_color
from .model import COLORS

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
    if models and curves:
        for curve, color in zip(curves, curve_colors(models[0].GetPolyData(), kind)):
            display = curve.GetDisplayNode()
            if display is not None:
                display.SetSelectedColor(color)
                display.SetColor(color)


def curve_colors(data, kind):
    """One colour (r, g, b), 0..1, for each line of a vtkPolyData."""
    if kind == BRANCH:
        return [branch_color(int(number)) for number in _cells(data, lines.BRANCH)]
    if kind == GENERATION:
        return [generation_color(int(number)) for number in _cells(data, lines.GENERATION)]
    import slicer

    radii = _cells(data, lines.MEAN_RADIUS)
    low, high = data.GetPointData().GetArray(lines.RADIUS).GetRange() if len(radii) else (0, 1)
    table = slicer.mrmlScene.GetNodeByID(COLORS)
    last = table.GetNumberOfColors() - 1
    shares = (np.array(radii) - low) / ((high - low) or 1.0)
    colors = []
    for share in np.clip(shares, 0, 1):
        color = [0.0] * 4
        table.GetColor(round(float(share) * last), color)
        colors.append(tuple(color[:3]))
    return colors


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
