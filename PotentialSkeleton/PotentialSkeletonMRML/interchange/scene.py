"""Centrelines on the scene as SlicerVMTK takes them: models, and curves from the root to each tip.

Cross-section analysis takes one of the curves (measurement Radius) or a model (point array Radius);
Centreline disassembly and the curve tree take the rooted model; Branch clipper the split one.
"""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, cast

import numpy as np
from numpy.typing import ArrayLike

from FuzzyVesselCoreLib.errors import InputError
from FuzzyVesselCoreLib.geometry import transform_points, voxels_to_points
from FuzzyVesselCoreLib.mrml.changes import all_or_nothing
from FuzzyVesselCoreLib.translation import tr as _
from PotentialSkeletonLib import CurveSkeleton, interchange
from PotentialSkeletonLib.interchange import check_names, names_of_lines
from PotentialSkeletonLib.tree import Forest, root_to_tip_lines, rooted_forest

from ..nodes.curves import BranchCurve, branch_color, doubles, fill_curve, points_of, show_curve
from ..nodes.lines import fill_model, show_model
from ..result import SkeletonResult
from .vtp import poly_data

if TYPE_CHECKING:
    from slicer import vtkMRMLMarkupsCurveNode, vtkMRMLModelNode

ROOTED, SPLIT, NETWORK = "rooted", "split", "network"
_VIEWS: dict[str, Callable] = {
    ROOTED: interchange.rooted_centrelines,
    SPLIT: interchange.split_centrelines,
    NETWORK: lambda forest, *rest: interchange.network(forest.skeleton, *rest),
}


def forest_of(result: SkeletonResult, rootPoints: ArrayLike | None = None) -> Forest:
    """The trees of a result; roots are the ends nearest to points (n, 3) in the result's RAS.

    Raises
    ------
    InputError
        As `PotentialSkeletonLib.tree.rooted_forest`.
    """
    near, matrix = None, cast(np.ndarray, result.ijkToRAS)
    if rootPoints is not None:
        near = transform_points(np.linalg.inv(matrix), rootPoints)[:, ::-1]
    return rooted_forest(cast(CurveSkeleton, result.skeleton), near=near)


def addCentrelineModel(
    result: SkeletonResult,
    name: str,
    view: str = ROOTED,
    rootPoints: ArrayLike | None = None,
    transformNodeID: str | None = None,
    names: Mapping[int, str] | None = None,
) -> "vtkMRMLModelNode":
    """Add a model of a skeleton's centrelines with VMTK's arrays.

    Parameters
    ----------
    result : SkeletonResult
        Of `PotentialSkeletonLogic.extract`.
    name : str
    view : str
        "rooted", "split" or "network": see `PotentialSkeletonLib.interchange.vmtk`.
    rootPoints : array_like, (n, 3), optional
        In RAS below the parent transform; each makes the nearest end the root of its tree.
    transformNodeID : str, optional
        Of the parent transform.
    names : mapping of int to str, optional
        Of branches; they become the cell array Name.

    Raises
    ------
    InputError
        If the view is unknown, a root or a name does not fit, or there is no branch; nothing was
        added.
    """
    if view not in _VIEWS:
        raise InputError(
            _("The view {view!r} is unknown: use {views}.").format(
                view=view, views=", ".join(_VIEWS)
            )
        )
    data = poly_data(_VIEWS[view](forest_of(result, rootPoints), result.ijkToRAS, names))
    with all_or_nothing() as change:
        node = change("vtkMRMLModelNode", name)
        fill_model(node, data, transformNodeID)
        show_model(node, lines=True)
    return node


def addCentrelineCurves(
    result: SkeletonResult,
    name: str,
    rootPoints: ArrayLike | None = None,
    transformNodeID: str | None = None,
    names: Mapping[int, str] | None = None,
) -> "list[vtkMRMLMarkupsCurveNode]":
    """Add a curve from the root to each tip, with the measurement Radius.

    Parameters and errors as for `addCentrelineModel`; a curve is called after the last branch on
    its way that has a name.
    """
    check_names(cast(CurveSkeleton, result.skeleton), names)
    forest = forest_of(result, rootPoints)
    lines = root_to_tip_lines(forest)
    if not lines:
        raise InputError(_("The skeleton has no branch, so there is no curve to add."))
    nodes, titles = [], names_of_lines(lines, forest, names or {})
    with all_or_nothing() as change:
        for number, (line, title) in enumerate(zip(lines, titles), 1):
            curve = BranchCurve(
                f"{name} {number}: {title}" if title else f"{name} {number}",
                points_of(voxels_to_points(line.points, result.ijkToRAS)),
                doubles(line.radius),
                float(line.radius.mean()),
                branch_color(number - 1),
                min(forest.skeleton.spacing),
            )
            node = change("vtkMRMLMarkupsCurveNode", curve.name)
            fill_curve(node, curve, transformNodeID)
            show_curve(node, curve)
            nodes.append(node)
    return nodes
