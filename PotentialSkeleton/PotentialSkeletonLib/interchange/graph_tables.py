"""Nodes and branches as two tables, with the column names that VesselVio proposes.

VesselVio reads graphs of branches (its "vertex representation: Branches") as GraphML or as two CSV
files. Its own names are kept, so that nothing has to be chosen there: X, Y, Z and radius of nodes;
Source ID, Target ID (rows of the nodes, from 0), radius_avg, length, tortuosity, volume and
surface_area of branches. Its tortuosity is length over distance, not VMTK's, which is 1 less.
"""

from collections.abc import Iterable, Mapping

import numpy as np
from numpy.typing import ArrayLike

from ..graph.curve_skeleton import CurveSkeleton
from .line_set import to_world, world_matrix
from .names import check_names

SOURCE, TARGET = "Source ID", "Target ID"


def node_table(skeleton: CurveSkeleton, ijk_to_ras: ArrayLike | None = None) -> dict[str, list]:
    """Columns node, X, Y, Z (RAS mm), radius (mm), kind, component, degree; a row a node.

    Examples
    --------
    >>> from PotentialSkeletonLib.tree import skeleton_of_polylines
    >>> line = skeleton_of_polylines([[[0, 0, 0], [0, 0, 9]]], [[2, 1]])
    >>> node_table(line)["X"], node_table(line)["kind"]
    ([0.0, 9.0], ['end', 'end'])
    """
    nodes = skeleton.nodes
    places = np.array([node.position for node in nodes], float).reshape(-1, 3)
    world = to_world(places, world_matrix(skeleton.spacing, ijk_to_ras))
    ends = [node for branch in skeleton.branches for node in (branch.start, branch.end)]
    return {
        "node": list(range(len(nodes))),
        **dict(zip("XYZ", world.T.tolist())),
        "radius": [float(node.radius) for node in nodes],
        "kind": [node.kind for node in nodes],
        "component": [int(node.component) for node in nodes],
        "degree": np.bincount(np.array(ends, int), minlength=len(nodes)).tolist(),
    }


def edge_table(
    skeleton: CurveSkeleton,
    names: Mapping[int, str] | None = None,
    roots: Iterable[int] | None = None,
) -> dict[str, list]:
    """A row a branch.

    Parameters
    ----------
    skeleton : CurveSkeleton
    names : mapping of int to str, optional
        Of branches.
    roots : iterable of int, optional
        Nodes from which generations are counted, as for `CurveSkeleton.to_table`.

    Returns
    -------
    dict of str to list
        Columns branch, Source ID, Target ID, name, component, generation, radius_avg, radius_min,
        radius_max, length (mm), tortuosity (None for a loop), volume (mm^3) and surface_area (mm^2)
        of the tube of truncated cones.

    Raises
    ------
    InputError
        If a root or a name does not fit the skeleton.
    """
    check_names(skeleton, names)
    table = skeleton.to_table(roots)
    cones = [_cones(branch, skeleton.spacing) for branch in skeleton.branches]
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
        "volume": [volume for volume, _ in cones],
        "surface_area": [area for _, area in cones],
    }


def _cones(branch, spacing):
    """Volume and lateral area of the truncated cones round a branch."""
    height = np.linalg.norm(np.diff(branch.points, axis=0) * spacing, axis=1)
    first, last = branch.radius[:-1], branch.radius[1:]
    volume = np.pi / 3 * height * (first**2 + first * last + last**2)
    area = np.pi * (first + last) * np.hypot(height, first - last)
    return float(volume.sum()), float(area.sum())
