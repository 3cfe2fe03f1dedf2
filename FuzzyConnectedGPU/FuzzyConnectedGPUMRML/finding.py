"""Automatic seeds on MRML nodes: from a volume and a region to a list of points."""

from typing import Any

from FuzzyConnectedGPULib import automatic_seeds
from FuzzyVesselCoreLib.errors import InputError
from FuzzyVesselCoreLib.mrml import reading
from FuzzyVesselCoreLib.mrml.changes import all_or_nothing
from FuzzyVesselCoreLib.mrml.points import (
    VESSEL_COLOR,
    paint,
    placed_points,
    points_in_volume,
    world_points,
)
from FuzzyVesselCoreLib.translation import tr as _

from .run_inputs import RunOptions
from .segmenting import in_scene, refuse_without, region_of, while_there

LABEL = "automatic"


def find_seeds(
    volume_node: Any,
    options: RunOptions,
    count: int,
    seeds_node: Any = None,
    progress: Any = None,
    cached: Any = None,
) -> Any:
    """Find seeds and add them to a list of points; see `FuzzyConnectedGPULogic.findSeeds`.

    No point is added into a voxel that holds one.
    """
    import slicer

    voxels, name = reading.voxels_of(volume_node), seeds_node and reading.node_name(seeds_node)
    if seeds_node is not None and not seeds_node.IsA("vtkMRMLMarkupsFiducialNode"):
        text = _("{name} is no list of points: choose one, or none for a new list.")
        raise InputError(text.format(name=name))
    if seeds_node is not None and seeds_node.GetFixedNumberOfControlPoints():
        text = _("The list {name} takes no more points (its number is fixed): choose another one.")
        raise InputError(text.format(name=name))
    nodes = (volume_node, options.maskNode, options.roiNode, seeds_node)
    inputs = [node for node in nodes if in_scene(node)]
    found = (automatic_seeds if cached is None else cached.automatic_seeds)(
        voxels,
        spacing=volume_node.GetSpacing()[::-1],
        mask=region_of(options, volume_node, voxels.shape),
        count=count,
        device=options.device,
        progress=while_there(inputs, progress),
    )
    refuse_without(inputs)
    with all_or_nothing() as add:
        if seeds_node is None:
            seeds_node = add("vtkMRMLMarkupsFiducialNode", "Vessel")
            paint(seeds_node, VESSEL_COLOR)
        points, number = placed_points(seeds_node), 0
        known = set(map(tuple, points_in_volume(volume_node, points.world).tolist()))
        with slicer.util.NodeModify(seeds_node):
            for voxel, position in zip(found.tolist(), world_points(found, volume_node)):
                if tuple(voxel) in known:
                    continue
                number += 1
                while f"{LABEL}-{number}" in points.labels:
                    number += 1
                seeds_node.AddControlPointWorld(position, f"{LABEL}-{number}")
    return seeds_node
