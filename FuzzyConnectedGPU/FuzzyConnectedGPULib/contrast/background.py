"""The contrast of each voxel to its local background, of which `contrast_map` makes the map.

`tissue_near` finds the tissue around the vessels: its intensity, spread and noise. From it and the
local background of each voxel `Tissue.contrast` makes the contrast, without vessels so wide that
they are their own background: those are compared with the tissue alone (`Tissue.centred`).
"""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import product

import numpy as np

from ..affinity import MAD_TO_SIGMA
from .filters import Array, at_click, by_slabs, module_of, pointwise, separable

NO_BACKGROUND = 2.5  # deviations from the median beyond which a voxel may be vessel, bone or air
SEVERAL = 15.0  # a spread of more than so many times the voxels' noise means several tissues
SURROUNDINGS = 40.0, 15.0  # half sides of the boxes around the first click ..
MUCH_MORE = 2.0  # .. whose tissue counts where the click stands out so many times more from it
MAX_SAMPLES = 1 << 18
MIN_SAMPLES = 1000  # with fewer inside a mask, all of its voxels are used
MAX_DISTINCT = 256  # intensities, or a quarter of the samples: fewer are counted
MIN_NOISE = 1e-6  # where there is none; of the range of intensities, where that is below 1
MUCH_BLANK = 0.2  # share of voxels with the lowest value from which on it stands for "no signal"
MIN_DISTANCE = 1.8  # deviations between the click and the tissue around it
# A wide vessel (an aorta) stands out from none: it is itself the tissue in the small box, and in
# the large one fat, muscle and bone grow into one. The spread of such a tissue is limited to so
# many times the noise.
MOST_SPREAD = 1.7
# A tissue of several: a mode of the histogram, of at least this share of the highest one, and at
# least so many standard deviations of the voxels' noise from the click.
MODE_SHARE, MODE_DISTANCE = 0.25, 2.5
# Its spread: of the voxels within so many deviations, iterated until it converges. Where other
# tissues mix in, the wide limit grows with them: where the spread is so many times that within the
# narrow limit, the latter is taken. A Gaussian cut off there has a smaller spread.
WIDE_LIMIT, NARROW_LIMIT, NARROW_TO_DEVIATION = 3.0, 2.0, 1.055
MIXED, ITERATIONS = 1.4, 10
# Intensities so many deviations below the median are clipped (air); below the second number of
# them a voxel counts as clipped.
LOWEST, NEARLY_LOWEST = 10.0, 9.0
# Voxels brighter than so many times the brightest click's difference to the tissue are no vessel
# (bone, metal); that difference counts as at least so many of the tissue's deviations.
FAR_BRIGHTER, FAR_FROM_TISSUE = 2.0, 6.0
DARK = -4.0  # contrast in standard deviations at the first click below which vessels are dark


