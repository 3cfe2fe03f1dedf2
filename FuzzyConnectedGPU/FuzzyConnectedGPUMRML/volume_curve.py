"""V(t): the volume of the object over the threshold, of a fuzzy scene in the MRML scene."""

import numpy as np

from FuzzyConnectedGPULib.threshold.thresholds import volume_curve
from FuzzyVesselCoreLib.errors import InputError
from FuzzyVesselCoreLib.geometry import voxel_volume
from FuzzyVesselCoreLib.mrml.reading import ijk_to_ras, node_name, voxels_of


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

    Raises
    ------
    InputError
        The node holds no fuzzy scene.
    """

    def __init__(self, scene_node):
        self.thresholds, counts = volume_curve(scene_values(scene_node))
        self.millilitres = counts * (voxel_volume(ijk_to_ras(scene_node)) / 1000)

    def at(self, threshold):
        """The volume (ml) of all that is connected with at least the threshold (above 0)."""
        index = np.searchsorted(self.thresholds, np.float32(threshold))
        return float(self.millilitres[min(index, len(self.millilitres) - 1)])


def scene_values(scene_node):
    """The values of a fuzzy scene: ndarray (K, J, I), the node's own, only to be read.

    Raises
    ------
    InputError
        There is none, or its values are not all within 0..1.
    """
    if scene_node is None:
        raise InputError("There is no fuzzy scene: run the segmentation first.")
    values = voxels_of(scene_node, copy=False)
    low, high = scene_node.GetImageData().GetScalarRange()  # found once for an image
    if not 0 <= low <= high <= 1:
        raise InputError(f"{node_name(scene_node)} is no fuzzy scene: its values leave 0..1.")
    return values
