"""From the lines in the scene back to a skeleton: what was saved with a scene can be read again."""

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from FuzzyVesselCoreLib.errors import InputError
from FuzzyVesselCoreLib.mrml.reading import node_name
from FuzzyVesselCoreLib.translation import tr as _
from PotentialSkeletonLib.graph.curve_skeleton import (
    END,
    JUNCTION,
    LOOP,
    Branch,
    CurveSkeleton,
    Node,
)

from .kept_result import tree_name
from .nodes import lines


def stored_skeleton(model_node: Any, in_world: bool = False) -> CurveSkeleton | None:
    """The skeleton that the lines of a model node tell of.

    Parameters
    ----------
    model_node : vtkMRMLModelNode
        As `extract` fills it.
    in_world : bool
        Positions in the world, instead of the frame below the node's parent transform.

    Returns
    -------
    CurveSkeleton or None
        Positions are S, A, R in mm (the spacing is 1), so that ``to_swc`` gives R, A, S. Branches
        are numbered as they were; components without a branch are left out, and so are voxels,
        critical points and the report. None where the lines have not the arrays that it takes.
    """
    data = model_node.GetPolyData()
    arrays = data and {name: _values(data.GetCellData(), name) for name in _CELLS}
    radius = data and _values(data.GetPointData(), lines.RADIUS)
    if not data or radius is None or any(each is None for each in arrays.values()):
        return None
    positions = _positions(model_node, data, in_world)[:, ::-1]
    ends = _values_of(data.GetLines().GetOffsetsArray())
    parts = [slice(int(a), int(b)) for a, b in pairwise(ends)]
    pairs = np.stack([arrays[lines.START], arrays[lines.END]], axis=1).astype(int)
    numbers, pairs = np.unique(pairs, return_inverse=True)
    pairs = pairs.reshape(-1, 2)
    branches = [
        Branch(positions[part], radius[part], int(first), int(last), int(component))
        for part, (first, last), component in zip(parts, pairs, arrays[lines.COMPONENT])
    ]
    nodes = _nodes(len(numbers), branches)
    return CurveSkeleton(nodes, branches, [], np.zeros((0, 3), int), (0, 0, 0), (1.0,) * 3, {})


def skeleton_of(model_node: Any) -> CurveSkeleton:
    """As `stored_skeleton`; `InputError` where the lines have not the arrays that it takes."""
    skeleton = stored_skeleton(model_node)
    if skeleton is None:
        raise InputError(
            _("The model {model} holds no centrelines: find them first (Apply).").format(
                model=node_name(model_node)
            )
        )
    return skeleton


_CELLS = (lines.START, lines.END, lines.COMPONENT, lines.LENGTH, lines.MEAN_RADIUS)


def stored_table(model_node: Any) -> dict[str, Any]:
    """`CurveSkeleton.to_table` of the lines of a model node.

    Where there are some, the names of branches are its second column, and the measures of their
    cross-sections its last.

    Lengths and mean radii are those that the run has found, as in its table. Where a volume's axes
    are skewed they differ a little from those between the positions.
    """
    skeleton = skeleton_of(model_node)
    table, cells = skeleton.to_table(), model_node.GetPolyData().GetCellData()
    for column, array in (("length_mm", lines.LENGTH), ("mean_radius_mm", lines.MEAN_RADIUS)):
        table[column] = _values_of(cells.GetArray(array)).tolist()
    for column, name in lines.SECTIONS.items():
        values = _values(cells, name)
        if values is not None:
            table[column] = values.tolist()
    names = cells.GetAbstractArray(lines.NAME)
    if names is not None:
        texts = [names.GetValue(number) for number in range(names.GetNumberOfValues())]
        table = {"branch": table.pop("branch"), "name": texts, **table}
    return table


def stored_tables(model_nodes: Sequence[Any]) -> dict[str, Any]:
    """One table of several trees, with their names in the column tree; of one tree, its table.

    A column of names or cross-sections is there where any tree has it; others have no value.
    """
    tables = [stored_table(model) for model in model_nodes]
    if len(tables) == 1:
        return tables[0]
    columns = max((list(table) for table in tables), key=len)
    if any("name" in table for table in tables) and "name" not in columns:
        columns.insert(1, "name")
    columns += [c for table in tables for c in table if c not in columns]
    joint: dict[str, list] = {column: [] for column in ("tree", *dict.fromkeys(columns))}
    for name, table in zip(_different(map(tree_name, model_nodes)), tables):
        rows = len(table["branch"])
        joint["tree"] += [name] * rows
        for column in list(joint)[1:]:
            nothing = "" if column == "name" else float("nan")
            joint[column] += table.get(column, [nothing] * rows)
    return joint


def _different(names: Iterable[str]) -> list[str]:
    """Names, with a number behind those that were there before."""
    found: list[str] = []
    for name in names:
        earlier = sum(each == name or each.startswith(f"{name} (") for each in found)
        found.append(f"{name} ({earlier + 1})" if earlier else name)
    return found


def _nodes(count: int, branches: list[Branch]) -> list[Any]:
    degree = np.bincount([n for b in branches for n in (b.start, b.end)], minlength=count)
    nodes: list[Any] = [None] * count
    for branch in branches:
        for number, at in ((branch.start, 0), (branch.end, -1)):
            kind = END if degree[number] == 1 else JUNCTION if degree[number] > 2 else LOOP
            if nodes[number] is None:
                position, radius = branch.points[at], float(branch.radius[at])
                nodes[number] = Node(position, kind, radius, branch.component)
    return nodes


def _positions(model_node: Any, data: Any, in_world: bool) -> np.ndarray:
    points = data.GetPoints()
    if in_world and points is not None and model_node.GetParentTransformNode() is not None:
        import slicer
        import vtk

        to_world, moved = vtk.vtkGeneralTransform(), vtk.vtkPoints()
        moved.SetDataTypeToDouble()
        slicer.vtkMRMLTransformNode.GetTransformBetweenNodes(
            model_node.GetParentTransformNode(), None, to_world
        )
        to_world.TransformPoints(points, moved)
        points = moved
    return _values_of(points.GetData()) if points is not None else np.zeros((0, 3))


def _values(attributes: Any, name: str) -> np.ndarray | None:
    array = attributes.GetArray(name)
    return None if array is None else _values_of(array)


def _values_of(array: Any) -> np.ndarray:
    from vtk.util.numpy_support import vtk_to_numpy

    return np.array(vtk_to_numpy(array), float if array.GetDataTypeSize() == 8 else None)
