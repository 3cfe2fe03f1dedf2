"""Outside, surface, boundary and inner voxels of an object (Zhao et al. 2016, section 1)."""

import numpy as np

from FuzzyVesselCoreLib.errors import InputError

OUTSIDE, SURFACE, BOUNDARY, INNER = 0, 1, 2, 3


def classify_voxels(mask, report=None):
    """Class of every voxel of a volume.

    A surface voxel has an outside voxel among its 26 neighbours, a boundary voxel is no surface
    voxel but has one among its 26 neighbours, an inner voxel is any other voxel of the object.
    What lies beyond the volume is outside.

    Parameters
    ----------
    mask : ndarray, shape (K, J, I) or (J, I)
        The object is where it is not 0. A 2D array is one slice.
    report : callable, optional
        Called between steps; raises to cancel.

    Returns
    -------
    ndarray, uint8, shape (K, J, I)
        `OUTSIDE` 0, `SURFACE` 1, `BOUNDARY` 2, `INNER` 3.

    Raises
    ------
    InputError
        If the mask is no volume, or holds what is no finite number.
    """
    solid = checked_object(mask)
    no_surface = shrink(solid, 1, report=report)
    inner = shrink(no_surface, 1, report=report)
    return solid.astype(np.uint8) + no_surface + inner


def checked_object(mask):
    """Return the object of a labelmap as bool (K, J, I); `InputError` if it is no labelmap."""
    return checked_labelmap(mask) != 0


def checked_labelmap(mask):
    """Return a labelmap as numbers (K, J, I); `InputError` if it is none."""
    mask = np.asarray(mask)
    if mask.ndim == 2:
        mask = mask[np.newaxis]
    if mask.ndim != 3 or mask.size == 0:
        raise InputError(f"The labelmap has shape {mask.shape}; K x J x I voxels are needed.")
    if mask.dtype.kind not in "biuf":
        raise InputError(f"The labelmap has voxels of type {mask.dtype.name}; numbers are needed.")
    if mask.dtype.kind == "f" and not np.isfinite(mask).all():
        raise InputError(
            f"The labelmap has {np.count_nonzero(~np.isfinite(mask))} voxels that are infinite or "
            "not a number; replace them by 0."
        )
    return mask


def shrink(mask, layers, axes=(0, 1, 2), report=None):
    """Erosion by a cube: the voxels whose distance along the axes to any other is over `layers`.

    Parameters
    ----------
    mask : ndarray, bool, shape (K, J, I)
        Beyond the volume it counts as False. An array of CuPy's stays on the card.
    layers : int
    report : callable, optional
        Called after each axis; raises to cancel.

    Returns
    -------
    ndarray, bool, of the same shape
    """
    for axis in axes:
        mask = _shrink_along(mask, layers, axis)
        if report is not None:
            report()
    return mask


def grow(mask, layers):
    """Dilation by a cube, within the volume: `layers` times all 26 neighbours."""
    padded = np.pad(~mask, layers, constant_values=True)
    inside = tuple(slice(layers, layers + n) for n in mask.shape)
    return ~shrink(padded, layers)[inside] if layers else mask


def _shrink_along(mask, layers, axis):
    """A running minimum over 2 layers + 1 voxels, whose window is doubled until it is that long."""
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
    return window.swapaxes(0, axis).copy()  # kernels take the memory as it lies
