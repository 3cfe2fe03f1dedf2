"""Millilitres of each vessel of a result, also of one that was loaded."""

from typing import Any

import numpy as np

from FuzzyVesselCoreLib.geometry import voxel_volume
from FuzzyVesselCoreLib.mrml.reading import ijk_to_ras, voxels_of

from .segmenting_several import vessels_of_scene

_counted: dict[int, np.ndarray] = {}  # of the last image, by the time of its last change


def millilitres_of(list_node: Any, scene_node: Any, labelmap_node: Any) -> float | None:
    """The volume of the vessel of a list; None where the result has none of it."""
    lists = vessels_of_scene(scene_node)
    if list_node not in lists or labelmap_node is None:
        return None
    image = labelmap_node.GetImageData()
    if image is None or image.GetPointData().GetScalars() is None:
        return None
    if image.GetMTime() not in _counted:
        _counted.clear()
        labels = voxels_of(labelmap_node, copy=False).ravel()
        _counted[image.GetMTime()] = np.bincount(labels, minlength=256)
    count = _counted[image.GetMTime()][lists.index(list_node) + 1]
    return float(count * voxel_volume(ijk_to_ras(labelmap_node)) / 1000)
