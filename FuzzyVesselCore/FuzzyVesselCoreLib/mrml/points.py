"""Control points of markups as voxels of a volume, and voxels as points.

Both may be under any transforms. `add_phantom` brings a volume and lists to try the modules on.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import Any

import numpy as np

from ..errors import InputError
from ..translation import tr as _
from .reading import (
    ijk_to_ras,
    node_name,
    transform_between,
    transform_points,
    transformed,
    voxels_to_points,
)

VESSEL_COLOR, BACKGROUND_COLOR = (0.85, 0.4, 0.31), (0.25, 0.65, 1.0)  # Slicer's of blood vessels


@dataclass(frozen=True)
class PlacedPoints:
    """Control points with a position: `indices` in their list, `world` (n, 3) and `labels`.

    Those of `seeds_of` have `voxels` (n, 3; K, J, I) of a volume, too, and `warnings` that say
    which points were left out, by their labels, and why.
    """

    indices: list
    world: np.ndarray
    labels: list
    voxels: Any = None
    warnings: tuple = ()


def seeds_of(
    seeds_node: Any,
    volume_node: Any,
    shape: tuple[int, ...],
    region: np.ndarray | None = None,
    kind: str = "seed",
    accept: Callable[[Any, int], bool] | None = None,
) -> PlacedPoints:
    """The placed control points of a markups node as voxels of a volume of `shape`.

    Points outside of `region` (K, J, I; bool) are left out; `kind` is what points are called in
    messages, `accept` as of `placed_points`. `InputError` where no point is left; it names those
    that were left out by their labels.
    """
    if seeds_node is None or not seeds_node.IsA("vtkMRMLMarkupsNode"):
        text = _("No list of {kind}s was given: choose a markups node with {kind}s.")
        raise InputError(text.format(kind=kind))
    points = placed_points(seeds_node, accept)
    if not points.labels:
        text = _("The list {list} holds no placed point: place at least one {kind}.")
        raise InputError(text.format(list=node_name(seeds_node), kind=kind))
    points = replace(points, voxels=points_in_volume(volume_node, points.world))
    points = _those_that_hit(points, inside(points.voxels, shape), node_name(volume_node))
    if region is not None:
        points = _those_that_hit(points, region[tuple(points.voxels.T)], "")
    return points


def _those_that_hit(points: PlacedPoints, hit: np.ndarray, volume: str) -> PlacedPoints:
    """The points that hit a volume, or the region where that is empty; `InputError` for none."""
    missed = ", ".join(label for label, found in zip(points.labels, hit) if not found)
    if not hit.any():
        text = _("All points lie outside the box or mask: {points}. Move them, or enlarge it.")
        if volume:
            text = _("All points lie outside the volume {volume}: {points}. Move them into it.")
        raise InputError(text.format(volume=volume, points=missed))
    if not missed:
        return points
    text = _("Left out, because outside the box or mask: {points}.")
    if volume:
        text = _("Left out, because outside the volume {volume}: {points}.")
    return PlacedPoints(
        [index for index, found in zip(points.indices, hit) if found],
        points.world[hit],
        [label for label, found in zip(points.labels, hit) if found],
        points.voxels[hit],
        (*points.warnings, text.format(volume=volume, points=missed)),
    )


def placed_points(
    markups_node: Any, accept: Callable[[Any, int], bool] | None = None
) -> PlacedPoints:
    """The control points of a vtkMRMLMarkupsNode that have their place.

    With `accept`, a function of node and index, only the points for which it is true.
    """
    import slicer

    placed = slicer.vtkMRMLMarkupsNode.PositionDefined
    indices = [
        index
        for index in range(markups_node.GetNumberOfControlPoints())
        if markups_node.GetNthControlPointPositionStatus(index) == placed
        and (accept is None or accept(markups_node, index))
    ]
    world = np.array([markups_node.GetNthControlPointPositionWorld(index) for index in indices])
    labels = [markups_node.GetNthControlPointLabel(n) or f"point {n + 1}" for n in indices]
    return PlacedPoints(indices, world.reshape(-1, 3), labels)


def points_to_voxels(points: Any, ijk_to_points: Any) -> np.ndarray:
    """The voxel K, J, I (int64) that contains each point (n, 3); it may lie outside (`inside`).

    Halves go up, as with Slicer's rounding.
    """
    indices = transform_points(np.linalg.inv(ijk_to_points), points)
    return np.floor(indices + 0.5).astype(np.int64)[:, ::-1]


def inside(voxels: Any, shape: Sequence[int]) -> np.ndarray:
    """Whether each voxel (K, J, I) lies in a volume of `shape` (K, J, I); shape (n,), bool."""
    voxels = np.asarray(voxels)
    return ((voxels >= 0) & (voxels < np.array(shape))).all(axis=-1)


def points_in_volume(volume_node: Any, world: np.ndarray) -> np.ndarray:
    """The voxels (K, J, I; n x 3, int64) that hold points of the world; they may lie outside."""
    local = transformed(transform_between(None, volume_node), world)
    return points_to_voxels(local, ijk_to_ras(volume_node))


# ---- from voxels to points


def world_points(voxels: np.ndarray, volume_node: Any) -> list[Any]:
    """The centres of a volume's voxels (n, 3; K, J, I) in the world, as a list."""
    centres = voxels_to_points(voxels, ijk_to_ras(volume_node))
    return transformed(transform_between(volume_node, None), centres).tolist()


