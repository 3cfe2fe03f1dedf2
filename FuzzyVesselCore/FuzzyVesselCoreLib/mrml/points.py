"""Control points of markups as voxels of a volume.

Points are in the world, volumes may hang under transforms of their own; everything is brought to
the voxels of the one volume that is segmented.
"""

from dataclasses import dataclass

import numpy as np

from ..errors import InputError
from ..geometry import inside, points_to_voxels
from .reading import ijk_to_ras, node_name


@dataclass(frozen=True)
class Seeds:
    """Control points as voxels of a volume.

    Attributes
    ----------
    voxels : ndarray, shape (n, 3), int64
        K, J, I; all inside the volume.
    labels : list of str
        The control points' labels, in the same order.
    warnings : list of str
        Which points were left out, by their labels, and why.
    """

    voxels: np.ndarray
    labels: list
    warnings: list


def seeds_of(seeds_node, volume_node, shape, region=None, kind="seed", wanted=None):
    """The placed control points of a markups node as voxels of a volume.

    Parameters
    ----------
    seeds_node : vtkMRMLMarkupsNode
        Points that are not placed yet are skipped.
    volume_node : vtkMRMLScalarVolumeNode
    shape : tuple of int
        K, J, I of the volume.
    region : ndarray, shape (K, J, I), bool, optional
        Points outside it are left out.
    kind : str
        What the points are called in messages.
    wanted : callable, optional
        As of `placed_points`.

    Returns
    -------
    Seeds

    Raises
    ------
    InputError
        No point is left; those that were left out are named by their labels.
    """
    if seeds_node is None or not seeds_node.IsA("vtkMRMLMarkupsNode"):
        raise InputError(f"No list of {kind}s was given: choose a markups node with {kind}s.")
    points = placed_points(seeds_node, wanted)
    labels = points.labels
    if not labels:
        raise InputError(
            f"The list {node_name(seeds_node)} holds no placed point: place at least one {kind}."
        )
    voxels = points_in_volume(volume_node, points.world)
    seeds = Seeds(voxels, labels, [])
    seeds = _left(seeds, inside(voxels, shape), kind, f"the volume {node_name(volume_node)}")
    if region is not None:
        seeds = _left(seeds, region[tuple(seeds.voxels.T)], kind, "the mask or region")
    return seeds


def _left(seeds, hit, kind, place):
    """The seeds that hit a place; `InputError` if there are none."""
    missed = ", ".join(label for label, found in zip(seeds.labels, hit) if not found)
    if not hit.any():
        raise InputError(f"Every {kind} lies outside {place}: {missed}. Place a {kind} inside it.")
    if not missed:
        return seeds
    kept = [label for label, found in zip(seeds.labels, hit) if found]
    warning = f"Left out, because outside {place}: {kind} {missed}."
    return Seeds(seeds.voxels[hit], kept, [*seeds.warnings, warning])


@dataclass(frozen=True)
class PlacedPoints:
    """The control points of a list that have a position.

    Attributes
    ----------
    indices : list of int
        Of the control points in their list.
    world : ndarray, shape (n, 3), float64
    labels : list of str
    """

    indices: list
    world: np.ndarray
    labels: list


def placed_points(markups_node, wanted=None):
    """The `PlacedPoints` of a vtkMRMLMarkupsNode; those still on the way to their place are not.

    With `wanted`, a function of node and index, only the points for which it is true.
    """
    import slicer

    placed = slicer.vtkMRMLMarkupsNode.PositionDefined
    indices, world, labels = [], [], []
    for index in range(markups_node.GetNumberOfControlPoints()):
        if markups_node.GetNthControlPointPositionStatus(index) != placed:
            continue
        if wanted is not None and not wanted(markups_node, index):
            continue
        position = [0.0, 0.0, 0.0]
        markups_node.GetNthControlPointPositionWorld(index, position)
        indices.append(index)
        world.append(position)
        labels.append(markups_node.GetNthControlPointLabel(index) or f"point {index + 1}")
    return PlacedPoints(indices, np.array(world).reshape(-1, 3), labels)


def points_in_volume(volume_node, world):
    """The voxels (K, J, I; n x 3, int64) that hold points of the world; they may lie outside."""
    return points_to_voxels(_from_world(volume_node, world), ijk_to_ras(volume_node))


def _from_world(transformable_node, points):
    """World points (n, 3) in the node's own frame, through whatever transforms it is under."""
    import slicer
    import vtk

    transform = vtk.vtkGeneralTransform()
    slicer.vtkMRMLTransformNode.GetTransformBetweenNodes(
        None, transformable_node.GetParentTransformNode(), transform
    )
    return np.array([transform.TransformPoint(point) for point in points]).reshape(-1, 3)
