"""GraphML (graphml.graphdrawing.org), as networkx, igraph, Gephi and VesselVio read it."""

import re
from collections.abc import Iterable, Mapping
from os import PathLike
from xml.etree import ElementTree

import numpy as np
from numpy.typing import ArrayLike

from FuzzyVesselCoreLib.errors import InputError
from FuzzyVesselCoreLib.translation import tr as _

from ..graph.curve_skeleton import CurveSkeleton
from .graph_tables import SOURCE, TARGET, edge_table, node_table
from .line_set import to_world, world_matrix
from .whole_files import whole_file

NAMESPACE = "http://graphml.graphdrawing.org/xmlns"
FORBIDDEN = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")  # by XML 1.0
TYPES = {int: "int", float: "double", str: "string"}


def write_graphml(
    skeleton: CurveSkeleton,
    path: str | PathLike,
    *,
    ijk_to_ras: ArrayLike | None = None,
    names: Mapping[int, str] | None = None,
    roots: Iterable[int] | None = None,
    courses: bool = True,
) -> None:
    """Write a skeleton as an undirected graph; loops and parallel branches are kept.

    Parameters
    ----------
    skeleton : CurveSkeleton
    path : str or Path
    ijk_to_ras : array_like, (4, 4), optional
        From voxels I, J, K to RAS millimetres; by default I, J, K times the spacing.
    names : mapping of int to str, optional
        Of branches.
    roots : iterable of int, optional
        Nodes from which generations are counted.
    courses : bool
        Also write the points and radii along each branch, as texts `points` ("x y z;x y z;...") and
        `radii` ("r r ...").

    Raises
    ------
    InputError
        If the matrix, a name or a root does not fit, or a name has characters that XML forbids.
    OSError
        If the file cannot be written; nothing of it is left.

    Notes
    -----
    Attributes as in `graph_tables`. A value that does not exist, the tortuosity of a loop, is left
    out.
    """
    nodes, edges = node_table(skeleton, ijk_to_ras), edge_table(skeleton, names, roots)
    if courses:
        edges |= _courses(skeleton, world_matrix(skeleton.spacing, ijk_to_ras))
    top = ElementTree.Element("graphml", xmlns=NAMESPACE)
    keys = {
        "graph": _keys(top, "graph", {"space": "", "unit": ""}),
        "node": _keys(top, "node", nodes),
        "edge": _keys(top, "edge", edges),
    }
    graph = ElementTree.SubElement(top, "graph", id="skeleton", edgedefault="undirected")
    _values(graph, keys["graph"], {"space": "RAS", "unit": "mm"})
    for row in _rows(nodes):
        element = ElementTree.SubElement(graph, "node", id=f"n{row['node']}")
        _values(element, keys["node"], row)
    for row in _rows(edges):
        ends = {"source": f"n{row[SOURCE]}", "target": f"n{row[TARGET]}"}
        element = ElementTree.SubElement(graph, "edge", {"id": f"e{row['branch']}", **ends})
        _values(element, keys["edge"], row)
    ElementTree.indent(top)
    with whole_file(path) as partial:
        ElementTree.ElementTree(top).write(partial, encoding="utf-8", xml_declaration=True)


def check_xml_text(text: str) -> str:
    """The text, if XML 1.0 can hold it; `InputError` otherwise."""
    if FORBIDDEN.search(text):
        raise InputError(
            _(
                "The name {name!r} has a character that XML files cannot hold: rename the branch."
            ).format(name=text)
        )
    return text


def _courses(skeleton, matrix):
    points = [to_world(branch.points, matrix) for branch in skeleton.branches]
    return {
        "points": [";".join(" ".join(f"{x:.4f}" for x in p) for p in line) for line in points],
        "radii": [" ".join(f"{r:.4f}" for r in branch.radius) for branch in skeleton.branches],
    }


def _keys(top, of, columns):
    """Declare each column; its key's id by name."""
    keys = {}
    for name, values in columns.items():
        kind = next((type(value) for value in values if value is not None), str)
        keys[name] = f"{of}_{name.replace(' ', '_')}"
        attributes = {"id": keys[name], "for": of, "attr.name": name, "attr.type": TYPES[kind]}
        ElementTree.SubElement(top, "key", attributes)
    return keys


def _values(element, keys, row):
    for name, value in row.items():
        if value is not None:
            text = repr(value) if isinstance(value, float) else check_xml_text(str(value))
            ElementTree.SubElement(element, "data", key=keys[name]).text = text


def _rows(table):
    return (dict(zip(table, row)) for row in zip(*table.values()))


def read_courses(points: str, radii: str) -> tuple[np.ndarray, np.ndarray]:
    """The arrays of a branch's texts `points` and `radii`.

    Examples
    --------
    >>> read_courses("0 0 0;1 0 2", "2 1.5")[0].shape
    (2, 3)
    """
    places = np.array([[float(x) for x in place.split()] for place in points.split(";")])
    return places, np.array([float(radius) for radius in radii.split()])
