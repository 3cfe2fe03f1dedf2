"""The tissue around the vessels: its typical intensity, its spread, and the noise in it."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from ..affinity import MAD_TO_SIGMA
from .background import LocalBackground
from .filters import Array, module_of, pointwise

NO_BACKGROUND = 2.5  # deviations from the median beyond which a voxel may be vessel, bone or air
SURROUNDINGS = 40.0, 15.0  # half sides of the boxes around the first click ..
SEVERAL = 15.0  # noise of single voxels: a wider spread is that of several tissues (air, fat, bone)
MUCH_MORE = 2.0  # .. whose tissue counts where the click stands out so many times more from it
MAX_SAMPLES = 1 << 18
MIN_SAMPLES = 1000  # with fewer inside a mask, all of its voxels are used
MAX_DISTINCT = 256  # intensities, or a quarter of the samples: fewer are counted
MIN_NOISE = 1e-6  # where there is none; of the range of intensities, where that is below 1
MUCH_BLANK = 0.2  # share of voxels with the lowest value from which on it stands for "no signal"
MIN_DISTANCE = 1.8  # deviations between the click and the tissue around it
# A wide vessel (an aorta) stands out from none: it is itself the tissue in the small box, and in
# the large one fat, muscle and bone grow into one. Then the spread is at most so many times the
# noise.
NARROW = 1.7
# A tissue of several: a mode of the histogram, of at least this share of the highest one, and at
# least so many standard deviations of the voxels' noise from the click.
MODE_SHARE, MODE_DISTANCE = 0.25, 2.5
# Its spread: of the voxels within so many deviations, iterated until it converges. Where other
# tissues mix in, the wide limit grows with them: a spread that is so much wider than that of the
# core counts as the core's. A Gaussian cut off at the core's limit has a smaller spread.
WIDE, CORE, CORE_TO_DEVIATION = 3.0, 2.0, 1.055
MIXED, ITERATIONS = 1.4, 10


class Tissue:
    """Median and deviation of the raw intensities of a part of the volume, or of one tissue in it.

    With an intensity (at the click) it is the tissue nearest to that, whose deviation is at most
    `widest` times the noise. `whole`: the median is the whole volume's; `single`: it is one tissue
    of several; `alone`: the only one in the volume, so that it is the same for every click.
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
        values = self._values(raw)
        if len(values) < MIN_SAMPLES:
            self._sample = tuple(slice(s.start, s.stop, 1) for s in part)
            values = self._values(raw)
        self.median, self.deviation = median_and_deviation(values)
        self._min_noise = MIN_NOISE * (min(1.0, float(np.ptp(values))) or 1.0)
        blank = values == values.min()
        much_blank = MUCH_BLANK < blank.mean() < 1
        self._signal = ~blank if much_blank else np.ones(len(values), bool)
        if intensity is None:
            return
        found = nearest_tissue(values, intensity, voxel_noise(raw[part]), widest)
        self.single = found is not None
        if found is not None:
            self.median, self.deviation = found
            self._signal = np.abs(values - self.median) < NO_BACKGROUND * self.deviation

    def distance(self, value: float) -> float:
        """Distance of a value from the median, in the tissue's deviations."""
        return abs(value - self.median) / max(self.deviation, self._min_noise)

    def noise(self, volume: Array) -> float:
        """Standard deviation of the tissue's voxels in a volume (array) of the same shape."""
        values = self._values(volume, self._signal)
        return max(MAD_TO_SIGMA * _median(abs(values - _median(values))), self._min_noise)

    def centred(self, volume: Array) -> tuple[Array, float]:
        """The volume minus the tissue's median in it, in place; and its noise."""
        median = np.float32(_median(self._values(volume, None if self.whole else self._signal)))
        pointwise(lambda values: values - median, volume, volume)
        return volume, self.noise(volume)

    def background(
        self, volume: Array, inside: Array | None, sigmas: np.ndarray
    ) -> LocalBackground:
        """Local background of raw or denoised intensities; `inside` is where the volume is."""
        limit = NO_BACKGROUND * self.deviation if self.deviation > 0 else -1.0
        return LocalBackground(volume, inside, sigmas, self.median, limit)

    def _values(self, volume: Array, wanted: np.ndarray | None = None) -> Array:
        """The sample's values (float32) in the mask; of these the wanted ones."""
        xp = module_of(volume)
        values = volume[self._sample].astype(np.float32, copy=False)
        if self._inside is not None:
            values = values[xp.asarray(self._inside[self._sample] > 0)]
        values = values.ravel()
        return values if wanted is None else values[xp.asarray(wanted)]


def tissue_near(
    raw: np.ndarray, inside: np.ndarray | None, seed: Sequence[int], unit: np.ndarray
) -> Tissue:
    """The tissue of the whole volume; in a scan of several tissues the one around the click.

    The spread of a scan that holds air and bone says nothing about the tissue around the vessels.
    """
    intensity = float(np.median(raw[tuple(slice(max(c - 1, 0), c + 2) for c in seed)]))
    everything = tuple(slice(0, n) for n in raw.shape)
    whole = Tissue(everything, inside, raw)
    if not 0 < SEVERAL * voxel_noise(raw) < whole.deviation:
        whole.alone = True
        return whole
    parts = [everything, *(_box_around(seed, raw.shape, r / unit) for r in SURROUNDINGS)]
    parts = [part for part in parts if inside is None or inside[part].any()]

    def tissues(widest: float) -> list[Tissue]:
        with ThreadPoolExecutor(len(parts)) as pool:  # medians are most of the work
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


