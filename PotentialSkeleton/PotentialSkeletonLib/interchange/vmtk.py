"""What the formats share: polylines in the world, names of branches, files written as a whole."""

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from os import PathLike
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from FuzzyVesselCoreLib.errors import InputError
from FuzzyVesselCoreLib.translation import tr as _

from ..course import line_shape
from ..curve_skeleton import JUNCTION, CurveSkeleton
from ..tree.rooting import Forest, RootedLine, root_to_tip_lines
from ..tree.tracts import split_lines

RAS, LPS = "RAS", "LPS"
BETWEEN = " + "  # names of branches that are one piece
FORBIDDEN = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")  # by XML 1.0


@dataclass(frozen=True)
class LineSet:
    """Polylines in world millimetres, with values as VTK's poly data have them."""

    points: np.ndarray  # (n, 3), of all lines, one after the other; lines share no points
    sizes: np.ndarray  # points of each line
    point_arrays: dict = field(default_factory=dict)  # values at each point
    cell_arrays: dict = field(default_factory=dict)  # values of each line
    space: str = RAS  # or LPS: the axes of the points

    def in_space(self, space: str) -> "LineSet":
        """The same lines in RAS or LPS."""
        if space not in (RAS, LPS):
            raise InputError(f"The space {space!r} is unknown: use RAS or LPS.")
        if space == self.space:
            return self
        return replace(self, points=self.points * [-1.0, -1.0, 1.0], space=space)

    def lines(self) -> list[np.ndarray]:
        """Points of each line."""
        return np.split(self.points, np.cumsum(self.sizes)[:-1])


def world_matrix(spacing: Sequence[float], ijk_to_ras: ArrayLike | None) -> np.ndarray:
    """The matrix from voxels I, J, K to world millimetres; by default I, J, K times the spacing.

    `InputError` if it is not an invertible affine matrix, or its voxels are not of the spacing (K,
    J, I in mm).
    """
    if ijk_to_ras is None:
        return np.diag([*np.asarray(spacing, float)[::-1], 1.0])
    matrix = np.asarray(ijk_to_ras, float)
    if matrix.shape != (4, 4) or not np.isfinite(matrix).all() or np.linalg.det(matrix) == 0:
        raise InputError("ijk_to_ras must be an invertible matrix of 4 x 4 finite numbers.")
    sizes = np.linalg.norm(matrix[:3, :3], axis=0)[::-1]
    if not np.allclose(sizes, spacing, rtol=1e-3):
        raise InputError(
            f"ijk_to_ras has voxels of {sizes.round(4).tolist()} mm (K, J, I), the skeleton of "
            f"{np.round(spacing, 4).tolist()} mm: give the matrix of the same volume."
        )
    return matrix


def to_world(points: np.ndarray, matrix: np.ndarray) -> np.ndarray:
    """Points (n, 3) in voxels K, J, I in the world of a matrix for I, J, K."""
    return points[:, ::-1] @ matrix[:3, :3].T + matrix[:3, 3]


def names_of_lines(
    lines: Iterable[RootedLine], forest: Forest, names: Mapping[int, str]
) -> list[str]:
    """Of each root-to-tip line the last name (of the skeleton's branches) on its way, or ""."""
    ways = [[forest.branches[n].number for n in line.branches] for line in lines]
    return [next((names[n] for n in reversed(way) if names.get(n)), "") for way in ways]


def check_names(skeleton: CurveSkeleton, names: Mapping[int, str] | None) -> None:
    """Refuse names of branches that the skeleton does not have; `InputError`."""
    for number, name in (names or {}).items():
        if not 0 <= number < len(skeleton.branches):
            raise InputError(
                f"The name {name!r} belongs to branch {number}, but the skeleton has "
                f"{len(skeleton.branches)} branches, from 0."
            )


def check_xml_text(text: str) -> str:
    """The text, if XML 1.0 can hold it; `InputError` otherwise."""
    if FORBIDDEN.search(text):
        said = _("The name {name!r} has a character that XML files cannot hold: rename the branch.")
        raise InputError(said.format(name=text))
    return text


@contextmanager
def whole_file(path: str | PathLike) -> Iterator[Path]:
    """Context manager: write to the path that it gives; at the end the file takes its place.

    If the block ends with an exception, nothing of it is left, and an earlier file stays.
    """
    path = Path(path)
    partial = path.with_name(f".{path.stem}-partial-{os.getpid()}{path.suffix}")
    try:
        yield partial
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)


# ---- Centrelines with the arrays that VMTK, SlicerVMTK and SimVascular look for; points are RAS mm
# Lines from the root to each tip overlap, as vmtkcenterlines writes, and vmtkbranchextractor,
# SlicerVMTK's Centreline disassembly and its curve tree take them. Split into tracts they are what
# vmtkbranchextractor writes, and vmtkbranchgeometry and vmtkbranchclipper take. The network, as
# vmtknetworkextraction writes it, has each branch once, also those that close loops.
# Radii stand under both names that are in use. SlicerVMTK also copies `EdgeArray` and
# `EdgePCoordArray`, with which VMTK says on which edge of its Voronoi diagram a point lies; here
# they name the point itself.

RADII = "Radius", "MaximumInscribedSphereRadius"


