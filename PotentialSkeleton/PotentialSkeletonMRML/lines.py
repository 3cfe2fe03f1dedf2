"""A skeleton as lines in a model node, and back; colours and tables of branches."""

import colorsys
from collections.abc import Callable, Iterable
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np

from FuzzyVesselCoreLib.errors import InputError
from FuzzyVesselCoreLib.mrml.reading import node_name
from FuzzyVesselCoreLib.translation import tr as _
from PotentialSkeletonLib.curve_skeleton import END, JUNCTION, LOOP, Branch, CurveSkeleton, Node

RADIUS = "Radius"  # mm, at each point
# Of each line: the column of `CurveSkeleton.to_table` to the array.
ARRAYS_OF_LINES = {
    "branch": "BranchId",
    "generation": "Generation",
    "length_mm": "Length",
    "mean_radius_mm": "MeanRadius",
    "component": "ComponentId",
    "start": "StartNode",
    "end": "EndNode",
}
# Likewise of each line, where cross-sections were measured.
SECTIONS = {
    "min_area_mm2": "MinimalArea",
    "mean_area_mm2": "MeanArea",
    "inscribed_diameter_mm": "InscribedDiameter",
    "equivalent_diameter_mm": "EquivalentDiameter",
    "largest_diameter_mm": "LargestDiameter",
    "smallest_diameter_mm": "SmallestDiameter",
    "roundness": "Roundness",
    "filled_percent": "Filled",
}
NAME = "Name"  # where a branch has one


def vtk_array(values: Any, name: str | None = None) -> Any:
    """Numbers (n,) or (n, components), or texts, as a VTK array with a copy of them."""
    import vtk
    from vtk.util.numpy_support import numpy_to_vtk

    values = np.asarray(values)
    if values.dtype.kind in "OU":
        array = vtk.vtkStringArray()
        for value in values.tolist():
            array.InsertNextValue(value)
    else:
        kind = vtk.VTK_ID_TYPE if values.dtype == np.int64 else None
        array = numpy_to_vtk(np.ascontiguousarray(values), deep=True, array_type=kind)
    if name:
        array.SetName(name)
    return array


def polylines(points: np.ndarray, sizes: Any) -> Any:
    """A vtkPolyData of lines: points (n, 3), and how many of them each line has."""
    import vtk

    places, lines, data = vtk.vtkPoints(), vtk.vtkCellArray(), vtk.vtkPolyData()
    places.SetDataTypeToDouble()
    places.SetData(vtk_array(np.asarray(points, float).reshape(-1, 3)))
    ends = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    lines.SetData(vtk_array(ends), vtk_array(np.arange(ends[-1])))
    data.SetPoints(places)
    data.SetLines(lines)
    return data


def in_frame(
    skeleton: CurveSkeleton, move: Callable, shape: Any = (0, 0, 0), spacing: Any = (1.0, 1.0, 1.0)
) -> CurveSkeleton:
    """A skeleton in another frame: `move` takes its points (n, 3) to x, y, z there.

    In the scene its points are S, A, R in mm (so that ``to_swc`` gives R, A, S); the spacing is
    then 1, and the shape means nothing.
    """
    nodes = [replace(n, position=move(n.position[None])[0, ::-1]) for n in skeleton.nodes]
    branches = [replace(each, points=move(each.points)[:, ::-1]) for each in skeleton.branches]
    return replace(skeleton, nodes=nodes, branches=branches, shape=shape, spacing=spacing)


def branch_lines(skeleton: CurveSkeleton, move: Callable | None = None) -> Any:
    """One polyline a branch: vtkPolyData with the arrays named above.

    `move` takes the skeleton's points (n, 3) to R, A, S in mm; without it they are S, A, R. With
    the arrays the lines are the whole graph. Branches share no points, so that each can have values
    of its own at a junction.
    """
    if move is not None:
        skeleton = in_frame(skeleton, move)
    branches = skeleton.branches
    points = np.concatenate([np.empty((0, 3)), *(branch.points for branch in branches)])
    data = polylines(points[:, ::-1], [len(branch.points) for branch in branches])
    radius = np.concatenate([np.empty(0), *(branch.radius for branch in branches)])
    data.GetPointData().AddArray(vtk_array(radius, RADIUS))
    data.GetPointData().SetActiveScalars(RADIUS)
    table = skeleton.to_table()
    ends = np.array([table["start"], table["end"]], int)  # nodes without a branch are left out
    table["start"], table["end"] = np.unique(ends, return_inverse=True)[1].reshape(2, -1).tolist()
    for column, name in ARRAYS_OF_LINES.items():
        kind = np.float64 if column.endswith("_mm") else np.int32
        data.GetCellData().AddArray(vtk_array(np.array(table[column], kind), name))
    return data


