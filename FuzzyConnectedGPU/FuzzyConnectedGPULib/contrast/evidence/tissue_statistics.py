"""Robust statistics of intensities: median, spread, noise of voxels, and tissues of a histogram."""

from collections.abc import Sequence

import numpy as np

from FuzzyVesselCoreLib.voxels.medians import median as median_of

from ...affinity import MAD_TO_SIGMA

MAX_SAMPLES = 1 << 18
MAX_DISTINCT = 256  # intensities, or a quarter of the samples: fewer are counted
# A tissue of several: a mode of the histogram, of at least this share of the highest one, and at
# least so many standard deviations of the voxels' noise from the click.
MODE_SHARE, MODE_DISTANCE = 0.25, 2.5
# Its spread: of the voxels within so many deviations, iterated until it converges. Where other
# tissues mix in, the wide limit grows with them: a spread that is so much wider than that of the
# core counts as the core's. A Gaussian cut off at the core's limit has a smaller spread.
WIDE, CORE, CORE_TO_DEVIATION = 3.0, 2.0, 1.055
MIXED, ITERATIONS = 1.4, 10


def nearest_tissue(
    values: np.ndarray, intensity: float, noise: float, widest: float = np.inf
) -> tuple[float, float] | None:
    """Median and deviation of the tissue whose mode is nearest to an intensity; None without one.

    Parameters
    ----------
    values : ndarray, one-dimensional
    intensity : float
        At the click, which is no part of the tissue.
    noise : float
        Standard deviation of single voxels: the width of the histogram's bins.
    widest : float
        Upper bound of the core's deviation, in multiples of the noise.
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
    wide = _spread(values, numbers, median, 2 * noise, WIDE)
    core = _spread(values, numbers, median, 2 * noise, CORE, CORE_TO_DEVIATION, widest * noise)
    if core[1] > 0 and wide[1] > MIXED * core[1]:
        return core
    return wide if wide[1] > 0 else None


def _spread(
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


def _median(values: np.ndarray, numbers: np.ndarray | None) -> float:
    """What `np.median` gives, bit for bit."""
    if numbers is None:
        return float(median_of(values))
    order = np.argsort(values, kind="stable")
    ends = np.cumsum(numbers[order])
    middle = np.searchsorted(ends, [(ends[-1] - 1) // 2, ends[-1] // 2], side="right")
    return float(np.mean(values[order[middle]]))


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


def sample_of(part: Sequence[slice]) -> tuple[slice, ...]:
    """A part with steps that leave at most `MAX_SAMPLES` voxels; long axes get larger steps."""
    steps = [1, 1, 1]
    counts = [s.stop - s.start for s in part]
    while np.prod(counts) > MAX_SAMPLES:
        longest = int(np.argmax(counts))
        steps[longest] += 1
        counts[longest] = -(-(part[longest].stop - part[longest].start) // steps[longest])
    return tuple(slice(s.start, s.stop, step) for s, step in zip(part, steps))
