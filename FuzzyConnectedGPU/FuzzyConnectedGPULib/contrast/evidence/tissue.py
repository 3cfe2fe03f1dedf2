"""The tissue round the vessels: its typical intensity, its spread, and the noise in it."""

import numpy as np

from ...affinity.gaussian_affinity import MAD_TO_SIGMA
from .background import local_background

NO_BACKGROUND = 2.5  # deviations from the median beyond which a voxel may be vessel, bone or air
SURROUNDINGS = 40.0, 15.0  # half sides of the boxes round the first click ..
SEVERAL = 15.0  # noise of single voxels: a wider spread is that of several tissues (air, fat, bone)
MUCH_MORE = 2.0  # .. whose tissue counts where the click stands out so many times more from it
MOST_SAMPLES = 1 << 18
LEAST_SAMPLES = 1000  # .. with fewer inside a mask, all of its voxels are looked at
LEAST_NOISE = 1e-6  # where there is none; of the range of intensities, where that is below 1
MUCH_BLANK = 0.2  # share of voxels with the lowest value from which on it stands for "no signal"
LEAST_DISTANCE = 1.8  # deviations between the click and the tissue round it
# A tissue of many: a mode of the histogram, of at least this share of the highest one, at least so
# many deviations of the voxels' noise from the click.
MODE_SHARE, MODE_DISTANCE = 0.25, 2.5
WIDENED, ROUNDS = 3.0, 10  # its spread: of what lies within so many deviations, until it stays


class Tissue:
    """Median and spread of the voxels of a part of the volume, or of one tissue among them.

    Attributes
    ----------
    median, deviation : float
        Of the raw intensities.
    whole : bool
        Whether it is the median of the whole volume.
    single : bool
        Whether it is one tissue of several.
    alone : bool
        Whether the volume holds this tissue alone, so that it is the same for every click.
    least_noise : float
        Taken for the noise where there is less.
    """

    def __init__(self, part, inside, raw, here=None):
        """part: tuple of slices; inside: uint8 of the volume's shape, or None; raw: the volume.

        With `here`, the intensity at the click, the tissue is the nearest one to it.
        """
        self._inside = inside
        whole = all(s.stop - s.start == n for s, n in zip(part, raw.shape))
        self.whole = whole and here is None
        self.alone = self.single = False
        self._sample = _sample_of(part)
        values = self.values(raw)
        if len(values) < LEAST_SAMPLES:
            self._sample = tuple(slice(s.start, s.stop, 1) for s in part)
            values = self.values(raw)
        self.median, self.deviation = median_and_deviation(values)
        self.least_noise = LEAST_NOISE * (min(1.0, float(np.ptp(values))) or 1.0)
        blank = values == values.min()
        much_blank = MUCH_BLANK < blank.mean() < 1
        self._signal = ~blank if much_blank else np.ones(len(values), bool)
        if here is not None:
            self._take_nearest(values, here, noise_of_voxels(raw[part]))

    def _take_nearest(self, values, here, noise):
        found = nearest_tissue(values, here, noise)
        self.single = found is not None
        if self.single:
            self.median, self.deviation = found
            reach = NO_BACKGROUND * self.deviation
            self._signal = np.abs(values - self.median) < reach

    def distance(self, value):
        """How far a value lies from the tissue, in its deviations."""
        return abs(value - self.median) / max(self.deviation, self.least_noise)

    def values(self, volume):
        """The sample's values of a volume of the same shape."""
        values = volume[self._sample].astype(np.float32, copy=False)
        if self._inside is not None:
            values = values[self._inside[self._sample] > 0]
        return values.ravel()

    def samples(self):
        """Where the sample lies, and what its voxels are.

        Returns
        -------
        part : tuple of 3 slice
        flags : ndarray, uint8
            2 in the tissue, 1 elsewhere inside of the mask, 0 outside.
        """
        shape = [len(range(s.start, s.stop, s.step)) for s in self._sample]
        flags = np.zeros(shape, np.uint8)
        inside = slice(None) if self._inside is None else self._inside[self._sample] > 0
        flags[inside] = (1 + self._signal).reshape(shape if self._inside is None else -1)
        return self._sample, flags

    def noise(self, volume):
        """Deviation of the tissue's voxels in a volume of the same shape."""
        return max(median_and_deviation(self.values(volume)[self._signal])[1], self.least_noise)

    def background(self, volume, sigmas):
        """Local background of a volume of raw or denoised intensities; see `local_background`."""
        usable = np.abs(volume - np.float32(self.median)) < NO_BACKGROUND * self.deviation
        if self.deviation == 0:
            usable = volume <= self.median
        if self._inside is not None:
            usable &= self._inside > 0
        return local_background(volume, usable, sigmas, self.median)

    def centred(self, volume):
        """The volume minus the tissue's median in it, and its noise."""
        values = self.values(volume)
        values = values if self.whole else values[self._signal]
        volume = volume - np.float32(np.median(values))
        return volume, self.noise(volume)


