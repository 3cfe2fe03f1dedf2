"""The branches as a table, and plots of radii."""

from collections.abc import Callable
from typing import Any

import numpy as np

HISTOGRAM_BARS = 24
MILLIMETRES = "_mm"  # ends the name of a column with this unit
UNITS = {MILLIMETRES: "mm", "_mm2": "mm2", "_ml": "ml"}


def branch_table(skeleton: Any) -> Any:
    """`CurveSkeleton.to_table` as vtkTable: integers, doubles and texts."""
    return table_of(skeleton.to_table())


def fill_table(node: Any, table: Any) -> None:
    """Put a vtkTable into a vtkMRMLTableNode, with the units of its columns."""
    import slicer

    with slicer.util.NodeModify(node):
        node.RemoveAllColumns()
        node.SetUseColumnTitleAsColumnHeader(True)
        for number in range(table.GetNumberOfColumns()):
            column = table.GetColumn(number)
            node.AddColumn(column)
            for ending, unit in UNITS.items():
                if column.GetName().endswith(ending):
                    node.SetColumnUnitLabel(column.GetName(), unit)


def radius_plots(skeleton: Any) -> list[dict[str, Any]]:
    """What the two charts show.

    Returns
    -------
    list of dict
        Keys: title, x and y (names of columns), kind (of plot), table (vtkTable). The first is the
        radius along the longest branch, the second how many mm of centreline have which radius.
    """
    along: dict[str, Any] = {"distance_mm": [], "radius_mm": []}
    histogram: dict[str, Any] = {"radius_mm": [], "length_mm": []}
    if skeleton.branches:
        longest = max(skeleton.branches, key=skeleton.length)
        along = {"distance_mm": distances(longest, skeleton.spacing), "radius_mm": longest.radius}
        histogram = _histogram(skeleton)
    return [
        _plot("Radius along the longest branch", "PlotTypeScatter", along),
        _plot("Radii", "PlotTypeScatterBar", histogram),
    ]


def distances(branch: Any, spacing: Any) -> np.ndarray:
    """Length of a branch up to each of its points, in mm."""
    return np.concatenate([[0.0], np.cumsum(_steps(branch, spacing))])


def _plot(title: str, kind: str, columns: dict[str, Any]) -> dict[str, Any]:
    x, y = columns
    return dict(title=title, x=x, y=y, kind=kind, table=table_of(columns))


def _histogram(skeleton: Any) -> dict[str, Any]:
    """Millimetres of centreline for each range of radii."""
    steps = [_steps(branch, skeleton.spacing) for branch in skeleton.branches]
    radii = [(branch.radius[1:] + branch.radius[:-1]) / 2 for branch in skeleton.branches]
    length, edges = np.histogram(
        np.concatenate(radii), HISTOGRAM_BARS, weights=np.concatenate(steps)
    )
    return {"radius_mm": (edges[1:] + edges[:-1]) / 2, "length_mm": length}


def _steps(branch: Any, spacing: Any) -> np.ndarray:
    return np.linalg.norm(np.diff(branch.points, axis=0) * spacing, axis=1)


def table_of(columns: dict[str, Any]) -> Any:
    """A dict of name to values as vtkTable."""
    import vtk

    table = vtk.vtkTable()
    for name, values in columns.items():
        if len(values) and isinstance(values[0], str):
            column = vtk.vtkStringArray()
        elif len(values) and isinstance(values[0], int):
            column = vtk.vtkIntArray()
        else:
            column = vtk.vtkDoubleArray()
        column.SetName(name)
        for value in values:
            column.InsertNextValue(value)
        table.AddColumn(column)
    return table


def fill_chart(node: Any, plot: dict[str, Any], add: Callable[[str, str], Any]) -> None:
    """Show a plot in a vtkMRMLPlotChartNode; its series and table are used again, else added."""
    import slicer

    series = node.GetNthPlotSeriesNode(0) if node.GetNumberOfPlotSeriesNodes() else None
    if series is None:
        series = add("vtkMRMLPlotSeriesNode", f"{node.GetName()} series")
        node.AddAndObservePlotSeriesNodeID(series.GetID())
    table = series.GetTableNode() or add("vtkMRMLTableNode", f"{node.GetName()} values")
    fill_table(table, plot["table"])
    with slicer.util.NodeModify(series):
        series.SetAndObserveTableNodeID(table.GetID())
        series.SetPlotType(getattr(series, plot["kind"]))
        series.SetXColumnName(plot["x"])
        series.SetYColumnName(plot["y"])
        series.SetMarkerStyle(series.MarkerStyleNone)
        series.SetColor(0.85, 0.25, 0.2)
    with slicer.util.NodeModify(node):
        node.SetTitle(plot["title"])
        node.SetXAxisTitle(_axis_title(plot["x"]))
        node.SetYAxisTitle(_axis_title(plot["y"]))
        node.SetLegendVisibility(False)


def _axis_title(column: str) -> str:
    return column.removesuffix(MILLIMETRES) + " (mm)"
