"""Evidence of vessels: the contrast of each voxel to its local background, in units of noise."""

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from ..affinity import MAD_TO_SIGMA
from .background import local_background
from .filters import gaussian_weights, self_guided, separable

# Lengths are multiples of the smallest spacing, as a vessel's image is at least as wide as a voxel.
# Chosen on 3D-IRCADb-01 case 01, tsf1 and poon2015, confirmed on ve, lowerRes and bbbDisruption.
SMOOTHING = 0.6
GUIDE = 1.5
GUIDED_PASSES = 2
BACKGROUND, WIDE_BACKGROUND = 6.0, 20.0
NO_BACKGROUND = 2.5  # deviations from the median beyond which a voxel may be vessel, bone or air
LOWEST = 10.0  # deviations below the median at which intensities are clipped (air)
SURROUNDINGS = 40.0  # half side of the box round the first click ..
MUCH_CALMER = 0.5  # .. whose tissue counts where its deviation is below this share of the whole's
MOST_SAMPLES = 1 << 20
MUCH_BLANK = 0.2  # share of voxels with the lowest value from which on it stands for "no signal"
DARK = -4.0  # contrast in deviations at the first click from which on vessels are dark
MARGIN = 4.0  # round a mask


@dataclass(frozen=True)
class Evidence:
    """What the clicks are judged by, on the box of the volume that the mask needs.

    Attributes
    ----------
    box : tuple of 3 slice
        Of the volume, K, J, I; all arrays have its shape.
    contrast : ndarray, float32
        Denoised intensity minus local background; vessels are above 0, bright or dark.
    noise : float
        Standard deviation of the contrast where there is no vessel.
    smooth : ndarray, float32
        Denoised intensity, its sign turned for dark vessels.
    inside : ndarray of uint8 or None
        1 where vessels may be.
    unit : ndarray, shape (3,)
        Spacing along K, J, I in multiples of the smallest.
    polarity : int
        1 for bright vessels, -1 for dark ones.
    """

    box: tuple
    contrast: np.ndarray
    noise: float
    smooth: np.ndarray
    inside: np.ndarray | None
    unit: np.ndarray
    polarity: int
    _tissue: object = field(repr=False)

    @cached_property
    def wide_contrast(self):
        """Contrast to a wider background, and its noise: for vessels as wide as the first one."""
        background = self._tissue.background(self.smooth, WIDE_BACKGROUND / self.unit)
        return self._tissue.centred(self.smooth - background)

    @cached_property
    def difference(self):
        """Difference to the median of the surroundings, and its noise: no background at all."""
        return self._tissue.centred(self.smooth)


class _Tissue:
    """Median and spread of the voxels of a part of the volume."""

    def __init__(self, part, inside, raw):
        """part: tuple of slices; inside: uint8 of the volume's shape, or None; raw: the volume."""
        self._inside = inside
        step = max(1, round((np.prod([s.stop - s.start for s in part]) / MOST_SAMPLES) ** (1 / 3)))
        self._sample = tuple(slice(s.start, s.stop, step) for s in part)
        values = self.values(raw)
        self.median, self.deviation = median_and_deviation(values)
        blank = values == values.min()
        self._signal = ~blank if blank.mean() > MUCH_BLANK else np.ones(len(values), bool)

    def values(self, volume):
        values = volume[self._sample]
        if self._inside is not None:
            values = values[self._inside[self._sample] > 0]
        return values.ravel()

    def noise(self, volume):
        """Deviation of the voxels with a signal."""
        return max(median_and_deviation(self.values(volume)[self._signal])[1], 1e-6)

    def background(self, volume, sigmas):
        usable = np.abs(volume - np.float32(self.median)) < NO_BACKGROUND * self.deviation
        if self.deviation == 0:
            usable = volume <= self.median
        if self._inside is not None:
            usable &= self._inside > 0
        return local_background(volume, usable, sigmas, self.median)

    def centred(self, volume):
        """The volume minus its median, and its noise."""
        volume = volume - np.float32(np.median(self.values(volume)))
        return volume, self.noise(volume)


