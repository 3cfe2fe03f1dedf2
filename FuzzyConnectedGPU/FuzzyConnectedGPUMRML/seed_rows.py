"""A list of points as a table: what each seed is and what the image holds round it."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from FuzzyConnectedGPULib.affinity import seed_statistics
from FuzzyVesselCoreLib.geometry import inside
from FuzzyVesselCoreLib.mrml.points import placed_points, points_in_volume
from FuzzyVesselCoreLib.mrml.reading import voxels_of


@dataclass(frozen=True)
class SeedRow:
    """One placed point of a list.

    Attributes
    ----------
    index : int
        Of the control point in its list.
    label : str
    ijk : tuple of 3 int
        The voxel that holds it, as the Data Probe shows it.
    intensity, mean, deviation : float or None
        At the voxel, and of its neighbourhood; None outside the volume.
    """

    index: int
    label: str
    ijk: tuple
    intensity: float | None = None
    mean: float | None = None
    deviation: float | None = None


def seed_rows(volume_node: Any, seeds_node: Any, radius: int = 2) -> list[SeedRow]:
    """The placed points of a list, with the intensities of a volume.

    Parameters
    ----------
    volume_node : vtkMRMLScalarVolumeNode
        With voxels, of one component; they are read in place.
    seeds_node : vtkMRMLMarkupsNode
    radius : int
        Voxels to each side that count as the neighbourhood.

    Returns
    -------
    list of SeedRow
    """
    points = placed_points(seeds_node)
    if not points.labels:
        return []
    volume = voxels_of(volume_node, copy=False)
    voxels = points_in_volume(volume_node, points.world)
    hit = inside(voxels, volume.shape)
    statistics: Any = seed_statistics(volume, voxels[hit], radius) if hit.any() else None
    numbers = iter(range(np.count_nonzero(hit)))
    rows = []
    for index, label, voxel, found in zip(points.indices, points.labels, voxels, hit):
        ijk, values = tuple(voxel[::-1].tolist()), []
        if found:
            n = next(numbers)
            values = [statistics.intensity[n], statistics.mean[n], statistics.deviation[n]]
        rows.append(SeedRow(index, label, ijk, *map(float, values)))
    return rows