def tubes(lines: Any) -> Any:
    """The surface of tubes round lines whose active scalars are Radius, with caps."""
    import vtk

    tube = vtk.vtkTubeFilter(number_of_sides=16, capping=True)
    tube.SetInputData(lines)
    tube.SetVaryRadiusToVaryRadiusByAbsoluteScalar()
    tube.Update()
    return tube.GetOutput()


# --- from lines to the skeleton


def values_of(data: Any, name: str) -> np.ndarray | None:
    """The values of a cell array of a vtkPolyData, or None where there is none of that name."""
    from vtk.util.numpy_support import vtk_to_numpy

    array = data and data.GetCellData().GetArray(name)
    return None if array is None else np.array(vtk_to_numpy(array))


def stored_skeleton(model_node: Any) -> CurveSkeleton:
    """The skeleton that is stored in a model node's lines; `InputError` where they lack arrays.

    Positions are S, A, R in mm below the node's parent transform. Branches are numbered as they
    were; components without a branch are left out, and so are voxels, critical points, the report.
    """
    from vtk.util.numpy_support import vtk_to_numpy

    data = model_node.GetPolyData()
    radius = data and data.GetPointData().GetArray(RADIUS)
    wanted = ("StartNode", "EndNode", "ComponentId")
    starts, stops, components = (values_of(data, name) for name in wanted)
    if radius is None or starts is None or stops is None or components is None:
        text = _("The model {model} holds no centrelines: find them first (Apply).")
        raise InputError(text.format(model=node_name(model_node)))
    count, points, radius = data.GetNumberOfPoints(), data.GetPoints(), vtk_to_numpy(radius)
    positions = vtk_to_numpy(points.GetData()) if count else np.empty((0, 3))
    positions, radius = np.array(positions[:, ::-1], float), np.array(radius, float)
    ends = vtk_to_numpy(data.GetLines().GetOffsetsArray())
    numbers, pairs = np.unique(np.stack([starts, stops], axis=1), return_inverse=True)
    branches = [
        Branch(positions[a:b], radius[a:b], int(first), int(last), int(component))
        for (a, b), (first, last), component in zip(
            pairwise(ends.tolist()), pairs.reshape(-1, 2), components
        )
    ]
    kinds = [{1: END, 2: LOOP}.get(count, JUNCTION) for count in np.bincount(pairs.ravel())]
    nodes: list[Any] = [None] * len(numbers)
    for branch in branches:
        for number, at in ((branch.start, 0), (branch.end, -1)):
            place, width = branch.points[at], float(branch.radius[at])
            nodes[number] = nodes[number] or Node(place, kinds[number], width, branch.component)
    return CurveSkeleton(nodes, branches, [], np.zeros((0, 3), int), (0, 0, 0), (1.0,) * 3, {})


# --- models of lines and tubes, and colours: by branch, radius, generation or tree

COLORS = "vtkMRMLColorTableNodeIron"  # red to yellow, in every Slicer and slicer-core
LINE_WIDTH = 3  # pixels
NO_SEGMENT = (0.85, 0.25, 0.2)  # the colour of a tree of a labelmap
# Cell arrays, red green blue; "radius" is the fourth kind of colours.
COLOR_ARRAYS = {"branch": "BranchColor", "generation": "GenerationColor", "tree": "TreeColor"}


def color_model(model: Any, kind: str, own: Any) -> None:
    """Colour lines or tubes as `extract` fills them; `own` is the colour of their segment."""
    import vtk

    data, display = model.GetPolyData(), model.GetDisplayNode()
    if data is None or display is None:
        return
    if kind == "radius":
        display.SetActiveScalar(RADIUS, vtk.vtkAssignAttribute.POINT_DATA)
        display.SetAndObserveColorNodeID(COLORS)
        display.SetScalarRangeFlag(display.UseDataScalarRange)
    else:
        colors = np.array(line_colors(data, kind, own), float).reshape(-1, 3)
        values = np.rint(255 * colors).astype(np.uint8)
        data.GetCellData().AddArray(vtk_array(values, COLOR_ARRAYS[kind]))
        display.SetActiveScalar(COLOR_ARRAYS[kind], vtk.vtkAssignAttribute.CELL_DATA)
        display.SetScalarRangeFlag(display.UseDirectMapping)
    display.ScalarVisibilityOn()


def shown_color(model: Any) -> str:
    """The kind of colours that a model has now; see `color_model`."""
    kinds = {array: kind for kind, array in COLOR_ARRAYS.items()}
    return kinds.get(model.GetDisplayNode().GetActiveScalarName(), "radius")


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


