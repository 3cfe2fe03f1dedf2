"""Volumes in millilitres: over the threshold, V(t), of a labelmap, and where two results differ."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from FuzzyConnectedGPULib.thresholds import volume_curve
from FuzzyVesselCoreLib.errors import InputError
from FuzzyVesselCoreLib.geometry import voxel_volume
from FuzzyVesselCoreLib.mrml.changes import all_or_nothing, put_beside
from FuzzyVesselCoreLib.mrml.images import fill_volume, image_from_array
from FuzzyVesselCoreLib.mrml.ownership import DIFFERENCE, check_apart, hand_over
from FuzzyVesselCoreLib.mrml.reading import ijk_to_ras, node_name, voxels_of
from FuzzyVesselCoreLib.mrml.regions import mask_of
from FuzzyVesselCoreLib.translation import tr as _

ONLY_FIRST, ONLY_SECOND, BOTH = 1, 2, 3  # labels where two results differ
COLORS = {
    "Neither": (0.0, 0.0, 0.0, 0.0),
    "Only in the first": (0.95, 0.55, 0.15, 1.0),
    "Only in the second": (0.20, 0.60, 0.95, 1.0),
    "In both": (0.45, 0.75, 0.45, 1.0),
}
COLOR_TABLE = "FuzzyVesselGPU difference"
_counted: dict[int, np.ndarray] = {}  # of the last image, by the time of its last change


class VolumeCurve:
    """Volume in millilitres at every threshold of a fuzzy scene (vtkMRMLScalarVolumeNode).

    `thresholds` (65535, float32) rise to 1, `millilitres` fall; `total` is the whole image's.
    """

    def __init__(self, scene_node: Any) -> None:
        values = scene_values(scene_node)
        self.thresholds, counts = volume_curve(values)
        voxel = _voxel_ml(scene_node)
        self.millilitres, self.total = counts * voxel, values.size * voxel

    def at(self, threshold: float) -> float:
        """The volume (ml) of all that is connected with at least the threshold (above 0)."""
        index = int(np.searchsorted(self.thresholds, np.float32(threshold)))
        return float(self.millilitres[min(index, len(self.millilitres) - 1)])


def _voxel_ml(volume_node: Any) -> float:
    return voxel_volume(ijk_to_ras(volume_node)) / 1000


def labelled_millilitres(labelmap_node: Any, label: int | None = None) -> float | None:
    """The volume of a label, or of all that is not 0; None where there is no image."""
    image = labelmap_node.GetImageData() if labelmap_node is not None else None
    if image is None or image.GetPointData().GetScalars() is None:
        return None
    time = image.GetMTime()
    if time not in _counted:
        labels = voxels_of(labelmap_node, copy=False)
        _counted.clear()
        _counted[time] = np.bincount(labels[labels > 0], minlength=256)
    found = _counted[time].sum() if label is None else _counted[time][label]
    return float(found) * _voxel_ml(labelmap_node)


def scene_values(scene_node: Any) -> np.ndarray:
    """The values (K, J, I) of a fuzzy scene, the node's own; `InputError` if not within 0..1."""
    if scene_node is None:
        raise InputError(_("There is no fuzzy scene: run the segmentation first."))
    values = voxels_of(scene_node, copy=False)
    low, high = scene_node.GetImageData().GetScalarRange()  # which VTK caches
    if not 0 <= low <= high <= 1:
        text = _("{scene} is no fuzzy scene: its values leave 0..1.")
        raise InputError(text.format(scene=node_name(scene_node)))
    return values


@dataclass(frozen=True)
class Difference:
    """A labelmap of two results, and volumes in millilitres."""

    labelmapNode: object
    onlyFirstMl: float
    onlySecondMl: float
    bothMl: float

    @property
    def dice(self) -> float:
        """Dice's coefficient of the two, 0..1."""
        return 2 * self.bothMl / max(2 * self.bothMl + self.onlyFirstMl + self.onlySecondMl, 1e-30)


def difference(
    first_node: Any, second_node: Any, volume_node: Any, labelmap_node: Any = None
) -> Difference:
    """Compare two results (labelmaps or segmentations) on the voxels of a volume.

    They may be of any geometry, each under transforms of its own; all segments count. A labelmap
    is filled; by default a new one is added.
    """
    if first_node is None or second_node is None or volume_node is None:
        raise InputError(_("Choose two results and the volume that they belong to."))
    if first_node is second_node:
        text = _("Both results are {result}; choose two.")
        raise InputError(text.format(result=node_name(first_node)))
    inputs = {_("first result"): first_node, _("second result"): second_node}
    check_apart([labelmap_node], {**inputs, _("volume"): volume_node})
    shape = voxels_of(volume_node, copy=False).shape
    first, second = (mask_of(node, volume_node, shape) for node in (first_node, second_node))
    labels = first * np.uint8(ONLY_FIRST) + second * np.uint8(ONLY_SECOND)
    with all_or_nothing() as add:
        if labelmap_node is None:
            labelmap_node = add("vtkMRMLLabelMapVolumeNode", "Difference")
            put_beside([labelmap_node], volume_node)
        fill_volume(labelmap_node, image_from_array(labels), volume_node)
        labelmap_node.GetDisplayNode().SetAndObserveColorNodeID(_color_table(add).GetID())
        hand_over(labelmap_node, DIFFERENCE, volume_node)
    millilitres = (
        float(labelled_millilitres(labelmap_node, n) or 0.0)
        for n in (ONLY_FIRST, ONLY_SECOND, BOTH)
    )
    return Difference(labelmap_node, *millilitres)


def _color_table(add: Any) -> Any:
    """The scene's table of the three colours; added where it is missing."""
    import slicer

    table = slicer.mrmlScene.GetFirstNodeByName(COLOR_TABLE)
    if table is None:
        table = add("vtkMRMLColorTableNode", COLOR_TABLE)
        table.SetTypeToUser()
        table.SetNumberOfColors(len(COLORS))
        for value, (name, color) in enumerate(COLORS.items()):
            table.SetColor(value, name, *color)
    return table
