"""The branches as a table."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from .lines import stored_table
from .run_nodes import tree_name

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
