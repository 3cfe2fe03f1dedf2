"""The network as tables: GraphML, and two comma-separated files of nodes and edges.

For networkx, igraph, Gephi and VesselVio, whose own column names are used, so that nothing
has to be chosen there (vertex representation "Branches", delimiter a comma): X, Y, Z and radius of
nodes; Source ID, Target ID (rows of the nodes, from 0), radius_avg, length, tortuosity, volume and
surface_area of branches. Its tortuosity is length over distance, not VMTK's, which is 1 less.
igraph: `Graph.DataFrame(edges, vertices=nodes)` after `pandas.read_csv`.
"""

import re
from collections.abc import Iterable, Mapping
from os import PathLike
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
from numpy.typing import ArrayLike

from ..curve_skeleton import CurveSkeleton, table_text
from ..tree.rooting import Forest, root_to_tip_lines
from .vmtk import check_names, check_xml_text, names_of_lines, to_world, whole_file, world_matrix

SOURCE, TARGET = "Source ID", "Target ID"
NAMESPACE = "http://graphml.graphdrawing.org/xmlns"
TYPES: dict[type, str] = {int: "int", float: "double", str: "string"}


def write_graphml(
    skeleton: CurveSkeleton,
    path: str | PathLike,
    *,
    ijk_to_ras: ArrayLike | None = None,
    names: Mapping[int, str] | None = None,
    roots: Iterable[int] | None = None,
    courses: bool = True,
) -> None:
    """Write a skeleton as an undirected graph; loops and parallel branches stay.

    Parameters
    ----------
    skeleton : CurveSkeleton
    path : str or Path
    ijk_to_ras : array_like, (4, 4), optional
        From voxels I, J, K to RAS millimetres; by default I, J, K times the spacing.
    names : mapping of int to str, optional
        Of branches; `InputError` if XML forbids one.
    roots : iterable of int, optional
        Nodes from which generations are counted.
    courses : bool
        Also write the points and radii along each branch, as texts `points` ("x y z;x y z;...") and
        `radii` ("r r ..."); see `read_courses`.

    Notes
    -----
    A value that does not exist, the tortuosity of a loop, is left out.
    """
    nodes, edges = _node_table(skeleton, ijk_to_ras), _edge_table(skeleton, names, roots)
    if courses:
        matrix = world_matrix(skeleton.spacing, ijk_to_ras)
        lines = [to_world(branch.points, matrix) for branch in skeleton.branches]
        edges["points"] = [
            ";".join(" ".join(f"{x:.4f}" for x in p) for p in line) for line in lines
        ]
        edges["radii"] = [" ".join(f"{r:.4f}" for r in b.radius) for b in skeleton.branches]
    whole = {"space": ["RAS"], "unit": ["mm"]}
    top = ElementTree.Element("graphml", xmlns=NAMESPACE)
    for kind, table in (("graph", whole), ("node", nodes), ("edge", edges)):
        for name, values in table.items():
            known = next((type(value) for value in values if value is not None), str)
            about = {"attr.name": name, "attr.type": TYPES[known]}
            ElementTree.SubElement(top, "key", {"id": _key(kind, name), "for": kind, **about})
    graph = ElementTree.SubElement(top, "graph", id="skeleton", edgedefault="undirected")
    _values(graph, "graph", next(_rows(whole)))
    for row in _rows(nodes):
        _values(ElementTree.SubElement(graph, "node", id=f"n{row['node']}"), "node", row)
    for row in _rows(edges):
        ends = {"source": f"n{row[SOURCE]}", "target": f"n{row[TARGET]}"}
        edge = ElementTree.SubElement(graph, "edge", {"id": f"e{row['branch']}", **ends})
        _values(edge, "edge", row)
    ElementTree.indent(top)
    with whole_file(path) as partial:
        ElementTree.ElementTree(top).write(partial, encoding="utf-8", xml_declaration=True)


def read_courses(points: str, radii: str) -> tuple[np.ndarray, np.ndarray]:
    """The arrays of a branch's texts `points` and `radii`."""
    places = np.array([[float(x) for x in place.split()] for place in points.split(";")])
    return places, np.array([float(radius) for radius in radii.split()])


