"""Peer: fast GrowCut (Zhu et al., MICCAI IMIC 2014), "Grow from seeds" in 3D Slicer, from clicks.

The package is itk-growcut, an ITK module. Its labels do not spread from voxels of the volume's
border, so that the volume gets a border of its own.
"""

import numpy as np

from .markers import VESSEL, markers
from .thresholds import smoothed


def segment(
    volume: np.ndarray,
    vessel: list[tuple[int, int, int]],
    background: list[tuple[int, int, int]],
    mask: np.ndarray | None,
    spacing: tuple[float, float, float],
) -> np.ndarray:
    """See `methods.ClickMethod`."""
    import itk

    def image_of(array, mode="constant"):
        made = itk.image_from_array(np.pad(array, 1, mode=mode))
        made.SetSpacing([float(step) for step in spacing[::-1]])
        return made

    image = smoothed(volume)
    options = {"seed_image": image_of(markers(image, vessel, background, mask))}
    if mask is not None:
        options["mask_image"] = image_of((~mask).astype(np.uint8))  # what it must leave out
    labels = np.asarray(itk.fast_grow_cut(image_of(image, "edge"), **options))
    found = labels[1:-1, 1:-1, 1:-1] == VESSEL
    return found if mask is None else found & mask
