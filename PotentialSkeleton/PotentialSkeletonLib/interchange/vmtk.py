"""Centrelines with the arrays that VMTK, SlicerVMTK and SimVascular look for; points are RAS mm.

Lines from the root to each tip overlap, as vmtkcenterlines writes, and vmtkbranchextractor,
SlicerVMTK's Centreline disassembly and its curve tree take them. Split into tracts they are what
vmtkbranchextractor writes, and vmtkbranchgeometry and vmtkbranchclipper take. The network, as
vmtknetworkextraction writes it, has each branch once, also those that close loops.

Radii stand under both names that are in use. SlicerVMTK also copies `EdgeArray` and
`EdgePCoordArray`, with which VMTK says on which edge of its Voronoi diagram a point lies; here they
name the point itself.
"""

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike

from FuzzyVesselCoreLib.errors import InputError

from ..graph.curve_skeleton import JUNCTION, CurveSkeleton
from ..graph.lines import line_shape
from ..tree.rooting import Forest, root_to_tip_lines
from ..tree.tracts import split_lines
from .line_set import BETWEEN, LineSet, check_names, names_of_lines, to_world, world_matrix

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
    for line, (_, radii) in zip(points, lines):
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
