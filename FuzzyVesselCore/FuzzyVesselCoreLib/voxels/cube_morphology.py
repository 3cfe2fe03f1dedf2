"""Erosion and dilation of a mask by cubes of any size, for arrays of numpy or CuPy."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..progress import Progress


def erode(
    mask: Any, layers: int, axes: Sequence[int] = (0, 1, 2), progress: Progress | None = None
) -> Any:
    """Erode a mask by a cube of 2 * layers + 1 voxels a side.

    Parameters
    ----------
    mask : numpy's or CuPy's ndarray of bool, shape (K, J, I)
        Beyond the volume it counts as False.
    layers : int
    axes : sequence of int
        Along which it is eroded.
    progress : Progress, optional
        Checked after each axis.

    Returns
    -------
    ndarray of bool, of the same kind and shape

    Examples
    --------
    >>> erode(np.ones((1, 1, 5), bool), 1, axes=(2,))
    array([[[False,  True,  True,  True, False]]])
    """
    progress = Progress.of(progress)
    for axis in axes:
        mask = _erode_along(mask, layers, axis)
        progress.check()
    return mask


def dilate(mask: np.ndarray, layers: int) -> np.ndarray:
    """Dilate a mask (K, J, I) by a cube of 2 * layers + 1 voxels a side, within the volume."""
    padded = np.pad(~mask, layers, constant_values=True)
    inside = tuple(slice(layers, layers + n) for n in mask.shape)
    return ~erode(padded, layers)[inside] if layers else mask


def _erode_along(mask: Any, layers: int, axis: int) -> Any:
    """Return the minimum over 2 * layers + 1 voxels; the window is doubled until it is as long."""
    length = 2 * layers + 1
    shape = list(mask.shape)
    shape[axis] += 2 * layers
    window = type(mask)(tuple(shape), bool)
    window[...] = False
    window = window.swapaxes(axis, 0)
    window[layers : layers + mask.shape[axis]] = mask.swapaxes(axis, 0)
    covered = 1
    while covered < length:
        step = min(covered, length - covered)
        window = window[:-step] & window[step:]
        covered += step
    return window.swapaxes(0, axis).copy()  # in C order, as kernels need it