def rooted_centrelines(
    forest: Forest, ijk_to_ras: ArrayLike | None = None, names: Mapping[int, str] | None = None
) -> LineSet:
    """Lines from the roots to the tips.

    Parameters
    ----------
    forest : Forest
    ijk_to_ras : array_like, (4, 4), optional
        From voxels I, J, K to RAS millimetres; by default I, J, K times the spacing.
    names : mapping of int to str, optional
        Of the skeleton's branches; they become the cell array Name: a line has the name of the last
        branch on its way that has one.

    Returns
    -------
    LineSet
        Point arrays Radius, MaximumInscribedSphereRadius (mm), EdgeArray, EdgePCoordArray; cell
        arrays CenterlineIds, ComponentId, Length (mm), Curvature, Torsion (1/mm), Tortuosity.
    """
    check_names(forest.skeleton, names)
    found = root_to_tip_lines(forest)
    nodes = forest.skeleton.nodes
    cells = {
        "CenterlineIds": _integers(range(len(found))),
        "ComponentId": _integers(nodes[line.root].component for line in found),
    }
    if names:
        cells["Name"] = np.array(names_of_lines(found, forest, names), object)
    lines = [(line.points, line.radius) for line in found]
    return _line_set(forest.skeleton, lines, cells, ijk_to_ras)


def split_centrelines(
    forest: Forest, ijk_to_ras: ArrayLike | None = None, names: Mapping[int, str] | None = None
) -> LineSet:
    """Lines from the roots to the tips, split at bifurcations.

    Parameters and errors as for `rooted_centrelines`; of the names a tract within a bifurcation has
    those of the branches that lie wholly within it.

    Returns
    -------
    LineSet
        Point arrays as there; cell arrays CenterlineIds, TractIds, Blanking, GroupIds (int32),
        Length (mm), Curvature, Torsion (1/mm), Tortuosity.
    """
    check_names(forest.skeleton, names)
    tracts = split_lines(forest)
    spacing = np.asarray(forest.skeleton.spacing)
    cells = {
        "CenterlineIds": _integers(tract.line for tract in tracts),
        "TractIds": _integers(tract.tract for tract in tracts),
        "Blanking": _integers(tract.blanked for tract in tracts),
        "GroupIds": _integers(tract.group for tract in tracts),
    }
    if names:
        cells["Name"] = np.array(
            [BETWEEN.join(names[n] for n in tract.branches if names.get(n)) for tract in tracts],
            object,
        )
    lines = [(tract.points / spacing, tract.radius) for tract in tracts]
    return _line_set(forest.skeleton, lines, cells, ijk_to_ras)


def network(
    skeleton: CurveSkeleton,
    ijk_to_ras: ArrayLike | None = None,
    names: Mapping[int, str] | None = None,
) -> LineSet:
    """Each branch of the skeleton once; parameters and errors as for `rooted_centrelines`.

    Returns
    -------
    LineSet
        Point arrays as there; cell arrays Topology (int64, 2 components: at both ends of the branch
        the number of its junction from 1, or 0 at a free end, as vmtknetworkextraction has it),
        BranchId, ComponentId, Length (mm), Curvature, Torsion (1/mm), Tortuosity.

    Examples
    --------
    >>> from PotentialSkeletonLib.tree import skeleton_of_polylines
    >>> fork = skeleton_of_polylines(
    ...     [[[0, 0, 0], [30, 0, 0]], [[30, 0, 0], [50, 20, 0]], [[30, 0, 0], [50, -20, 0]]],
    ...     [[2, 2], [2, 1], [2, 1]],
    ... )
    >>> network(fork).cell_arrays["Topology"].tolist()
    [[0, 1], [1, 0], [1, 0]]
    """
    check_names(skeleton, names)
    branches = skeleton.branches
    junctions = [n for n, node in enumerate(skeleton.nodes) if node.kind == JUNCTION]
    number = {node: n for n, node in enumerate(junctions, 1)}
    ends = [(number.get(b.start, 0), number.get(b.end, 0)) for b in branches]
    cells = {
        "Topology": np.array(ends, np.int64).reshape(-1, 2),
        "BranchId": _integers(range(len(branches))),
        "ComponentId": _integers(branch.component for branch in branches),
    }
    if names:
        cells["Name"] = np.array([names.get(n, "") for n in range(len(branches))], object)
    return _line_set(skeleton, [(b.points, b.radius) for b in branches], cells, ijk_to_ras)


def _line_set(skeleton, lines, cells, ijk_to_ras):
    if not lines:
        raise InputError(
            "The skeleton has no branch, so there is no line to write (a single point or an "
            "empty object has none)."
        )
    matrix = world_matrix(skeleton.spacing, ijk_to_ras)
    points = [to_world(line, matrix) for line, _ in lines]
    known: dict = {}  # tracts of shared branches are the same
    shapes = []
    for line, (_line, radii) in zip(points, lines):
        key = (len(line), line[0].tobytes(), line[-1].tobytes())
        shapes.append(known[key] if key in known else line_shape(line, radii))
        known[key] = shapes[-1]
    radius = np.concatenate([radius for _, radius in lines]).astype(float)
    own = np.arange(len(radius), dtype=np.int32)
    arrays = dict.fromkeys(RADII, radius)
    arrays |= {"EdgeArray": np.stack([own, own], axis=1), "EdgePCoordArray": np.zeros(len(own))}
    for name in ("length", "curvature", "torsion", "tortuosity"):
        cells[name.capitalize()] = np.array([getattr(shape, name) for shape in shapes])
    sizes = np.array([len(line) for line in points])
    return LineSet(np.concatenate(points), sizes, arrays, cells)


def _integers(values):
    return np.array(list(values), np.int32)
