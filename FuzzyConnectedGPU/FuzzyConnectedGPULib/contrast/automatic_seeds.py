"""Automatic seeds: voxels on the axes of the strongest tubes in the contrast of a volume."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from FuzzyVesselCoreLib.errors import InputError
from FuzzyVesselCoreLib.gpu.device import choose_device
from FuzzyVesselCoreLib.progress import Progress, ProgressCallback

from ..input_validation import NothingTubularError, checked_mask, checked_spacing, checked_volume
from .contrast_map import contrast_map

COUNT = 6
MAP_SHARE = 0.7  # of the progress of one polarity


def automatic_seeds(
    volume: np.ndarray,
    *,
    spacing: Sequence[float] | None = None,
    mask: np.ndarray | None = None,
    count: int = COUNT,
    device: str = "auto",
    progress: Progress | ProgressCallback | None = None,
    find_map: Any = None,
) -> np.ndarray:
    """Seeds on the strongest tubular contrast, to be reviewed by the user.

    The Hessian of the contrast to the local background is evaluated at three scales (`tubes`).
    Bright vessels are searched first, dark ones only where nothing bright is tubular.

    Parameters
    ----------
    volume : ndarray, shape (K, J, I) or (J, I)
        Of the types that `connectedness` takes.
    spacing : sequence of 3 float, optional
        Distance of voxels along K, J, I; by default 1, 1, 1.
    mask : ndarray, optional
        Seeds lie where it is not 0, off its border.
    count : int
        Maximum number of seeds.
    device : str
        As in `connectedness`; this search runs on the CPU.
    progress : callable, optional
        As in `segment`.
    find_map : callable, optional
        In place of `contrast_map`: that of a `ContrastMapCache`.

    Returns
    -------
    ndarray of int64, shape (n, 3)
        K, J, I: the strongest first. Their distance is at least 20 times the smallest spacing, or
        10 times where there are too few otherwise.

    Raises
    ------
    InputError, DeviceError, Cancelled
        As in `segment`; `InputError` also where nothing is tubular.

    Examples
    --------
    >>> import numpy as np
    >>> volume = np.random.default_rng(1).normal(0, 1, (32, 32, 32))
    >>> volume[:, 14:18, 14:18] += 20
    >>> k, j, i = automatic_seeds(volume, count=1)[0]
    >>> bool(13 < j < 18 and 13 < i < 18)
    True
    """
    if isinstance(count, bool) or not isinstance(count, int | np.integer) or count < 1:
        raise InputError(f"The number of automatic seeds is {count!r}; give a number from 1 up.")
    choose_device(device)  # an unusable device is refused before the work begins
    progress = Progress.of(progress)
    progress.advance(0.0)
    volume = checked_volume(volume)
    distances = checked_spacing(spacing, volume.shape[0])
    mask = checked_mask(mask, volume.shape)
    from .tubes import SampledIntensities, tubular_voxels  # scipy

    intensities = SampledIntensities(volume, mask, distances / distances.min())
    find = find_map or contrast_map

    for half, polarity in enumerate((1, -1)):
        first = intensities.first_seed(polarity)
        if first is None:
            continue
        part = progress.part(half / 2, (half + 1) / 2)
        mapped = find(
            volume, distances.tolist(), first.tolist(), mask, part.part(0.0, MAP_SHARE), None
        )
        if mapped.polarity != polarity:
            continue
        tubes = part.part(MAP_SHARE, 1.0)
        seeds = tubular_voxels(mapped, intensities.soft, count, tubes)
        if len(seeds):
            progress.advance(1.0)
            return seeds
    raise NothingTubularError(in_mask=mask is not None)
