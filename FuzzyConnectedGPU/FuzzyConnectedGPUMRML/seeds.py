"""Seeds on MRML nodes: found automatically, and as rows of a table that say which one is odd."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from FuzzyConnectedGPULib import automatic_seeds
from FuzzyConnectedGPULib.affinity import seed_statistics
from FuzzyVesselCoreLib.errors import InputError
from FuzzyVesselCoreLib.geometry import inside
from FuzzyVesselCoreLib.mrml.changes import all_or_nothing
from FuzzyVesselCoreLib.mrml.points import (
    VESSEL_COLOR,
    paint,
    placed_points,
    points_in_volume,
    world_points,
)
from FuzzyVesselCoreLib.mrml.reading import node_name, voxels_of
from FuzzyVesselCoreLib.translation import tr as _

from .run_inputs import RunOptions, in_scene
from .segmenting import refuse_without, region_of

LABEL = "automatic"
SPREADS = 4.0  # deviations from the others' median at which a point is odd
MIN_POINTS = 3  # of two, it is not known which one is wrong


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

    voxels = voxels_of(volume_node)
    if seeds_node is not None and not seeds_node.IsA("vtkMRMLMarkupsFiducialNode"):
        text = _("{name} is no list of points: choose one, or none for a new list.")
        raise InputError(text.format(name=node_name(seeds_node)))
    if seeds_node is not None and seeds_node.GetFixedNumberOfControlPoints():
        text = _("The list {name} takes no more points (its number is fixed): choose another one.")
        raise InputError(text.format(name=node_name(seeds_node)))
    nodes = (volume_node, options.maskNode, options.roiNode, seeds_node)
    inputs = [node for node in nodes if in_scene(node)]
    found = automatic_seeds(
        voxels,
        find_map=cached and cached.find,
        spacing=volume_node.GetSpacing()[::-1],
        mask=region_of(options, volume_node, voxels.shape),
        count=count,
        device=options.device,
        progress=progress,
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


@dataclass(frozen=True)
class SeedRow:
    """One placed point of a list, by its index there; intensities are None outside the volume."""

    index: int
    label: str
    ijk: tuple  # the voxel that holds it, as the Data Probe shows it
    intensity: float | None = None
    mean: float | None = None  # of its neighbourhood, as the deviation
    deviation: float | None = None


def seed_rows(volume_node: Any, seeds_node: Any, radius: int = 2) -> list[SeedRow]:
    """The placed points of a list, with the intensities of a volume within `radius` voxels."""
    points = placed_points(seeds_node)
    volume = voxels_of(volume_node, copy=False)
    voxels = points_in_volume(volume_node, points.world)
    hit, values = inside(voxels, volume.shape), {}
    if hit.any():
        found = seed_statistics(volume, voxels[hit], radius)
        each = zip(found.intensity.tolist(), found.mean.tolist(), found.deviation.tolist())
        values = dict(zip(np.flatnonzero(hit).tolist(), each))
    return [
        SeedRow(index, label, tuple(voxel[::-1].tolist()), *values.get(n, ()))
        for n, (index, label, voxel) in enumerate(zip(points.indices, points.labels, voxels))
    ]


@dataclass(frozen=True)
class OddPoint:
    """A point, and the median intensity of the others; None where it is outside the volume."""

    row: SeedRow
    others: float | None


def odd_point(rows: Sequence[SeedRow]) -> OddPoint | None:
    """The vessel point that disagrees most with the others, or None.

    The spread is that of the other points, but not below the noise: the lowest deviation in the
    neighbourhood of any point, as most neighbourhoods hold the border of the vessel, too.
    """
    outside = [row for row in rows if row.intensity is None]
    if outside:
        return OddPoint(outside[0], None)
    if len(rows) < MIN_POINTS:
        return None
    values = np.array([row.intensity for row in rows], float)
    noise = min(float(row.deviation or 0.0) for row in rows)
    found, most = None, SPREADS
    for number, row in enumerate(rows):
        others = np.delete(values, number)
        median = float(np.median(others))
        spread = max(1.4826 * float(np.median(np.abs(others - median))), noise)
        if spread > 0 and abs(values[number] - median) / spread > most:
            most = abs(values[number] - median) / spread
            found = OddPoint(row, median)
    return found