def add_points(
    positions: Iterable[Any], name: str, labels: Iterable[str] = (), into: Any = None
) -> Any:
    """Add points (of the world, mm) to a list of points, by default a new one; returns the list.

    Points without a label get the list's name with a number.
    """
    import slicer

    node = into or slicer.mrmlScene.AddNewNodeByClass("vtkMRMLMarkupsFiducialNode", name)
    for position, label in zip_longest(positions, labels, fillvalue=""):
        node.AddControlPointWorld(position, label)
    return node


def paint(node: Any, color: tuple[float, float, float]) -> None:
    """Give a list of points its colour (red, green, blue, 0..1); labels would cover the vessels."""
    if node.GetDisplayNode() is None:
        node.CreateDefaultDisplayNodes()
    display = node.GetDisplayNode()
    display.SetSelectedColor(color)
    display.SetColor(color)
    display.SetPointLabelsVisibility(False)


def color_of(list_node: Any) -> tuple[float, float, float]:
    """The colour of a list's points, and of its vessel."""
    display = list_node and list_node.GetDisplayNode()
    return tuple(display.GetSelectedColor()) if display is not None else VESSEL_COLOR


def add_phantom(phantom: Any, name: str = "Liver phantom") -> tuple[Any, Any, Any]:
    """Add a `Phantom`: returns its volume, its seeds and its background seeds (markups)."""
    import slicer

    volume_node = _add_volume(phantom, phantom.volume, name, "vtkMRMLScalarVolumeNode")
    lists = []
    for name, voxels, labels in (
        ("Vessels", phantom.seeds, phantom.seed_labels),
        ("Background", phantom.background_seeds, ()),
    ):
        unique = slicer.mrmlScene.GenerateUniqueName(name)
        lists.append(add_points(world_points(voxels, volume_node), unique, labels))
    return volume_node, *lists


def add_phantom_labelmap(phantom: Any) -> Any:
    """Add the true vessels of a phantom as vtkMRMLLabelMapVolumeNode, and return it."""
    name = "Liver phantom vessels"
    return _add_volume(phantom, phantom.mask, name, "vtkMRMLLabelMapVolumeNode")


def _add_volume(phantom: Any, array: np.ndarray, name: str, class_name: str) -> Any:
    """Columns grow to the patient's left, rows backwards, slices upwards."""
    import slicer

    k, j, i = phantom.spacing
    geometry = np.diag([-i, -j, k, 1.0])
    return slicer.util.addVolumeFromArray(array, geometry, name, class_name)
