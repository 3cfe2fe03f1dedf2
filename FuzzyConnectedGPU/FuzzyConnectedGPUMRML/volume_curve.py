"""Volumes in millilitres: over the threshold, V(t), and of the vessels of a labelmap."""

from typing import Any

import numpy as np

from FuzzyConnectedGPULib.threshold.thresholds import volume_curve
from FuzzyVesselCoreLib.errors import InputError
from FuzzyVesselCoreLib.geometry import voxel_volume
from FuzzyVesselCoreLib.mrml.reading import ijk_to_ras, node_name, voxels_of
from FuzzyVesselCoreLib.translation import tr as _

# Of the last image, by the time of its last change: millilitres of each label, and value range.
_counted: dict[int, np.ndarray] = {}
_ranges: dict[int, tuple[float, float]] = {}


class VolumeCurve:
    """Volume in millilitres at every threshold of a fuzzy scene (vtkMRMLScalarVolumeNode).

    `thresholds` (65535, float32) rise to 1, `millilitres` fall; `total` is the whole image's.
    """

    def __init__(self, scene_node: Any) -> None:
        values = scene_values(scene_node)
        self.thresholds, counts = volume_curve(values)
        voxel = voxel_volume(ijk_to_ras(scene_node)) / 1000
        self.millilitres, self.total = counts * voxel, values.size * voxel

    def at(self, threshold: float) -> float:
        """The volume (ml) of all that is connected with at least the threshold (above 0)."""
        index = int(np.searchsorted(self.thresholds, np.float32(threshold)))
        return float(self.millilitres[min(index, len(self.millilitres) - 1)])


def labelled_millilitres(labelmap_node: Any, label: int | None = None) -> float | None:
    """The volume of a label, or of all that is not 0; None where there is no image.

    Counted once for an image, also for one that was loaded.
    """
    image = labelmap_node.GetImageData() if labelmap_node is not None else None
    if image is None or image.GetPointData().GetScalars() is None:
        return None
    time = image.GetMTime()
    if time not in _counted:
        counts = label_counts(voxels_of(labelmap_node, copy=False), 255)
        note_millilitres(labelmap_node, counts, voxel_volume(ijk_to_ras(labelmap_node)) / 1000)
    found = _counted[time]
    return float(found[1:].sum() if label is None else found[label])


def label_counts(labels: np.ndarray, most: int) -> np.ndarray:
    """How many voxels each label from 1 to `most` has: ndarray, shape (most + 1,)."""
    if most == 1:
        return np.array([0, np.count_nonzero(labels)])
    return np.bincount(labels[labels > 0], minlength=most + 1)


def note_millilitres(labelmap_node: Any, counts: np.ndarray, voxel_ml: float) -> None:
    """Whoever wrote a labelmap knows its volumes: they are not counted again."""
    _counted.clear()
    _counted[labelmap_node.GetImageData().GetMTime()] = counts * voxel_ml


def scene_values(scene_node: Any) -> np.ndarray:
    """The values (K, J, I) of a fuzzy scene, the node's own; `InputError` if not within 0..1."""
    if scene_node is None:
        raise InputError(_("There is no fuzzy scene: run the segmentation first."))
    values = voxels_of(scene_node, copy=False)
    time = scene_node.GetImageData().GetMTime()
    if time not in _ranges:
        _ranges.clear()
        _ranges[time] = (float(values.min()), float(values.max()))
    low, high = _ranges[time]
    if not 0 <= low <= high <= 1:
        text = _("{scene} is no fuzzy scene: its values leave 0..1.")
        raise InputError(text.format(scene=node_name(scene_node)))
    return values


def note_fuzzy_scene(scene_node: Any) -> None:
    """Whoever computed the values knows that they are within 0..1: they are not looked at again."""
    _ranges.clear()
    _ranges[scene_node.GetImageData().GetMTime()] = (0.0, 1.0)
