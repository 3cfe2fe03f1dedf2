"""Voxel classes of a solid by operations on bits, 64 voxels of a row at a time."""

import numpy as np

from FuzzyVesselCoreLib.progress import Progress
from FuzzyVesselCoreLib.voxels.bit_packed_morphology import dilate, erode, pack, unpack


def classes_and_targets(
    mask: np.ndarray, layers: int, progress: Progress | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Classify the voxels of a dilated mask, and find those whose force is summed.

    Parameters
    ----------
    mask : ndarray of bool, shape (K, J, I)
    layers : int
        By which it is dilated, of 26 neighbours.
    progress : Progress, optional
        Checked between steps.

    Returns
    -------
    classes : ndarray of uint8, shape (K, J, I)
        See `voxel_classes.classify_voxels`.
    targets : ndarray of bool, shape (K, J, I)
        The inner voxels, and the boundary voxels without an inner one among their 26 neighbours.

    Raises
    ------
    Cancelled
        The progress callback returned False.
    """
    progress = Progress.of(progress)
    solid = pack(mask)
    for _ in range(layers):
        progress.check()
        solid = dilate(solid, mask.shape[2])
    progress.check()
    no_surface = erode(solid)
    inner = erode(no_surface)
    progress.check()
    near_inner = dilate(inner, mask.shape[2])
    return _unpacked(solid, no_surface, inner, near_inner, mask.shape)


def _unpacked(
    solid: np.ndarray,
    no_surface: np.ndarray,
    inner: np.ndarray,
    near_inner: np.ndarray,
    shape: tuple[int, ...],
) -> tuple[np.ndarray, np.ndarray]:
    """Return the classes and the targets; only rows that hold something are written."""
    rows, width = np.nonzero(solid.any(axis=2)), shape[2]
    classes, targets = np.zeros(shape, np.uint8), np.zeros(shape, bool)
    number = unpack(solid[rows], width)  # a class is the number of its bits
    number += unpack(no_surface[rows], width)
    number += unpack(inner[rows], width)
    classes[rows] = number
    chosen = inner[rows] | no_surface[rows] & ~near_inner[rows]
    targets[rows] = unpack(chosen, width).view(bool)
    return classes, targets