def write_csv_pair(
    skeleton: CurveSkeleton,
    nodes_path: str | PathLike,
    edges_path: str | PathLike,
    *,
    ijk_to_ras: ArrayLike | None = None,
    names: Mapping[int, str] | None = None,
    roots: Iterable[int] | None = None,
) -> None:
    """Write nodes and edges as two files; parameters and errors as for `write_graphml`.

    Names may hold commas, quotes and line breaks: they are quoted as RFC 4180 says. A value that
    does not exist, the tortuosity of a loop, is an empty field.
    """
    edges = _edge_table(skeleton, names, roots)
    first = {name: edges[name] for name in (SOURCE, TARGET)}
    texts = table_text(_node_table(skeleton, ijk_to_ras)), table_text({**first, **edges})
    for text, path in zip(texts, (nodes_path, edges_path)):
        with whole_file(path) as partial:
            partial.write_text(text, encoding="utf-8", newline="\n")


def _node_table(skeleton: CurveSkeleton, ijk_to_ras: ArrayLike | None) -> dict[str, list]:
    """Columns node, X, Y, Z (RAS mm), radius (mm), kind, component, degree."""
    nodes = skeleton.nodes
    places = np.array([node.position for node in nodes], float).reshape(-1, 3)
    world = to_world(places, world_matrix(skeleton.spacing, ijk_to_ras))
    return {
        "node": list(range(len(nodes))),
        **dict(zip("XYZ", world.T.tolist())),
        "radius": [float(node.radius) for node in nodes],
        "kind": [node.kind for node in nodes],
        "component": [int(node.component) for node in nodes],
        "degree": [len(branches) for branches in skeleton.branches_at_nodes()],
    }


def _edge_table(
    skeleton: CurveSkeleton, names: Mapping[int, str] | None, roots: Iterable[int] | None
) -> dict[str, list]:
    """A row a branch; volume (mm^3) and surface_area (mm^2) are of truncated cones round it."""
    check_names(skeleton, names)
    table = skeleton.to_table(roots)
    volumes, areas = [], []
    for branch in skeleton.branches:
        height = np.diff(skeleton.course(branch).lengths)
        first, last = branch.radius[:-1], branch.radius[1:]
        volumes.append(float((np.pi / 3 * height * (first**2 + first * last + last**2)).sum()))
        areas.append(float((np.pi * (first + last) * np.hypot(height, first - last)).sum()))
    return {
        "branch": table["branch"],
        SOURCE: [int(node) for node in table["start"]],
        TARGET: [int(node) for node in table["end"]],
        "name": [(names or {}).get(number, "") for number in table["branch"]],
        "component": [int(component) for component in table["component"]],
        "generation": table["generation"],
        "radius_avg": table["mean_radius_mm"],
        "radius_min": table["min_radius_mm"],
        "radius_max": table["max_radius_mm"],
        "length": table["length_mm"],
        "tortuosity": [each if np.isfinite(each) else None for each in table["tortuosity"]],
        "volume": volumes,
        "surface_area": areas,
    }


def _key(kind: str, name: str) -> str:
    return f"{kind}_{name.replace(' ', '_')}"


def _values(element: Any, kind: str, row: Mapping[str, Any]) -> None:
    for name, value in row.items():
        if value is not None:
            text = repr(value) if isinstance(value, float) else check_xml_text(str(value))
            ElementTree.SubElement(element, "data", key=_key(kind, name)).text = text


def _rows(table: Mapping[str, list]) -> Any:
    return (dict(zip(table, row)) for row in zip(*table.values()))


# ---- Paths of SimVascular, one .pth file a path (XML)
# A path is a vessel's centreline by control points and, closer together, path points with a tangent
# and a direction across it. Copy the files into a project's folder Paths, or import them in the SV
# Data Manager. Coordinates are LPS millimetres, the axes of MITK, on which SimVascular
# stands.

SPACING_BASED = 2  # SimVascular's number of the way in which path points follow control points
CONTROL_POINTS_PER_RADIUS = 0.5
FEWEST_CONTROL_POINTS = 2
LONGEST_NAME = 80
LONGEST_BYTES = 200  # file systems take 255, of which what is half written needs some