@dataclass
class Tissue:
    """The raw intensities of a part of the volume, or of one tissue in it.

    `one_of_several`: it is one tissue of several, as in a CT of the body, else the whole volume.
    Of the `sample` (slices with steps) those voxels belong to it that are in the mask, and then in
    `signal`.
    """

    median: float
    deviation: float
    min_noise: float
    one_of_several: bool
    sample: tuple[slice, ...]
    mask: np.ndarray | None
    signal: np.ndarray
    is_that_of_all_clicks: bool = False  # the volume has a single one

    def distance(self, value: float) -> float:
        """Distance of a value from the median, in the tissue's deviations."""
        return abs(value - self.median) / max(self.deviation, self.min_noise)

    def noise(self, volume: Array) -> float:
        """Standard deviation of the tissue's voxels in a volume (array) of the same shape."""
        values = self._values(volume, self.signal)
        return max(MAD_TO_SIGMA * _median(abs(values - _median(values))), self.min_noise)

    def centred(self, volume: Array) -> tuple[Array, float]:
        """The volume minus the tissue's median in it, in place; and its noise."""
        own = self.signal if self.one_of_several else None
        median = np.float32(_median(self._values(volume, own)))
        pointwise(lambda values: values - median, volume, volume)
        return volume, self.noise(volume)

    @property
    def lowest(self) -> float:
        """The intensity to which lower ones, as of air, are raised."""
        return self.median - LOWEST * self.deviation if self.deviation > 0 else -np.inf

    def is_air(self, intensity: float) -> bool:
        """Whether an intensity is that of air around several tissues: all of it looks alike."""
        return self.one_of_several and intensity < self.median - NEARLY_LOWEST * self.deviation

    def competing_above(self, brightest: float, polarity: int) -> float | None:
        """The intensity above which voxels compete with clicks, as bone; times the polarity.

        None without other tissues: there brighter voxels are vessels.
        """
        if not self.one_of_several:
            return None
        tissue = polarity * self.median
        least = FAR_FROM_TISSUE * self.deviation
        return tissue + FAR_BRIGHTER * max(brightest - tissue, least)

    def background(
        self, volume: Array, mask: Array | None, spacing: np.ndarray
    ) -> "LocalBackground":
        """The local background of raw intensities; the mask is where the volume is."""
        limit = NO_BACKGROUND * self.deviation if self.deviation > 0 else -1.0
        return LocalBackground(volume, mask, SIGMA / spacing, self.median, limit)

    def contrast(
        self, smooth: Array, background: "LocalBackground", seed: tuple[int, ...]
    ) -> tuple[Array, float, int]:
        """Contrast of denoised intensities, as difference to the median, to the local background.

        Returns it, its noise, and the polarity: -1 where the vessel at the first seed is dark. The
        contrast is above 0 in such vessels, too; vessels that are their own background have none.
        """
        around = background.values()
        contrast = module_of(smooth).empty_like(smooth)
        pointwise(lambda a, b: a - b, contrast, smooth, around)
        contrast, noise = self.centred(contrast)
        polarity, intensity = 1, float(smooth[seed] - np.float32(-self.median))
        if float(contrast[seed]) < DARK * noise and not self.is_air(intensity):
            polarity = -1
            pointwise(lambda values: -values, contrast, contrast)
        if self.one_of_several:
            lower_own_background(contrast, around, polarity, at_click(contrast, seed))
        return contrast, noise, polarity

    def _values(self, volume: Array, wanted: np.ndarray | None = None) -> Array:
        """The sample's values (float32) in the mask; of these the wanted ones."""
        values = _sampled(volume, self.sample, self.mask)
        return values if wanted is None else values[module_of(volume).asarray(wanted)]


def tissue_of(
    part: tuple[slice, ...],
    mask: np.ndarray | None,
    raw: np.ndarray,
    intensity: float | None = None,
    widest: float = np.inf,
) -> Tissue:
    """The tissue of a part of the volume: all of it.

    With an intensity (at the click) it is the one nearest to that, if there is one, whose deviation
    is at most `widest` times the noise.
    """
    sample = sample_of(part)
    values = _sampled(raw, sample, mask)
    if len(values) < MIN_SAMPLES:
        sample = tuple(slice(s.start, s.stop, 1) for s in part)
        values = _sampled(raw, sample, mask)
    median, deviation = median_and_deviation(values)
    blank = values == values.min()
    signal = ~blank if MUCH_BLANK < blank.mean() < 1 else np.ones(len(values), bool)
    nearest = None
    if intensity is not None:
        nearest = nearest_tissue(values, intensity, voxel_noise(raw[part]), widest)
    if nearest is not None:
        median, deviation = nearest
        signal = np.abs(values - median) < NO_BACKGROUND * deviation
    min_noise = MIN_NOISE * (min(1.0, float(np.ptp(values))) or 1.0)
    return Tissue(median, deviation, min_noise, nearest is not None, sample, mask, signal)


def _sampled(volume: Array, sample: tuple[slice, ...], mask: np.ndarray | None) -> Array:
    """The values (float32) of a sample in the mask."""
    values = volume[sample].astype(np.float32, copy=False)
    if mask is None:
        return values.ravel()
    return values[module_of(volume).asarray(mask[sample] > 0)]


