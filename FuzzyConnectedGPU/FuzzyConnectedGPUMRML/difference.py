"""Where two results differ, as a labelmap with three colours."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from FuzzyVesselCoreLib.errors import InputError
from FuzzyVesselCoreLib.geometry import voxel_volume
from FuzzyVesselCoreLib.mrml.changes import all_or_nothing, put_beside
from FuzzyVesselCoreLib.mrml.images import fill_labelmap
from FuzzyVesselCoreLib.mrml.ownership import DIFFERENCE, check_apart, hand_over
from FuzzyVesselCoreLib.mrml.reading import ijk_to_ras, node_name, voxels_of
from FuzzyVesselCoreLib.mrml.regions import mask_of
from FuzzyVesselCoreLib.translation import tr as _

ONLY_FIRST, ONLY_SECOND, BOTH = 1, 2, 3
COLORS = {
    ONLY_FIRST: ("Only in the first", (0.95, 0.55, 0.15)),
    ONLY_SECOND: ("Only in the second", (0.20, 0.60, 0.95)),
    BOTH: ("In both", (0.45, 0.75, 0.45)),
}
COLOR_TABLE = "FuzzyVesselGPU difference"


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
    for node in (first_node, second_node, volume_node):
        if node is None:
            raise InputError(_("Choose two results and the volume that they belong to."))
    if first_node is second_node:
        raise InputError(
            _("Both results are {result}; choose two.").format(result=node_name(first_node))
        )
    inputs = {_("first result"): first_node, _("second result"): second_node}
    check_apart([labelmap_node], {**inputs, _("volume"): volume_node})
    shape = voxels_of(volume_node, copy=False).shape
    first, second = (mask_of(node, volume_node, shape) for node in (first_node, second_node))
    labels = first * np.uint8(ONLY_FIRST) + second * np.uint8(ONLY_SECOND)
    with all_or_nothing() as change:
        if labelmap_node is None:
            labelmap_node = change("vtkMRMLLabelMapVolumeNode", "Difference")
            put_beside([labelmap_node], volume_node)
        fill_labelmap(labelmap_node, labels, volume_node)
        labelmap_node.GetDisplayNode().SetAndObserveColorNodeID(_color_table(change).GetID())
        hand_over(labelmap_node, DIFFERENCE, volume_node)
    counts = np.bincount(labels.ravel(), minlength=4) * voxel_volume(ijk_to_ras(volume_node)) / 1000
    return Difference(labelmap_node, *map(float, counts[[ONLY_FIRST, ONLY_SECOND, BOTH]]))


def _color_table(add: Any) -> Any:
    """The scene's table of the three colours; added where it is missing."""
    import slicer

    table = slicer.mrmlScene.GetFirstNodeByName(COLOR_TABLE)
    if table is not None and table.IsA("vtkMRMLColorTableNode"):
        return table
    table = add("vtkMRMLColorTableNode", COLOR_TABLE)
    table.SetTypeToUser()
    table.SetNumberOfColors(len(COLORS) + 1)
    table.SetColor(0, "Neither", 0.0, 0.0, 0.0, 0.0)
    for value, (name, color) in COLORS.items():
        table.SetColor(value, name, *color, 1.0)
    return table
