"""The liver phantom as nodes of the scene: something to try the modules on."""

from typing import Any

import numpy as np

from .new_points import add_points


def add_phantom(phantom: Any, name: str = "Liver phantom") -> tuple[Any, Any, Any]:
    """Add a `Phantom`: returns its volume, its seeds and its background seeds (markups)."""
    import slicer

    volume_node = slicer.util.addVolumeFromArray(phantom.volume, _ijk_to_ras(phantom), name)
    seeds_node = add_points(phantom.seeds, volume_node, "Vessels", phantom.seed_labels)
    background = add_points(phantom.background_seeds, volume_node, "Background")
    return volume_node, seeds_node, background


def add_phantom_labelmap(phantom: Any, name: str = "Liver phantom vessels") -> Any:
    """Add the true vessels of a phantom as vtkMRMLLabelMapVolumeNode, and return it."""
    import slicer

    return slicer.util.addVolumeFromArray(
        phantom.mask, _ijk_to_ras(phantom), name, "vtkMRMLLabelMapVolumeNode"
    )


def _ijk_to_ras(phantom: Any) -> np.ndarray:
    """Columns grow to the patient's left, rows backwards, slices upwards."""
    k, j, i = phantom.spacing
    return np.diag([-i, -j, k, 1.0])
