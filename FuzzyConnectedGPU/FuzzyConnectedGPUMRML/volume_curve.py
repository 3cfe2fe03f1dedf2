"""V(t): the volume of the object over the threshold, of a fuzzy scene in the MRML scene."""

from typing import Any

import numpy as np

from FuzzyConnectedGPULib.threshold.thresholds import volume_curve
from FuzzyVesselCoreLib.errors import InputError
from FuzzyVesselCoreLib.geometry import voxel_volume
from FuzzyVesselCoreLib.mrml.reading import ijk_to_ras, node_name, voxels_of
from FuzzyVesselCoreLib.translation import tr as _
from FuzzyVesselCoreLib.voxels.large_arrays import value_range


class VolumeCurve:
    """Volume in millilitres at every threshold; computed once for a scene.

    Parameters
    ----------
    scene_node : vtkMRMLScalarVolumeNode
        Connectedness, 0..1.

    Attributes
    ----------
    thresholds : ndarray, shape (65535,), float32
        Rising to 1.
    millilitres : ndarray, shape (65535,), float64
        Falling.
    total : float
        Millilitres of the whole image.

    Raises
    ------
    InputError
        The node holds no fuzzy scene.
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


_labelled: dict[int, float] = {}  # the volume by the image's modification time


def labelled_millilitres(labelmap_node: Any) -> float | None:
    """The volume of what is not 0 in a labelmap; None where there is none.

    Counted once for an image, also for one that was loaded.
    """
    image = labelmap_node.GetImageData() if labelmap_node is not None else None
    if image is None or image.GetPointData().GetScalars() is None:
        return None
    time = image.GetMTime()
    if time not in _labelled:
        count = np.count_nonzero(voxels_of(labelmap_node, copy=False))
        note_millilitres(labelmap_node, count * voxel_volume(ijk_to_ras(labelmap_node)) / 1000)
    return _labelled[time]


def note_millilitres(labelmap_node: Any, volume: float) -> None:
    """Whoever wrote a labelmap knows its volume: it is not counted again."""
    _labelled.clear()
    _labelled[labelmap_node.GetImageData().GetMTime()] = float(volume)


_ranges: dict[int, tuple[float, float]] = {}  # of the values, by the image's modification time


def scene_values(scene_node: Any) -> np.ndarray:
    """The values of a fuzzy scene: ndarray (K, J, I), the node's own, only to be read.

    Raises
    ------
    InputError
        There is none, or its values are not all within 0..1.
    """
    if scene_node is None:
        raise InputError(_("There is no fuzzy scene: run the segmentation first."))
    values = voxels_of(scene_node, copy=False)
    time = scene_node.GetImageData().GetMTime()
    if time not in _ranges:  # found once for an image; VTK's own range takes one core 0.2 s
        _note_range(time, value_range(values))
    low, high = _ranges[time]
    if not 0 <= low <= high <= 1:
        raise InputError(
            _("{scene} is no fuzzy scene: its values leave 0..1.").format(
                scene=node_name(scene_node)
            )
        )
    return values


def note_fuzzy_scene(scene_node: Any) -> None:
    """Whoever computed the values knows that they are within 0..1: they are not looked at again."""
    _note_range(scene_node.GetImageData().GetMTime(), (0.0, 1.0))


def _note_range(time: int, found: tuple[float, float]) -> None:
    _ranges.clear()
    _ranges[time] = found
