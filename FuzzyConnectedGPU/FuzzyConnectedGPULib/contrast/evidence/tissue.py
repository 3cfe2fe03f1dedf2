"""The tissue around the vessels: its typical intensity, its spread, and the noise in it."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from FuzzyVesselCoreLib.voxels.medians import median

from .background import local_background
from .difference import difference
from .tissue_statistics import median_and_deviation, nearest_tissue, sample_of, voxel_noise

NO_BACKGROUND = 2.5  # deviations from the median beyond which a voxel may be vessel, bone or air
SURROUNDINGS = 40.0, 15.0  # half sides of the boxes around the first click ..
SEVERAL = 15.0  # noise of single voxels: a wider spread is that of several tissues (air, fat, bone)
MUCH_MORE = 2.0  # .. whose tissue counts where the click stands out so many times more from it
MIN_SAMPLES = 1000  # with fewer inside a mask, all of its voxels are used
MIN_NOISE = 1e-6  # where there is none; of the range of intensities, where that is below 1
MUCH_BLANK = 0.2  # share of voxels with the lowest value from which on it stands for "no signal"
MIN_DISTANCE = 1.8  # deviations between the click and the tissue around it
# A wide vessel (an aorta) stands out from none: it is itself the tissue in the small box, and in
# the large one fat, muscle and bone grow into one. Then the spread is at most so many times the
# noise.
NARROW = 1.7


class Tissue:
    """Median and spread of the voxels of a part of the volume, or of one tissue among them.

    Parameters
    ----------
    part : tuple of slice
        Of the volume.
    inside : ndarray of uint8 or None
        The mask, of the volume's shape.
    raw : ndarray
        The volume.
    intensity : float, optional
        At the click: the tissue is then the nearest one to it.
    widest : float
        Upper bound of its deviation, in multiples of the noise.

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
    min_noise : float
        Lower bound of the noise.
    """

    def __init__(
        self,
        part: tuple[slice, ...],
        inside: np.ndarray | None,
        raw: np.ndarray,
        intensity: float | None = None,
        widest: float = np.inf,
    ) -> None:
        self._inside = inside
        whole = all(s.stop - s.start == n for s, n in zip(part, raw.shape))
        self.whole = whole and intensity is None
        self.alone = self.single = False
        self._sample = sample_of(part)
        values = self.values(raw)
        if len(values) < MIN_SAMPLES:
            self._sample = tuple(slice(s.start, s.stop, 1) for s in part)
            values = self.values(raw)
        self.median, self.deviation = median_and_deviation(values)
        self.min_noise = MIN_NOISE * (min(1.0, float(np.ptp(values))) or 1.0)
        blank = values == values.min()
        much_blank = MUCH_BLANK < blank.mean() < 1
        self._signal = ~blank if much_blank else np.ones(len(values), bool)
        if intensity is not None:
            self._choose_nearest(values, intensity, voxel_noise(raw[part]), widest)

    def _choose_nearest(
        self, values: np.ndarray, intensity: float, noise: float, widest: float
    ) -> None:
        found = nearest_tissue(values, intensity, noise, widest)
        self.single = found is not None
        if found is not None:
            self.median, self.deviation = found
            reach = NO_BACKGROUND * self.deviation
            self._signal = np.abs(values - self.median) < reach

    def distance(self, value: float) -> float:
        """Distance of a value from the median, in the tissue's deviations."""
        return abs(value - self.median) / max(self.deviation, self.min_noise)

    def values(self, volume: np.ndarray) -> np.ndarray:
        """The sample's values of a volume of the same shape."""
        values = volume[self._sample].astype(np.float32, copy=False)
        if self._inside is not None:
            values = values[self._inside[self._sample] > 0]
        return values.ravel()

    def samples(self) -> tuple[tuple[slice, ...], np.ndarray]:
        """Position of the sample, and the class of its voxels.

        Returns
        -------
        part : tuple of 3 slice
        flags : ndarray, uint8
            2 in the tissue, 1 elsewhere inside the mask, 0 outside.
        """
        shape = [len(range(s.start, s.stop, s.step)) for s in self._sample]
        flags = np.zeros(shape, np.uint8)
        inside = ... if self._inside is None else self._inside[self._sample] > 0
        flags[inside] = (1 + self._signal).reshape(shape if self._inside is None else -1)
        return self._sample, flags

    def noise(self, volume: np.ndarray) -> float:
        """Standard deviation of the tissue's voxels in a volume of the same shape."""
        return max(median_and_deviation(self.values(volume)[self._signal])[1], self.min_noise)

    def background(self, volume: np.ndarray, sigmas: np.ndarray) -> np.ndarray:
        """Local background of raw or denoised intensities; see `local_background`."""
        return local_background(volume, self._inside, sigmas, self.median, self.background_limit)

    @property
    def background_limit(self) -> float:
        """How much voxels of the background may differ from the median; see `local_background`."""
        return NO_BACKGROUND * self.deviation if self.deviation > 0 else -1.0

    def centred(self, volume: np.ndarray) -> tuple[np.ndarray, float]:
        """The volume minus the tissue's median in it, and its noise."""
        values = self.values(volume)
        values = values if self.whole else values[self._signal]
        centred = difference(volume, np.float32(median(values)))
        return centred, self.noise(centred)


def tissue_near(
    raw: np.ndarray, inside: np.ndarray | None, seed: Sequence[int], unit: np.ndarray
) -> Tissue:
    """The tissue of the whole volume; in a scan of several tissues the one around the click.

    The spread of a scan that holds air and bone says nothing about the tissue around the vessels.
    """
    intensity = float(median(raw[tuple(slice(max(c - 1, 0), c + 2) for c in seed)]))
    everything = tuple(slice(0, n) for n in raw.shape)
    # Medians are most of the work, and numpy finds them in parallel.
    with ThreadPoolExecutor(len(SURROUNDINGS) + 1) as pool:
        found = pool.submit(voxel_noise, raw)
        whole = Tissue(everything, inside, raw)
        if not 0 < SEVERAL * found.result() < whole.deviation:
            whole.alone = True
            return whole
        parts = [everything, *(_box_around(seed, raw.shape, r / unit) for r in SURROUNDINGS)]
        parts = [part for part in parts if inside is None or inside[part].any()]

        def tissues(widest: float) -> list[Tissue]:
            found = pool.map(lambda part: Tissue(part, inside, raw, intensity, widest), parts)
            return [tissue for tissue in found if tissue.single]

        wide = tissues(np.inf)
        least = max(MUCH_MORE * whole.distance(intensity), MIN_DISTANCE)
        apart = [tissue for tissue in wide if tissue.distance(intensity) > least]
        if not apart:
            apart = [tissue for tissue in tissues(NARROW) if tissue.distance(intensity) > least]
    if apart:
        return min(apart, key=lambda tissue: abs(tissue.median - intensity))
    # A click that stands out from none: the most homogeneous of the tissues around it.
    return min(wide, key=lambda tissue: tissue.deviation, default=whole)


def _box_around(seed: Sequence[int], shape: Sequence[int], reach: np.ndarray) -> tuple[slice, ...]:
    """The box around a seed, cut at the volume's border."""
    reach = np.ceil(reach).astype(int)
    return tuple(slice(max(c - r, 0), min(c + r + 1, n)) for c, r, n in zip(seed, reach, shape))
