"""Points as rows of a table: what the image holds round each, and which one disagrees."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from FuzzyConnectedGPULib.affinity import seed_statistics
from FuzzyVesselCoreLib.geometry import inside
from FuzzyVesselCoreLib.mrml.points import placed_points, points_in_volume
from FuzzyVesselCoreLib.mrml.reading import voxels_of

SPREADS = 4.0  # deviations from the others' median at which a point is odd
MIN_POINTS = 3  # of two nobody knows which one is wrong


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
    if not points.labels:
        return []
    volume = voxels_of(volume_node, copy=False)
    voxels = points_in_volume(volume_node, points.world)
    hit = inside(voxels, volume.shape)
    statistics: Any = seed_statistics(volume, voxels[hit], radius) if hit.any() else None
    numbers, rows = iter(range(np.count_nonzero(hit))), []
    for index, label, voxel, found in zip(points.indices, points.labels, voxels, hit):
        ijk, values = tuple(voxel[::-1].tolist()), []
        if found:
            n = next(numbers)
            values = [statistics.intensity[n], statistics.mean[n], statistics.deviation[n]]
        rows.append(SeedRow(index, label, ijk, *map(float, values)))
    return rows


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
    for row in rows:
        if row.intensity is None:
            return OddPoint(row, None)
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
