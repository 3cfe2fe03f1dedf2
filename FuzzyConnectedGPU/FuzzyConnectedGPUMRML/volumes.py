"""Volumes in millilitres: over the threshold, V(t), and of a labelmap."""

from typing import Any

import numpy as np

from FuzzyConnectedGPULib.thresholds import volume_curve
from FuzzyVesselCoreLib.errors import InputError
from FuzzyVesselCoreLib.geometry import voxel_volume
from FuzzyVesselCoreLib.mrml.provenance import once_an_edit
from FuzzyVesselCoreLib.mrml.reading import ijk_to_ras, node_name, voxels_of
from FuzzyVesselCoreLib.translation import tr as _


class VolumeCurve:
    """Volume in millilitres at every threshold of a fuzzy scene (vtkMRMLScalarVolumeNode).

    `thresholds` (65535, float32) rise to 1, `millilitres` fall; `total` is the whole image's.
    """

    def __init__(self, scene_node: Any) -> None:
        values = scene_array(scene_node)
        self.thresholds, counts = volume_curve(values)
        voxel = _voxel_ml(scene_node)
        self.millilitres, self.total = counts * voxel, values.size * voxel

    def at(self, threshold: float) -> float:
        """The volume (ml) of all that is connected with at least the threshold (above 0)."""
        index = int(np.searchsorted(self.thresholds, np.float32(threshold)))
        return float(self.millilitres[min(index, len(self.millilitres) - 1)])


def curve_of(scene_node: Any) -> VolumeCurve:
    """The curve of a fuzzy scene, which is counted once an edit."""
    scene_array(scene_node)
    key = ("curve", _voxel_ml(scene_node))
    return once_an_edit(scene_node.GetImageData(), key, lambda: VolumeCurve(scene_node))


def _voxel_ml(volume_node: Any) -> float:
    return voxel_volume(ijk_to_ras(volume_node)) / 1000


def labelled_millilitres(labelmap_node: Any, label: int | None = None) -> float | None:
    """The volume of a label, or of all that is not 0; None where there is no image."""
    image = labelmap_node.GetImageData() if labelmap_node is not None else None
    if image is None or image.GetPointData().GetScalars() is None:
        return None
    labels = voxels_of(labelmap_node, copy=False)
    counts = once_an_edit(
        image, ("labels",), lambda: np.bincount(labels[labels > 0], minlength=256)
    )
    found = counts.sum() if label is None else counts[label]
    return float(found) * _voxel_ml(labelmap_node)


def scene_array(scene_node: Any) -> np.ndarray:
    """The values (K, J, I) of a fuzzy scene, the node's own; `InputError` if not within 0..1."""
    if scene_node is None:
        raise InputError(_("There is no connectedness map: run the segmentation first."))
    values = voxels_of(scene_node, copy=False)
    low, high = scene_node.GetImageData().GetScalarRange()  # which VTK caches
    if not 0 <= low <= high <= 1:
        text = _("{scene} is no connectedness map: its values leave 0..1.")
        raise InputError(text.format(scene=node_name(scene_node)))
    return values
