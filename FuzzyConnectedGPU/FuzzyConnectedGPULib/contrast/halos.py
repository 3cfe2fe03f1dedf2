"""Halos of bright vessels: background clicks in them teach the threshold of all that is alike.

The image of a bright vessel is wider than the vessel. A background click in a halo says that the
threshold must rise with the contrast of the vessel beside it, here and everywhere else. One such
click changes little, several that agree change more, and vessel clicks in halos say the opposite.
Constants were chosen on the six scans of `Benchmarks clicks`, where each of them may change by a
third without a loss of more than .003; phantoms neither gain nor lose (decision 0007).
"""

import numpy as np

from .contrast_map import ContrastMap
from .neighbourhood import peaks_near
from .widest_paths import Reached

PEAK_DISTANCE = 2.0  # smallest spacings within which a voxel's peak lies
SHARE = 0.65  # of the peak below which a voxel is in its halo
# Thresholds rise with this power of the peak after infinitely many clicks, with half after one.
MOST, HALF_AT = 0.5, 1
MAX_CHANGES = 0.05, 0.1, 0.2  # share of the object that may change, by 1, 2, more clicks that agree
BISECTIONS = 8


def in_halo(found: ContrastMap, voxel: tuple[int, ...], threshold: float) -> bool:
    """Whether a voxel lies beside a vessel that is much brighter, and brighter than a threshold."""
    box = tuple(slice(c, c + 1) for c in voxel)
    peak = float(peaks_near(found.contrast, box, PEAK_DISTANCE, found.unit)[0, 0, 0])
    return peak > threshold and float(found.contrast[voxel]) < SHARE * peak


def halo_thresholds(
    found: ContrastMap, reached: Reached, threshold: float, agreeing: int
) -> np.ndarray:
    """The threshold (float32) of each reached voxel, after so many clicks that agree.

    It is multiplied by a power of the peak near the voxel. The peak for which nothing changes lies
    between the threshold and the median peak of the object, on a log scale: where halos of bright
    vessels are removed, faint vessels get a lower threshold.
    """
    peaks = _peaks_of(reached, found.contrast.shape, found.unit).astype(np.float64)
    strong = reached.is_strong
    contrast, strong_peaks = reached.contrast[strong], peaks[strong]
    before = contrast >= threshold
    unchanged = np.sqrt(threshold * np.median(strong_peaks[before]))

    def thresholds(power: float, peaks: np.ndarray) -> np.ndarray:
        return (threshold * (peaks / unchanged) ** power).astype(np.float32)

    def may_be(power: float) -> bool:
        changed = before ^ (contrast >= thresholds(power, strong_peaks))
        return bool(np.count_nonzero(changed) <= most)

    most = MAX_CHANGES[min(agreeing, len(MAX_CHANGES)) - 1] * np.count_nonzero(before)
    low, high = 0.0, MOST * agreeing / (agreeing + HALF_AT)
    if may_be(high):
        return thresholds(high, peaks)
    for _ in range(BISECTIONS):
        middle = (low + high) / 2
        low, high = (middle, high) if may_be(middle) else (low, middle)
    return thresholds(low, peaks)


def _peaks_of(reached: Reached, shape: tuple[int, ...], unit: np.ndarray) -> np.ndarray:
    """The highest contrast near each of the voxels, among them."""
    volume = np.zeros(int(np.prod(shape)), np.float32)  # only touched pages take time
    voxels, peaks = reached.voxels, reached.contrast
    for axis, stride in ((2, 1), (1, shape[2]), (0, shape[1] * shape[2])):
        volume[voxels] = peaks
        place, highest = voxels // stride % shape[axis], peaks.copy()
        reach = round(PEAK_DISTANCE / unit[axis])
        for step in (*range(-reach, 0), *range(1, reach + 1)):
            there = np.flatnonzero((place + step >= 0) & (place + step < shape[axis]))
            values = volume[voxels[there] + step * stride]
            highest[there] = np.maximum(highest[there], values)
        peaks = highest
    return peaks