def median_and_deviation(values):
    """Median, and standard deviation from the median absolute deviation."""
    median = float(np.median(values))
    return median, MAD_TO_SIGMA * float(np.median(np.abs(values - median)))


def vessel_evidence(volume, spacing, first_seed, mask=None, check=lambda: None):
    """Evidence of vessels in a volume.

    Noise is taken out by a narrow Gaussian and self-guided filters, whose strength follows the
    noise; the local background is a wide Gaussian over voxels near the median.

    Parameters
    ----------
    volume : ndarray, shape (K, J, I)
        Checked: see `checks.checked_volume`.
    spacing : sequence of 3 float
        Distance of voxels along K, J, I, in any unit.
    first_seed : sequence of 3 int
        K, J, I: the tissue round it is the background, and it tells bright vessels from dark ones.
    mask : ndarray of uint8, same shape, optional
        1 where vessels may be.
    check : callable
        Raises `Cancelled` to abort.

    Returns
    -------
    Evidence

    Examples
    --------
    >>> import numpy as np
    >>> volume = np.random.default_rng(1).normal(0, 1, (24, 24, 24))
    >>> volume[:, 10:14, 10:14] += 20
    >>> evidence = vessel_evidence(volume, (1, 1, 1), (12, 12, 12))
    >>> evidence.polarity, bool(evidence.contrast[3, 12, 12] > 10 * evidence.noise)
    (1, True)
    """
    unit = np.asarray(spacing, float) / min(spacing)
    box = _box_of(mask, volume.shape, unit)
    inside = None if mask is None else np.ascontiguousarray(mask[box])
    seed = [int(c) - s.start for c, s in zip(first_seed, box)]
    raw = volume[box].astype(np.float32)
    tissue = _calm_tissue(raw, inside, seed, unit)
    if tissue.deviation > 0:
        np.maximum(raw, np.float32(tissue.median - LOWEST * tissue.deviation), out=raw)
    check()
    background = tissue.background(raw, BACKGROUND / unit)
    smooth = separable(raw, [gaussian_weights(SMOOTHING / u) for u in unit], check)
    radii = [round(GUIDE / u) for u in unit]
    for _pass in range(GUIDED_PASSES):
        smooth = self_guided(smooth, radii, tissue.noise(smooth), check)
    contrast, noise = tissue.centred(smooth - background)
    polarity = 1
    if contrast[tuple(seed)] < DARK * noise:
        polarity = -1
        np.negative(contrast, out=contrast)
        np.negative(smooth, out=smooth)
        tissue.median = -tissue.median
    return Evidence(box, contrast, noise, smooth, inside, unit, polarity, tissue)


def _box_of(mask, shape, unit):
    """The part of the volume that holds the mask, and what its border needs."""
    if mask is None:
        return tuple(slice(0, n) for n in shape)
    box = []
    for axis, size in enumerate(shape):
        others = tuple(a for a in range(3) if a != axis)
        places = np.flatnonzero(mask.any(axis=others))
        margin = int(np.ceil(MARGIN / unit[axis]))
        box.append(slice(max(int(places[0]) - margin, 0), min(int(places[-1]) + margin + 1, size)))
    return tuple(box)


def _calm_tissue(raw, inside, seed, unit):
    """The tissue of the whole volume, or of the first click's surroundings where it is calmer.

    A whole scan holds air and bone, whose spread says nothing of the tissue round the vessels.
    """
    whole = _Tissue(tuple(slice(0, n) for n in raw.shape), inside, raw)
    part = _surroundings(seed, raw.shape, unit)
    if inside is not None and not inside[part].any():
        return whole
    near = _Tissue(part, inside, raw)
    return near if near.deviation < MUCH_CALMER * whole.deviation else whole


def _surroundings(seed, shape, unit):
    """The box round a seed whose tissue is looked at."""
    reach = np.ceil(SURROUNDINGS / unit).astype(int)
    return tuple(slice(max(c - r, 0), min(c + r + 1, n)) for c, r, n in zip(seed, reach, shape))
