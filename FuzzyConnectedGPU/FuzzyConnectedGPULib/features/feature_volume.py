"""The volume that the affinity compares: intensities, scale-filtered intensities, or vesselness."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from FuzzyVesselCoreLib.compilation import needs_numba
from FuzzyVesselCoreLib.errors import InputError
from FuzzyVesselCoreLib.progress import Progress, ProgressCallback
from FuzzyVesselCoreLib.voxels.bounding_box import bounding_box, full_box, padded_box

from ..input_validation import checked_mask, checked_spacing, checked_volume

FEATURES = ("intensity", "scale", "vesselness")
MARGIN = 4  # voxels around the mask, for the seeds' neighbourhoods


def check_feature(feature: str | None) -> None:
    """Raise `InputError` for an unknown feature."""
    if feature is not None and feature not in FEATURES:
        raise InputError(f"Unknown feature {feature!r}; one of {', '.join(FEATURES)}.")


def feature_volume(
    volume: np.ndarray,
    feature: str,
    *,
    spacing: Any = None,
    mask: np.ndarray | None = None,
    dark: bool = False,
    progress: Progress | ProgressCallback | None = None,
) -> np.ndarray:
    """The feature of each voxel, as a volume that takes the place of the intensities.

    Parameters
    ----------
    volume : ndarray, shape (K, J, I) or (J, I)
        Of the types that `connectedness` takes.
    feature : {"intensity", "scale", "vesselness"}
        "intensity": the volume itself. "scale": `object_scale.scale_filtered`. "vesselness":
        `vesselness.vesselness`.
    spacing : sequence of 3 float, optional
        Distance of voxels along K, J, I; by default 1, 1, 1.
    mask : ndarray, optional
        Features are computed where it is not 0 and a few voxels around; elsewhere the result has
        the volume's intensities (scale) or 0 (vesselness).
    dark : bool
        Of vesselness: tubes are darker than their surroundings.
    progress : callable, optional
        ``progress(share) -> bool``; returns False to cancel.

    Returns
    -------
    ndarray, shape (K, J, I)
        The volume itself for "intensity", else float32.

    Raises
    ------
    InputError
        The feature is unknown, or volume, spacing or mask is invalid.
    DeviceError
        The filters' compiler, numba, is not installed.
    Cancelled
        `progress` returned False.

    Examples
    --------
    >>> import numpy as np
    >>> volume = np.zeros((9, 16, 16), np.int16)
    >>> volume[:, 7:9, 7:9] = 100
    >>> tubular = feature_volume(volume, "vesselness")
    >>> bool(tubular[4, 7, 7] > 10 * tubular[4, 2, 2])
    True
    """
    check_feature(feature)
    if feature == "intensity":
        return volume
    checked = checked_volume(volume)
    mask = checked_mask(mask, checked.shape)
    unit = checked_spacing(spacing, checked.shape[0])
    unit = np.asarray(unit, float) / min(unit)
    box = full_box(checked.shape)
    if mask is not None:
        box = padded_box(bounding_box(mask) or box, (MARGIN,) * 3, checked.shape)
    part = _function(feature, dark)(checked, box, unit, Progress.of(progress))
    if part.shape == checked.shape:
        return part
    found = (
        checked.astype(np.float32) if feature == "scale" else np.zeros(checked.shape, np.float32)
    )
    found[box] = part
    return found


def _function(feature: str, dark: bool) -> Callable[..., np.ndarray]:
    with needs_numba():
        from .object_scale import scale_filtered
        from .vesselness import vesselness
    if feature == "scale":
        return scale_filtered
    return partial(vesselness, dark=dark)
