"""Voxel classes of a solid by operations on bits, 64 voxels of a row at a time; compiled."""

import numpy as np

from FuzzyVesselCoreLib.jit.decorators import compiled, inlined
from FuzzyVesselCoreLib.progress import Progress
from FuzzyVesselCoreLib.voxels.bit_packed_morphology import ONE, WORD, ZERO, dilate, erode, pack


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
    solid = pack(mask.view(np.uint8))
    for _ in range(layers):
        progress.check()
        solid = dilate(solid, mask.shape[2])
    progress.check()
    no_surface = erode(solid)
    inner = erode(no_surface)
    progress.check()
    near_inner = dilate(inner, mask.shape[2])
    classes, targets = np.zeros(mask.shape, np.uint8), np.zeros(mask.shape, bool)
    unpack(solid, no_surface, inner, near_inner, classes, targets)
    return classes, targets


@compiled
def unpack(
    solid: np.ndarray,
    no_surface: np.ndarray,
    inner: np.ndarray,
    near_inner: np.ndarray,
    classes: np.ndarray,
    targets: np.ndarray,
) -> None:
    """Set the classes and the targets, which are 0 before."""
    depth, rows, width = classes.shape
    for k in range(depth):
        for j in range(rows):
            for word in range(solid.shape[2]):
                one, two, three = solid[k, j, word], no_surface[k, j, word], inner[k, j, word]
                if one == ZERO:
                    continue
                chosen = three | two & ~near_inner[k, j, word]
                first = word * WORD
                last = min(first + WORD, width)
                unpack_word(
                    one, two, three, chosen, classes[k, j, first:last], targets[k, j, first:last]
                )


@inlined
def unpack_word(
    one: np.uint64,
    two: np.uint64,
    three: np.uint64,
    chosen: np.uint64,
    classes: np.ndarray,
    targets: np.ndarray,
) -> None:
    """Set the classes and targets of up to 64 voxels; a class is the number of its bits."""
    for n in range(classes.size):
        bit = np.uint64(n)
        classes[n] = (one >> bit & ONE) + (two >> bit & ONE) + (three >> bit & ONE)
        targets[n] = chosen >> bit & ONE != ZERO
