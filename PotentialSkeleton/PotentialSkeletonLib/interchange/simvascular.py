"""Paths of SimVascular, one .pth file a path (XML).

A path is a vessel's centreline by control points and, closer together, path points with a tangent
and a direction across it. Copy the files into a project's folder Paths, or import them in the SV
Data Manager. Coordinates are LPS millimetres, the axes of MITK, on which SimVascular
stands.
"""

import re
from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
from numpy.typing import ArrayLike

from ..tree.rooting import Forest, root_to_tip_lines
from .line_set import (
    check_names,
    check_xml_text,
    names_of_lines,
    to_world,
    whole_file,
    world_matrix,
)

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