def line_colors(data: Any, kind: str, own: Any) -> list[Any]:
    """One colour (r, g, b), 0..1, for each line of a vtkPolyData; `own` is that of the segment."""
    arrays = {"radius": "MeanRadius", "generation": "Generation"}
    values = values_of(data, arrays.get(kind, "BranchId"))
    if values is None or kind == "tree":
        return [own] * data.GetNumberOfCells()
    if kind == "radius":
        low, high = radius_range(data)
        return [radius_color(each) for each in (values - low) / (high - low or 1)]
    color = branch_color if kind == "branch" else generation_color
    return [color(int(number)) for number in values]


def radius_range(data: Any) -> tuple[float, float]:
    """Smallest and largest radius, in mm, of the lines of a vtkPolyData."""
    array = data.GetPointData().GetArray(RADIUS)
    return array.GetRange() if array is not None and array.GetNumberOfTuples() else (0.0, 1.0)


def radius_color(share: float) -> tuple[float, ...]:
    """The colour (r, g, b), 0..1, of a radius at a share of the range of radii, as in `COLORS`."""
    return colorsys.hsv_to_rgb(0.15 * share, 1.0, 1.0)


def branch_color(number: int) -> tuple[float, float, float]:
    """A colour (r, g, b), 0..1, that differs from those of the numbers nearby."""
    return colorsys.hsv_to_rgb(number * 0.618034 % 1.0, 0.65, 0.95)  # by the golden ratio


def generation_color(generation: int) -> tuple[float, float, float]:
    """From red for the trunk over yellow and green to blue and violet; then it goes round."""
    hues = (0.0, 0.08, 0.15, 0.3, 0.45, 0.55, 0.65, 0.78)
    return colorsys.hsv_to_rgb(hues[generation % len(hues)], 0.75, 0.95)


# --- tables


def names_of(model: Any) -> dict[int, str]:
    """Name of each branch of a model that has one, by its number."""
    data = model.GetPolyData()
    array: Any = data.GetCellData().GetAbstractArray(NAME) if data is not None else None
    count = array.GetNumberOfValues() if array is not None else 0
    return {number: array.GetValue(number) for number in range(count) if array.GetValue(number)}


def stored_table(model_node: Any) -> dict[str, Any]:
    """`CurveSkeleton.to_table` of the lines of a model node.

    Where there are some, the names of branches are its second column, and the measures of their
    cross-sections its last.
    """
    table, names = stored_skeleton(model_node).to_table(), names_of(model_node)
    count = len(table["branch"])
    for column, name in SECTIONS.items():
        values = values_of(model_node.GetPolyData(), name)
        if values is not None:
            table[column] = values.tolist()
    if names:
        texts = [names.get(number, "") for number in range(count)]
        table = {"branch": table.pop("branch"), "name": texts, **table}
    return table


def joint_table(tables: Iterable[tuple[str, dict[str, list]]]) -> dict[str, list]:
    """One table of several trees' names and tables, with the names in the column tree.

    It has a column of names or cross-sections where any tree has one; other trees' rows are empty
    there. A name that several trees have gets a number. Of one tree, its table.
    """
    pairs = list(tables)
    if len(pairs) == 1:
        return pairs[0][1]
    columns = dict.fromkeys(column for _name, table in pairs for column in table)
    named = ["name"] if "name" in columns else []
    order = dict.fromkeys(["tree", "branch", *named, *columns])
    joint: dict[str, list] = {column: [] for column in order}
    names = unique_names([name for name, _table in pairs])
    for name, (_name, table) in zip(names, pairs):
        rows = len(table["branch"])
        joint["tree"] += [name] * rows
        for column in list(order)[1:]:
            nothing = "" if column == "name" else float("nan")
            joint[column] += table.get(column, [nothing] * rows)
    return joint


def unique_names(names: list[str]) -> list[str]:
    """The names, with a number behind each that occurred before: left, left (2)."""
    unique: list[str] = []
    for name in names:
        count, numbered = 1, name
        while numbered in unique or (numbered != name and numbered in names):
            count += 1
            numbered = f"{name} ({count})"
        unique.append(numbered)
    return unique


def fill_table(node: Any, columns: dict[str, Any]) -> None:
    """Put columns, name to values, into a vtkMRMLTableNode: integers, doubles and texts."""
    import slicer

    with slicer.util.NodeModify(node):
        node.RemoveAllColumns()
        node.SetUseColumnTitleAsColumnHeader(True)
        for name, values in columns.items():
            whole = bool(len(values)) and isinstance(values[0], int)
            node.AddColumn(vtk_array(np.array(values, np.int32) if whole else values, name))
