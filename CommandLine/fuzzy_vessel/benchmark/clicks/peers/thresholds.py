"""Thresholds and connected components: the simplest interactive segmentation.

Both methods threshold the slightly smoothed image and keep the face-connected components that hold
a vessel click. Background clicks do not change them.
"""

import numpy as np
from scipy import ndimage

SMOOTHING = 0.7  # standard deviation in voxels


def halfway(
    volume: np.ndarray,
    vessel: list[tuple[int, int, int]],
    background: list[tuple[int, int, int]],
    mask: np.ndarray | None,
    spacing: tuple[float, float, float],
) -> np.ndarray:
    """Region growing above halfway between the clicks' mean and the image's median."""
    inside = volume if mask is None else volume[mask]
    clicked = np.mean([volume[voxel] for voxel in vessel])
    threshold = (clicked + np.median(inside)) / 2
    return clicked_components(smoothed(volume) >= threshold, vessel, mask)


def otsu(
    volume: np.ndarray,
    vessel: list[tuple[int, int, int]],
    background: list[tuple[int, int, int]],
    mask: np.ndarray | None,
    spacing: tuple[float, float, float],
) -> np.ndarray:
    """Otsu's threshold inside the mask."""
    from skimage.filters import threshold_otsu

    image = smoothed(volume)
    threshold = threshold_otsu(image if mask is None else image[mask])
    return clicked_components(image > threshold, vessel, mask)


def smoothed(volume: np.ndarray) -> np.ndarray:
    """The volume after a Gaussian filter, float32."""
    return ndimage.gaussian_filter(volume.astype(np.float32), SMOOTHING)


def clicked_components(
    bright: np.ndarray, vessel: list[tuple[int, int, int]], mask: np.ndarray | None
) -> np.ndarray:
    """The face-connected components of bright voxels inside the mask that hold a vessel click."""
    if mask is not None:
        bright = bright & mask
    labels, count = ndimage.label(bright)
    keep = np.zeros(count + 1, bool)
    keep[[labels[voxel] for voxel in vessel]] = True
    keep[0] = False
    return keep[labels]
