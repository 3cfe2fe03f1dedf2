"""A tree on the voxels of an object, wherever both lie in the scene."""

from dataclasses import replace
from typing import Any

import numpy as np

from FuzzyVesselCoreLib.errors import InputError
from FuzzyVesselCoreLib.geometry import transform_points
from FuzzyVesselCoreLib.mrml.reading import node_name
from FuzzyVesselCoreLib.translation import tr as _
from PotentialSkeletonLib import CurveSkeleton

from ..kept_result import INPUT, LABEL, SEGMENT
from ..solid_input import SolidInput, read_solid


def vessels_of(model: Any) -> SolidInput:
    """The object whose tree a model holds, as it is now, cut to what is not empty.

    Raises
    ------
    InputError
        If it is not in the scene any more, or empty.
    """
    node, segment_id = model.GetNodeReference(INPUT), model.GetAttribute(SEGMENT) or None
    if node is None:
        raise InputError(
            _(
                "The vessels of {model} are not in the scene any more: find the centrelines again."
            ).format(model=node_name(model))
        )
    label = model.GetAttribute(LABEL)
    return cropped(read_solid(node, segment_id, None if label is None else int(label)))


def cropped(solid: SolidInput) -> SolidInput:
    """The object with one layer of empty voxels around it."""
    held = [np.flatnonzero(solid.mask.any(axis=tuple({0, 1, 2} - {axis}))) for axis in range(3)]
    low, high = [int(each[0]) for each in held], [int(each[-1]) + 1 for each in held]
    mask = np.pad(solid.mask[tuple(map(slice, low, high))], 1)
    matrix = solid.ijk_to_ras.copy()
    matrix[:3, 3] += matrix[:3, :3] @ (np.array(low[::-1], float) - 1)
    return replace(solid, mask=mask, ijk_to_ras=matrix)


def on_voxels(model: Any, skeleton: CurveSkeleton, solid: SolidInput) -> CurveSkeleton:
    """A tree in voxels K, J, I of an object.

    Parameters
    ----------
    model : vtkMRMLModelNode
        Gives the frame.
    skeleton : CurveSkeleton
        S, A, R in mm in that frame, as `stored_skeleton` gives it.
    solid : SolidInput
    """
    sizes = [len(branch.points) for branch in skeleton.branches]
    places = [branch.points for branch in skeleton.branches]
    places += [node.position[None] for node in skeleton.nodes]
    there = _between(np.concatenate(places)[:, ::-1], model, solid.node)
    moved = transform_points(np.linalg.inv(solid.ijk_to_ras), there)[:, ::-1]
    parts = np.split(moved, np.cumsum(sizes))
    branches = [replace(b, points=part) for b, part in zip(skeleton.branches, parts[:-1])]
    nodes = [replace(n, position=place) for n, place in zip(skeleton.nodes, parts[-1])]
    return replace(
        skeleton, nodes=nodes, branches=branches, shape=solid.mask.shape, spacing=solid.spacing
    )


def _between(points, source, target):
    """Points (n, 3) from below one node's parent transform to below another's."""
    first, last = source.GetParentTransformNode(), target.GetParentTransformNode()
    if first is last:
        return points
    import slicer
    import vtk
    from vtk.util.numpy_support import vtk_to_numpy

    from ..nodes.curves import points_of

    transform, moved = vtk.vtkGeneralTransform(), vtk.vtkPoints()
    moved.SetDataTypeToDouble()
    slicer.vtkMRMLTransformNode.GetTransformBetweenNodes(first, last, transform)
    transform.TransformPoints(points_of(points), moved)
    return vtk_to_numpy(moved.GetData())
