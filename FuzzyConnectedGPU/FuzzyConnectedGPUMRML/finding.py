"""Automatic seeds on MRML nodes: from a volume and a region to a list of points."""

from collections.abc import Callable
from typing import Any

import numpy as np

from FuzzyConnectedGPULib import automatic_seeds
from FuzzyVesselCoreLib.errors import InputError
from FuzzyVesselCoreLib.mrml import reading as mrml
from FuzzyVesselCoreLib.mrml.changes import all_or_nothing
from FuzzyVesselCoreLib.mrml.new_points import VESSEL_COLOR, paint, world_points
from FuzzyVesselCoreLib.mrml.points import placed_points, points_in_volume
from FuzzyVesselCoreLib.mrml.regions import region_mask
from FuzzyVesselCoreLib.translation import tr as _

from .segmenting import refuse_without, while_there

LABEL = "automatic"


def find_seeds(
    volume_node: Any,
    options: dict[str, Any],
    seeds_node: Any = None,
    progress: Callable[[float], bool | None] | None = None,
    kept: Any = None,
) -> Any:
    """Find seeds and add them to a list of points; the scene changes only if all goes well.

    Parameters
    ----------
    volume_node : vtkMRMLScalarVolumeNode
    options : dict
        maskNode, maskSegmentID, roiNode, count and device of `FuzzyConnectedGPULogic.findSeeds`.
    seeds_node : vtkMRMLMarkupsFiducialNode, optional
        Keeps its points; no second one is added into a voxel that holds one.
    progress : callable, optional
    kept : FuzzyConnectedGPULib.cached_connectedness.CachedConnectedness, optional

    Returns
    -------
    vtkMRMLMarkupsFiducialNode
    """
    mask_node, roi_node = options["maskNode"], options["roiNode"]
    voxels = mrml.voxels_of(volume_node)
    if seeds_node is not None:
        _check_list(seeds_node)
    inputs = [node for node in (volume_node, mask_node, roi_node, seeds_node) if node is not None]
    region = region_mask(mask_node, roi_node, volume_node, voxels.shape, options["maskSegmentID"])
    found = (automatic_seeds if kept is None else kept.automatic_seeds)(
        voxels,
        spacing=volume_node.GetSpacing()[::-1],
        mask=region,
        count=options["count"],
        device=options["device"],
        progress=while_there(inputs, progress),
    )
    refuse_without(inputs)
    with all_or_nothing() as add:
        if seeds_node is None:
            seeds_node = add("vtkMRMLMarkupsFiducialNode", "Vessel")
            paint(seeds_node, VESSEL_COLOR)
        _add(seeds_node, volume_node, found)
    return seeds_node


def _add(seeds_node: Any, volume_node: Any, voxels: np.ndarray) -> None:
    """Add voxels (n, 3) to a list that lacks them, under labels that it lacks."""
    import slicer

    points = placed_points(seeds_node)
    known = set(map(tuple, points_in_volume(volume_node, points.world).tolist()))
    number = 0
    with slicer.util.NodeModify(seeds_node):
        for voxel, position in zip(voxels.tolist(), world_points(voxels, volume_node)):
            if tuple(voxel) in known:
                continue
            number += 1
            while f"{LABEL}-{number}" in points.labels:
                number += 1
            seeds_node.AddControlPointWorld(position, f"{LABEL}-{number}")


def _check_list(seeds_node: Any) -> None:
    name = mrml.node_name(seeds_node)
    if not seeds_node.IsA("vtkMRMLMarkupsFiducialNode"):
        raise InputError(
            _("{name} is no list of points: choose one, or none for a new list.").format(name=name)
        )
    if seeds_node.GetFixedNumberOfControlPoints():
        raise InputError(
            _(
                "The list {name} takes no more points (its number is fixed): choose another one."
            ).format(name=name)
        )
