"""The branches as a table, and plots of radii."""

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from .lines import stored_table
from .run_nodes import tree_name

HISTOGRAM_BARS = 24
UNITS = {"_mm": "mm", "_mm2": "mm2", "_ml": "ml"}  # endings of columns


def table_of(columns: dict[str, Any]) -> Any:
    """A dict of name to values as vtkTable: integers, doubles and texts."""
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
        steps = [np.diff(distances(branch, skeleton.spacing)) for branch in skeleton.branches]
        radii = [(branch.radius[1:] + branch.radius[:-1]) / 2 for branch in skeleton.branches]
        length, edges = np.histogram(
            np.concatenate(radii), HISTOGRAM_BARS, weights=np.concatenate(steps)
        )
        histogram = {"radius_mm": (edges[1:] + edges[:-1]) / 2, "length_mm": length}
    found = []
    for title, kind, columns in (
        ("Radius along the longest branch", "PlotTypeScatter", along),
        ("Radii", "PlotTypeScatterBar", histogram),
    ):
        x, y = columns
        found.append(dict(title=title, x=x, y=y, kind=kind, table=table_of(columns)))
    return found


def distances(branch: Any, spacing: Any) -> np.ndarray:
    """Length of a branch up to each of its points, in mm."""
    steps = np.linalg.norm(np.diff(branch.points, axis=0) * spacing, axis=1)
    return np.concatenate([[0.0], np.cumsum(steps)])


def stored_tables(models: Iterable[Any]) -> dict[str, Any]:
    """One table of several trees' models, with their names in the column tree; of one, its table.

    A column of names or cross-sections is there where any tree has it; others have no value.
    """
    pairs = [(tree_name(model), stored_table(model)) for model in models]
    if len(pairs) == 1:
        return pairs[0][1]
    columns = max((list(table) for _name, table in pairs), key=len)
    if any("name" in table for _name, table in pairs) and "name" not in columns:
        columns.insert(1, "name")
    columns += [c for _name, table in pairs for c in table if c not in columns]
    joint: dict[str, list] = {column: [] for column in ("tree", *dict.fromkeys(columns))}
    titles: list[str] = []
    for name, table in pairs:
        twice = sum(each == name or each.startswith(f"{name} (") for each in titles)
        titles.append(f"{name} ({twice + 1})" if twice else name)
        rows = len(table["branch"])
        joint["tree"] += [titles[-1]] * rows
        for column in list(joint)[1:]:
            nothing = "" if column == "name" else float("nan")
            joint[column] += table.get(column, [nothing] * rows)
    return joint


def fill_chart(plot: dict[str, Any], node: Any, add: Callable[[str, str], Any]) -> None:
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
        node.SetXAxisTitle(plot["x"].removesuffix("_mm") + " (mm)")
        node.SetYAxisTitle(plot["y"].removesuffix("_mm") + " (mm)")
        node.SetLegendVisibility(False)
