"""Markers for methods that let labels compete: both the random walker and GrowCut need them.

Point clicks alone leave such methods helpless, so each click is painted as a box of 3 x 3 x 3
voxels, as with the smallest brush, and voxels not brighter than the median of the smoothed image
are taken for background from the beginning (fewer than half of all voxels are vessels, and vessels
are bright).
"""

import numpy as np

FREE, BACKGROUND, VESSEL = 0, 1, 2


def markers(
    image: np.ndarray,
    vessel: list[tuple[int, int, int]],
    background: list[tuple[int, int, int]],
    mask: np.ndarray | None,
) -> np.ndarray:
    """Labels of the voxels that are known.

    Parameters
    ----------
    image : ndarray
        Smoothed.
    vessel, background : list of (k, j, i)
    mask : ndarray of bool or None

    Returns
    -------
    ndarray of uint8
        FREE, BACKGROUND or VESSEL. Later clicks do not paint over the clicked voxels themselves.
    """
    dark = np.median(image if mask is None else image[mask])
    labels = np.where(image <= dark, BACKGROUND, FREE).astype(np.uint8)
    clicks = [(voxel, VESSEL) for voxel in vessel] + [(voxel, BACKGROUND) for voxel in background]
    for voxel, label in clicks:
        labels[tuple(slice(max(at - 1, 0), at + 2) for at in voxel)] = label
    for voxel, label in clicks:
        labels[voxel] = label
    return labels
