"""Evidence of vessels: the contrast of each voxel to its local background, in units of noise."""

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from FuzzyVesselCoreLib.voxels.bounding_box import bounding_box, full_box, padded_box

from ..neighbourhood import at_click
from ..paths.widest_paths import widest_paths
from .filters import gaussian_weights, self_guided, separable
from .tissue import tissue_round

# Lengths are multiples of the smallest spacing, as a vessel's image is at least as wide as a voxel.
# How the constants were chosen: Documentation/decisions/0007-contrast-model.md.
SMOOTHING = 0.6
GUIDE = 1.5
GUIDED_PASSES = 2
BACKGROUND, WIDE_BACKGROUND = 6.0, 20.0
LOWEST = 10.0  # deviations below the median at which intensities are clipped (air)
# From so many times the brightest click's difference to the tissue on a voxel is no vessel (bone,
# metal); that difference counts as so many of the tissue's deviations at least.
FAR_BRIGHTER, FAR_FROM_TISSUE = 2.0, 6.0
DARK = -4.0  # contrast in deviations at the first click from which on vessels are dark
MARGIN = 4.0  # round a mask
LARGEST = 1e15  # intensities beyond it (fill values) are clipped: float32 must hold their squares


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
    _first_seed: tuple = field(repr=False, default=())

    @property
    def origin(self):
        """K, J, I of the box's first voxel in the volume."""
        return np.array([s.start for s in self.box])

    def holds_for(self, first_seed):
        """Whether another first seed would give the same evidence."""
        seed = tuple(int(c) for c in np.asarray(first_seed) - self.origin)
        if seed == self._first_seed:
            return True
        dark = self.polarity * self.contrast[seed] < DARK * self.noise
        return self._tissue.alone and dark == (self.polarity < 0)

    def brighter_objects(self, clicks):
        """The intensity (smooth) above which voxels are other objects, as bone or metal, or None.

        Only where the volume holds several tissues: elsewhere brighter voxels are vessels.
        """
        if self._tissue.whole:
            return None
        brightest = max(self._smooth_at(click) for click in clicks)
        tissue = self.polarity * self._tissue.median
        least = FAR_FROM_TISSUE * self._tissue.deviation
        return tissue + FAR_BRIGHTER * max(brightest - tissue, least)

    def _smooth_at(self, click):
        return at_click(self.smooth, click)

    def widest_paths(self, starts, unit, floor, brighter=None, gpu=None):
        """Levels of the widest paths through the contrast; see `widest_paths.widest_paths`.

        Parameters
        ----------
        brighter : float or None
            What `brighter_objects` returned.
        gpu : CudaDevice, optional
            The card that follows the paths.
        """
        rivals = None if brighter is None else np.flatnonzero(self.smooth > brighter)
        return widest_paths(self.contrast, self.inside, starts, unit, floor, rivals, gpu)

    @cached_property
    def wide_contrast(self):
        """Contrast to a wider background, and its noise: for vessels as wide as the first one."""
        smooth = self.polarity * self.smooth
        background = self._tissue.background(smooth, WIDE_BACKGROUND / self.unit)
        return self._tissue.centred(self.polarity * (smooth - background))

    @cached_property
    def difference(self):
        """Difference to the median of the surroundings, and its noise: no background at all."""
        return self._tissue.centred(self.smooth)


def vessel_evidence(volume, spacing, first_seed, mask=None, check=lambda: None, gpu=None):
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
    gpu : CudaDevice, optional
        The card that does it, inside its ``with`` block; its values differ from the CPU's by
        float32's rounding, and stay on the card beside what is asked for on the host.

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
    if gpu is not None:
        from .cuda_vessel_evidence import vessel_evidence as on_card

        return on_card(volume, spacing, first_seed, mask, check, gpu)
    unit = np.asarray(spacing, float) / min(spacing)
    box = box_of(mask, volume.shape, unit)
    inside = None if mask is None else np.ascontiguousarray(mask[box])
    seed = [int(c) - s.start for c, s in zip(first_seed, box)]
    raw = clipped(volume[box]).astype(np.float32)
    tissue = tissue_round(raw, inside, seed, unit)
    if tissue.deviation > 0:
        np.maximum(raw, np.float32(tissue.median - LOWEST * tissue.deviation), out=raw)
    check()
    background = tissue.background(raw, BACKGROUND / unit)
    smooth = separable(raw, [gaussian_weights(SMOOTHING / u) for u in unit], check)
    radii = [round(GUIDE / u) for u in unit]
    # About 0: squares of intensities far from it would not resolve the noise in float32.
    smooth -= np.float32(tissue.median)
    for _pass in range(GUIDED_PASSES):
        smooth = self_guided(smooth, radii, tissue.noise(smooth), check)
    smooth += np.float32(tissue.median)
    contrast, noise = tissue.centred(smooth - background)
    polarity = 1
    if contrast[tuple(seed)] < DARK * noise:
        polarity = -1
        np.negative(contrast, out=contrast)
        np.negative(smooth, out=smooth)
    return Evidence(box, contrast, noise, smooth, inside, unit, polarity, tissue, tuple(seed))


def clipped(volume):
    """The volume itself, or a copy without values beyond `LARGEST`."""
    if volume.dtype.kind == "f" and max(volume.max(), -volume.min()) > LARGEST:
        return np.clip(volume, -LARGEST, LARGEST)
    return volume


def box_of(mask, shape, unit):
    """The part of the volume that holds the mask, and what its border needs."""
    if mask is None:
        return full_box(shape)
    margin = [int(np.ceil(MARGIN / step)) for step in unit]
    return padded_box(bounding_box(mask), margin, shape)