def tissue_round(raw, inside, seed, unit):
    """The tissue of the whole volume; of a scan of several tissues the nearest to the click's.

    The spread of a scan that holds air and bone says nothing of the tissue round the vessels.
    """
    here = float(np.median(raw[tuple(slice(max(c - 1, 0), c + 2) for c in seed)]))
    everything = tuple(slice(0, n) for n in raw.shape)
    whole = Tissue(everything, inside, raw)
    noise = noise_of_voxels(raw)
    if not 0 < SEVERAL * noise < whole.deviation:
        whole.alone = True
        return whole
    parts = (everything, *(_box_round(seed, raw.shape, r / unit) for r in SURROUNDINGS))
    parts = [part for part in parts if inside is None or inside[part].any()]
    tissues = [Tissue(part, inside, raw, here) for part in parts]
    tissues = [tissue for tissue in tissues if tissue.single]
    least = max(MUCH_MORE * whole.distance(here), LEAST_DISTANCE)
    apart = [tissue for tissue in tissues if tissue.distance(here) > least]
    if apart:
        return min(apart, key=lambda tissue: abs(tissue.median - here))
    # A click that stands out from none: of the tissues round it the most even one.
    return min(tissues, key=lambda tissue: tissue.deviation, default=whole)


def nearest_tissue(values, here, noise):
    """Median and deviation of the tissue whose mode is nearest to an intensity; None if none is.

    Parameters
    ----------
    values : ndarray, one-dimensional
    here : float
        The intensity at the click, which is no part of the tissue.
    noise : float
        Standard deviation of single voxels: the width of the histogram's bins.
    """
    low, high = np.quantile(values, (0.001, 0.999))
    if noise <= 0 or not (high - low) / noise >= 3:
        return None
    bins = int(min(np.ceil((high - low) / noise), 4096))
    counts, edges = np.histogram(values, bins, (low, high))
    counts = np.convolve(np.pad(counts, 1, mode="edge"), [0.25, 0.5, 0.25], "valid")
    middles = (edges[:-1] + edges[1:]) / 2
    higher = np.r_[0, counts[:-1]], np.r_[counts[1:], 0]
    modes = (counts >= higher[0]) & (counts >= higher[1]) & (counts >= MODE_SHARE * counts.max())
    apart = modes & (np.abs(middles - here) >= MODE_DISTANCE * noise)
    modes = apart if apart.any() else modes  # a faint click may lie amid its tissue
    median = middles[modes][np.abs(middles[modes] - here).argmin()]
    deviation = 2 * noise
    for _round in range(ROUNDS):
        near = values[np.abs(values - median) < WIDENED * deviation]
        before = deviation
        median, deviation = median_and_deviation(near)
        if deviation == 0 or abs(deviation - before) < 0.01 * before:
            break
    return (median, deviation) if deviation > 0 else None


def noise_of_voxels(part):
    """Deviation of single voxels, from differences of neighbours."""
    step = max(1, round((part.size / MOST_SAMPLES) ** 0.5))
    rows = part[::step, ::step].astype(np.float32, copy=False)
    if rows.shape[2] < 2:
        return 0.0
    return median_and_deviation(np.diff(rows, axis=2).ravel())[1] / np.sqrt(2)


def median_and_deviation(values):
    """Median, and standard deviation from the median absolute deviation."""
    if not len(values):
        return 0.0, 0.0
    median = float(np.median(values))
    return median, MAD_TO_SIGMA * float(np.median(np.abs(values - median)))


def _sample_of(part):
    """Every so many voxels of a part; of its shortest axis most of them."""
    steps = [1, 1, 1]
    counts = [s.stop - s.start for s in part]
    while np.prod(counts) > MOST_SAMPLES:
        longest = int(np.argmax(counts))
        steps[longest] += 1
        counts[longest] = -(-(part[longest].stop - part[longest].start) // steps[longest])
    return tuple(slice(s.start, s.stop, step) for s, step in zip(part, steps))


def _box_round(seed, shape, reach):
    """The box round a seed whose tissue is looked at."""
    reach = np.ceil(reach).astype(int)
    return tuple(slice(max(c - r, 0), min(c + r + 1, n)) for c, r, n in zip(seed, reach, shape))