def tissue_near(
    raw: np.ndarray, mask: np.ndarray | None, seed: Sequence[int], spacing: np.ndarray
) -> Tissue:
    """The tissue of the whole volume; in a scan of several tissues the one around the click.

    The spread of a scan that holds air and bone says nothing about the tissue around the vessels.
    """
    intensity = float(np.median(raw[tuple(slice(max(c - 1, 0), c + 2) for c in seed)]))
    everything = tuple(slice(0, n) for n in raw.shape)
    whole = tissue_of(everything, mask, raw)
    if not 0 < SEVERAL * voxel_noise(raw) < whole.deviation:
        whole.is_that_of_all_clicks = True
        return whole
    parts = [everything, *(_box_around(seed, raw.shape, r / spacing) for r in SURROUNDINGS)]
    parts = [part for part in parts if mask is None or mask[part].any()]

    def tissues(widest: float) -> list[Tissue]:
        with ThreadPoolExecutor(len(parts)) as pool:  # medians are most of the work
            found = pool.map(lambda part: tissue_of(part, mask, raw, intensity, widest), parts)
            return [tissue for tissue in found if tissue.one_of_several]

    wide = tissues(np.inf)
    least = max(MUCH_MORE * whole.distance(intensity), MIN_DISTANCE)
    apart = [tissue for tissue in wide if tissue.distance(intensity) > least]
    if not apart:
        apart = [tissue for tissue in tissues(MOST_SPREAD) if tissue.distance(intensity) > least]
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
    width of the histogram's bins, and the narrow deviation is at most `widest` times that.
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
    wide = _spread_near(values, numbers, median, 2 * noise, WIDE_LIMIT)
    narrow = _spread_near(
        values, numbers, median, 2 * noise, NARROW_LIMIT, NARROW_TO_DEVIATION, widest * noise
    )
    if narrow[1] > 0 and wide[1] > MIXED * narrow[1]:
        return narrow
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
    """As `median_and_deviation`, of distinct values and how often each occurs; else once each."""
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


# ---- The local background of each voxel: a wide Gaussian over the voxels that are no vessel

SIGMA = 6.0  # smallest spacings
CELL = 0.5  # sigmas: side of the cells whose means stand for their voxels
CELLS_REACH = 3.5  # standard deviations at which the cells' Gaussian is cut off
MIN_SHARE = np.float32(1e-3)  # of background voxels: with fewer around, the median is used

# A contrast counts from so many times the background's own difference to the tissue on, or from
# that share of the first click's contrast on: the first click's vessel is never lowered.
TIMES_BACKGROUND, SHARE_OF_CLICK = 3.0, 0.65
STEEPNESS = 5.0  # of the fall to 0 below; no step, so that rounding decides on no voxel