def write_simvascular(
    forest: Forest,
    folder: str | PathLike,
    *,
    ijk_to_ras: ArrayLike | None = None,
    names: Mapping[int, str] | None = None,
) -> list[Path]:
    """Write a path for each root-to-tip line into a folder, which is made if it is missing.

    Parameters
    ----------
    forest : Forest
    folder : str or Path
    ijk_to_ras : array_like, (4, 4), optional
        From voxels I, J, K to RAS millimetres; by default I, J, K times the spacing.
    names : mapping of int to str, optional
        Of the skeleton's branches; a path has the name of the last one on its way that has one.
        SimVascular calls a path as its file.

    Returns
    -------
    list of Path
        The files, `path-001.pth` or `NAME.pth`; characters that file systems forbid are replaced,
        and names of devices are written `path-CON.pth`.
    """
    check_names(forest.skeleton, names)
    lines = root_to_tip_lines(forest)
    matrix = np.diag([-1.0, -1.0, 1.0, 1.0]) @ world_matrix(forest.skeleton.spacing, ijk_to_ras)
    titles = _file_names(names_of_lines(lines, forest, names or {}))
    folder = Path(folder)
    folder.mkdir(exist_ok=True)
    files = []
    for number, (line, title) in enumerate(zip(lines, titles), 1):
        path, way = folder / f"{title}.pth", to_world(line.points, matrix)
        with whole_file(path) as partial:
            _tree(number, way, line.radius).write(partial, encoding="utf-8", xml_declaration=True)
        files.append(path)
    return files


def _tree(number, points, radius):
    spacing = float(np.linalg.norm(np.diff(points, axis=0), axis=1).mean())
    top = _element(
        None, "path", id=number, method=SPACING_BASED, calculation_number=len(points),
        spacing=f"{spacing:.6f}", version="1.0", reslice_size=f"{5 * 2 * radius.max():.3f}",
        point_2D_display_size="", point_size="",
    )  # fmt: skip
    step = _element(top, "timestep", id=0)
    element = _element(
        step, "path_element", method=SPACING_BASED, calculation_number=len(points),
        spacing=f"{spacing:.6f}",
    )  # fmt: skip
    controls = _element(element, "control_points")
    for index, point in enumerate(points[_control_points(points, radius)]):
        _element(controls, "point", id=index, **_xyz(point))
    path_points = _element(element, "path_points")
    for index, (point, tangent, across) in enumerate(zip(points, *_directions(points))):
        one = _element(path_points, "path_point", id=index)
        _element(one, "pos", **_xyz(point))
        _element(one, "tangent", **_xyz(tangent))
        _element(one, "rotation", **_xyz(across))
    ElementTree.indent(top)
    return ElementTree.ElementTree(top)


def _directions(points):
    """Unit tangents of a polyline, and unit directions across it that turn as little as can be."""
    tangents = np.gradient(points, axis=0)
    sizes = np.linalg.norm(tangents, axis=1, keepdims=True)
    tangents = np.where(sizes > 0, tangents / np.where(sizes > 0, sizes, 1), [0.0, 0.0, 1.0])
    across = np.empty_like(points)
    own = np.eye(3)[np.abs(tangents[0]).argmin()]
    for index, tangent in enumerate(tangents):
        flat = own - (own @ tangent) * tangent
        if np.linalg.norm(flat) < 1e-6:  # the line turned right into it
            helper = np.eye(3)[np.abs(tangent).argmin()]
            flat = helper - (helper @ tangent) * tangent
        own = across[index] = flat / np.linalg.norm(flat)
    return tangents, across


def _control_points(points, radius):
    """Indices of points about two radii apart, with both ends."""
    lengths = np.concatenate([[0], np.cumsum(np.linalg.norm(np.diff(points, axis=0), axis=1))])
    count = round(CONTROL_POINTS_PER_RADIUS * lengths[-1] / max(radius.mean(), 1e-6)) + 1
    wanted = np.linspace(0, lengths[-1], min(max(count, FEWEST_CONTROL_POINTS), len(points)))
    return np.unique(np.searchsorted(lengths, wanted - 1e-9).clip(0, len(points) - 1))


def _file_names(names):
    """One name a path that any file system takes, none twice whatever the case."""
    taken, found = set(), []
    for number, name in enumerate(names, 1):
        clean = re.sub(r'[<>:"/\\|?*\x00-\x1f]', "-", check_xml_text(name))
        clean = clean[:LONGEST_NAME].encode()[:LONGEST_BYTES].decode(errors="ignore")
        clean = clean.strip(". ") or f"path-{number:03d}"
        title, again = clean, 1
        while title.casefold() in taken:
            again += 1
            title = f"{clean}-{again}"
        taken.add(title.casefold())
        found.append(title)
    return found


def _xyz(values):
    return {axis: f"{value:.6f}" for axis, value in zip("xyz", values)}


def _element(parent, name, **attributes):
    attributes = {key: str(value) for key, value in attributes.items()}
    if parent is None:
        return ElementTree.Element(name, attributes)
    return ElementTree.SubElement(parent, name, attributes)