def sample_of(part: Sequence[slice]) -> tuple[slice, ...]:
    """A part with steps that leave at most `MAX_SAMPLES` voxels; long axes get larger steps."""
    steps = [1, 1, 1]
    counts = [s.stop - s.start for s in part]
    while np.prod(counts) > MAX_SAMPLES:
        longest = int(np.argmax(counts))
        steps[longest] += 1
        counts[longest] = -(-(part[longest].stop - part[longest].start) // steps[longest])
    return tuple(slice(s.start, s.stop, step) for s, step in zip(part, steps))


def nearest_tissue(
    values: np.ndarray, intensity: float, noise: float, widest: float = np.inf
) -> tuple[float, float] | None:
    """Median and deviation of the tissue whose mode is nearest to an intensity; None without one.

    The click, with that intensity, is no part of the tissue. The noise of single voxels is the
    width of the histogram's bins, and the core's deviation is at most `widest` times that.
    """
    low, high = np.quantile(values, (0.001, 0.999))
    if noise <= 0 or not (high - low) / noise >= 3:
        return None
    bins = int(min(np.ceil((high - low) / noise), 4096))
    values, numbers = _counted(values)
    counts, edges = np.histogram(values, bins, (low, high), weights=numbers)
    counts = np.convolve(np.pad(counts, 1, mode="edge"), [0.25, 0.5, 0.25], "valid")
    middles = (edges[:-1] + edges[1:]) / 2
    higher = np.r_[0, counts[:-1]], np.r_[counts[1:], 0]
    modes = (counts >= higher[0]) & (counts >= higher[1]) & (counts >= MODE_SHARE * counts.max())
    apart = modes & (np.abs(middles - intensity) >= MODE_DISTANCE * noise)
    modes = apart if apart.any() else modes  # a faint click may lie inside its tissue
    median = middles[modes][np.abs(middles[modes] - intensity).argmin()]
    wide = _spread_near(values, numbers, median, 2 * noise, WIDE)
    core = _spread_near(values, numbers, median, 2 * noise, CORE, CORE_TO_DEVIATION, widest * noise)
    if core[1] > 0 and wide[1] > MIXED * core[1]:
        return core
    return wide if wide[1] > 0 else None


def _spread_near(
    values: np.ndarray,
    numbers: np.ndarray | None,
    median: float,
    deviation: float,
    limit: float,
    factor: float = 1.0,
    widest: float = np.inf,
) -> tuple[float, float]:
    """Median and deviation of the values within `limit` deviations of the median, iterated."""
    for _ in range(ITERATIONS):
        near = np.abs(values - median) < limit * deviation
        before = deviation
        found = values[near], None if numbers is None else numbers[near]
        median, deviation = _median_and_deviation(*found)
        deviation = min(deviation * factor, widest)
        if deviation == 0 or abs(deviation - before) < 0.01 * before:
            break
    return median, deviation


def voxel_noise(part: np.ndarray) -> float:
    """Standard deviation of single voxels, from differences of neighbours."""
    step = max(1, round((part.size / MAX_SAMPLES) ** 0.5))
    rows = part[::step, ::step].astype(np.float32, copy=False)
    if rows.shape[2] < 2:
        return 0.0
    return median_and_deviation(np.diff(rows, axis=2).ravel())[1] / np.sqrt(2)


def median_and_deviation(values: np.ndarray) -> tuple[float, float]:
    """Median, and standard deviation estimated from the median absolute deviation."""
    return _median_and_deviation(*_counted(values))


def _median_and_deviation(
    values: np.ndarray, numbers: np.ndarray | None = None
) -> tuple[float, float]:
    """Of values that are there so many times, or once each."""
    if not len(values):
        return 0.0, 0.0
    median = _median(values, numbers)
    return median, MAD_TO_SIGMA * _median(np.abs(values - median), numbers)


def _median(values: Array, numbers: np.ndarray | None = None) -> float:
    """What `np.median` gives, bit for bit; 0 of nothing."""
    xp, count = module_of(values), len(values)
    if not count:
        return 0.0
    if numbers is not None:
        order = np.argsort(values, kind="stable")
        ends = np.cumsum(numbers[order])
        middle = np.searchsorted(ends, [(ends[-1] - 1) // 2, ends[-1] // 2], side="right")
        return float(np.mean(values[order[middle]]))
    if xp is np:
        return float(np.median(values))
    middle = xp.sort(values)[(count - 1) // 2 : count // 2 + 1].get()
    return float(np.mean(middle))


def _counted(values: np.ndarray) -> tuple[np.ndarray, np.ndarray | None]:
    """The distinct values of integer intensities and their numbers; else all values and None.

    Of a quarter of a million intensities in a CT, a few thousand are distinct.
    """
    lowest = values.min(initial=np.inf)
    if not len(values) or values.max() - lowest > max(MAX_DISTINCT, len(values) // 4):
        return values, None
    places = (values - lowest).astype(np.int64)
    if not np.array_equal(lowest + places.astype(values.dtype), values):
        return values, None
    numbers = np.bincount(places)
    distinct = np.flatnonzero(numbers)
    return lowest + distinct.astype(values.dtype), numbers[distinct]