class LocalBackground:
    """Gaussian-weighted mean of the usable voxels around each voxel, as difference to the median.

    The Gaussian is computed on means of small cells and interpolated between them, as it hardly
    changes within a cell. It is 0 where no usable voxel is near.

    Usable are voxels of the mask that differ from the median by less than the limit, or,
    with a limit of -1, are not above it. Sigmas are in voxels along K, J and I.
    """

    def __init__(
        self,
        volume: Array,
        mask: Array | None,
        sigmas: np.ndarray | Sequence[float],
        median: float,
        limit: float,
    ) -> None:
        self._shape = volume.shape
        self._sides = [max(1, int(CELL * sigma)) for sigma in sigmas]
        weights = [_weights(sigma / side) for sigma, side in zip(sigmas, self._sides)]
        cells = self._usable_means(volume, mask, np.float32(median), np.float32(limit))
        share, total = (separable(each, weights) for each in cells)
        some = share > MIN_SHARE
        xp = module_of(volume)
        self._cells = xp.where(some, total, np.float32(0)) / xp.where(some, share, np.float32(1))

    def _usable_means(
        self, volume: Array, mask: Array | None, median: np.float32, limit: np.float32
    ) -> tuple[Array, Array]:
        """Of each cell: the share of usable voxels, and the mean difference; others count as 0."""
        xp, sides = module_of(volume), self._sides
        counts = [-(-n // side) for n, side in zip(self._shape, sides)]
        share, total = xp.zeros(counts, np.float32), xp.zeros(counts, np.float32)
        lengths = [
            xp.asarray(np.minimum(side, n - side * np.arange(count)).astype(np.float32))
            for n, side, count in zip(self._shape, sides, counts)
        ]
        voxels = lengths[0][:, None, None] * (lengths[1][:, None] * lengths[2])

        def add(first: int, last: int) -> None:
            planes = slice(first * sides[0], last * sides[0])
            apart = volume[planes].astype(np.float32, copy=False) - median
            usable = apart <= 0 if limit < 0 else xp.abs(apart) < limit
            if mask is not None:
                usable &= mask[planes] > 0
            numbers = usable.astype(np.float32)
            apart *= numbers
            for place in product(*(range(side) for side in sides)):
                rows = tuple(slice(start, None, side) for start, side in zip(place, sides))
                for sums, values in ((share, numbers[rows]), (total, apart[rows])):
                    k, j, i = values.shape
                    sums[first : first + k, :j, :i] += values
            share[first:last] /= voxels[first:last]
            total[first:last] /= voxels[first:last]

        by_slabs(add, counts[0], volume.size, xp)
        return share, total

    def values(self) -> Array:
        """The background at each voxel, float32: linear interpolation between the cells."""
        cells, xp = self._cells, module_of(self._cells)
        places = [_between(*each) for each in zip(self._shape, self._sides, cells.shape)]
        result = xp.empty(self._shape, np.float32)

        def fill(first: int, last: int) -> None:
            side = self._sides[0]
            planes = slice(first * side, min(last * side, len(result)))
            low, high = max(first - 1, 0), min(last + 1, len(cells))
            part = cells[first:last] if side == 1 else cells[low:high]
            for axis in (2, 1):
                if self._sides[axis] > 1:
                    part = _interpolated(part, axis, *places[axis])
            if side > 1:
                lows, weights = (each[planes] for each in places[0])
                part = _interpolated(part, 0, lows - low, weights)
            result[planes] = part

        by_slabs(fill, len(cells), result.size, xp)
        return result


def _weights(sigma: float) -> np.ndarray:
    """A Gaussian's weights (float32) for cells."""
    radius = int(CELLS_REACH * sigma + 0.5)
    weights = np.exp(-0.5 / sigma**2 * np.arange(-radius, radius + 1) ** 2)
    return (weights / weights.sum()).astype(np.float32)


def _between(length: int, side: int, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Of each voxel along an axis: the lower of the cells beside it, and the next one's weight."""
    position = np.clip((np.arange(length) + 0.5) / side - 0.5, 0, count - 1)
    low = position.astype(np.int32)
    return low, (position - low).astype(np.float32)


def _interpolated(cells: Array, axis: int, lows: np.ndarray, weights: np.ndarray) -> Array:
    xp = module_of(cells)
    highs = np.minimum(lows + 1, cells.shape[axis] - 1)
    first = cells.take(xp.asarray(lows), axis)
    steps = cells.take(xp.asarray(highs), axis) - first
    steps *= xp.asarray(weights.reshape([-1 if n == axis else 1 for n in range(3)]))
    first += steps
    return first


def lower_own_background(
    contrast: Array, background: Array, polarity: int, at_first: float
) -> None:
    """Lower contrasts, in place, where the background stands out from the tissue as they do.

    A vena cava stands out so little from the liver that most of its voxels count as tissue, and it
    is as wide as the Gaussian of the local background: that rises to half of it and more.
    The contrast that is left is about a click's least contrast: noise would decide on each voxel.
    There only clear contrasts count. A click in there is judged by the difference to the tissue
    itself (`is_own_background`), in which the vessel is solid.

    Vessels have contrasts above 0, `around` is the local background, polarity is -1 for dark
    vessels, and `at_first` is the contrast at the first click.
    """
    xp, zero = module_of(contrast), np.float32(0)
    times = np.float32(polarity * TIMES_BACKGROUND)
    most = np.float32(max(SHARE_OF_CLICK * at_first, 0.0))
    steep, less = np.float32(STEEPNESS), np.float32(STEEPNESS - 1)

    def lowered(own: Array, around: Array) -> Array:
        limit = xp.minimum(xp.maximum(around * times, zero), most)
        # No zero is negative: which one a minimum takes is not defined.
        return xp.minimum(own, xp.maximum(steep * own - less * limit, zero)) + zero

    pointwise(lowered, contrast, contrast, background)


def is_own_background(contrast: float, difference: float) -> bool:
    """Whether a voxel's contrast is lowered so, by its difference to the tissue.

    The difference is that of the background and the contrast.
    """
    return contrast < TIMES_BACKGROUND / (TIMES_BACKGROUND + 1) * difference
