"""Halos of bright vessels: what background clicks in them say holds for all of the object.

The image of a bright vessel is wider than the vessel. A background click in a halo says that here
the threshold must rise with the contrast of the vessel beside it. One says little, several that
agree say more, and vessel clicks in halos say the opposite.
"""

from dataclasses import dataclass

import numpy as np

from .contrast_map import ContrastMap
from .neighbourhood import peaks_near
from .reached import Reached

PEAK_DISTANCE = 2.0  # smallest spacings within which a voxel's peak lies
SHARE = 0.65  # of the peak below which a voxel is in its halo
# Thresholds rise with this power of the peak, after infinitely many clicks; after one, with half.
MOST, HALF_AT = 0.5, 1
# The share of the object that may change, by the number of clicks that agree: 1, 2, more.
MAX_CHANGES = 0.05, 0.1, 0.2
DEVIATIONS = 3.0  # of the noise: faint vessels get no lower threshold
BISECTIONS = 8


@dataclass(frozen=True)
class HaloRule:
    """Thresholds are multiplied by the power `exponent` of a peak's ratio to `anchor`."""

    exponent: float
    anchor: float

    def factors(self, peaks: np.ndarray) -> np.ndarray:
        """Of the threshold of the object, for voxels with these peaks."""
        return (peaks.astype(np.float64) / self.anchor) ** self.exponent

    def beside(self, peaks: np.ndarray, own: float) -> np.ndarray:
        """Of the threshold of a fainter click with its own peak: never below 1."""
        return HaloRule(self.exponent, max(self.anchor, own)).factors(peaks).clip(1)


def peak_at(found: ContrastMap, voxel: tuple[int, ...]) -> float:
    """The highest contrast near a voxel."""
    box = tuple(slice(c, c + 1) for c in voxel)
    return float(peaks_near(found.contrast, box, PEAK_DISTANCE, found.unit)[0, 0, 0])


def in_halo(found: ContrastMap, voxel: tuple[int, ...], threshold: float) -> bool:
    """Whether a voxel lies beside a vessel that is much brighter, and brighter than a threshold."""
    peak = peak_at(found, voxel)
    return peak > threshold and float(found.contrast[voxel]) < SHARE * peak


def peaks_of(reached: Reached, shape: tuple[int, ...], unit: np.ndarray) -> np.ndarray:
    """The highest contrast near each of the voxels, among them."""
    volume = np.zeros(int(np.prod(shape)), np.float32)  # only touched pages take time
    voxels, peaks = reached.voxels, reached.contrast
    strides = shape[1] * shape[2], shape[2], 1
    for axis in (2, 1, 0):
        volume[voxels] = peaks
        place = voxels // strides[axis] % shape[axis]
        highest = peaks.copy()
        reach = round(PEAK_DISTANCE / unit[axis])
        for step in (*range(-reach, 0), *range(1, reach + 1)):
            there = np.flatnonzero((place + step >= 0) & (place + step < shape[axis]))
            values = volume[voxels[there] + step * strides[axis]]
            highest[there] = np.maximum(highest[there], values)
        peaks = highest
    return peaks


def halo_thresholds(
    found: ContrastMap, reached: Reached, threshold: float, agreeing: int
) -> tuple[HaloRule, np.ndarray]:
    """What so many clicks in halos say, and the threshold (float32) of each reached voxel.

    The anchor lies between the threshold and the median peak of the object, on a log scale, so
    that faint vessels get a lower threshold where halos of bright ones are removed.
    """
    peaks = peaks_of(reached, found.contrast.shape, found.unit)
    strong = reached.strong_voxels
    contrast, strong_peaks = reached.contrast[strong], peaks[strong]
    before = contrast >= threshold
    anchor = float(np.sqrt(threshold * np.median(strong_peaks[before])))
    least = min(DEVIATIONS * found.noise, threshold)

    def thresholds(rule: HaloRule, peaks: np.ndarray) -> np.ndarray:
        return np.maximum(threshold * rule.factors(peaks), least).astype(np.float32)

    def changed(exponent: float) -> int:
        after = contrast >= thresholds(HaloRule(exponent, anchor), strong_peaks)
        return int(np.count_nonzero(before ^ after))

    most = MAX_CHANGES[min(agreeing, len(MAX_CHANGES)) - 1] * np.count_nonzero(before)
    low, high = 0.0, MOST * agreeing / (agreeing + HALF_AT)
    if changed(high) <= most:
        low = high
    for _ in range(BISECTIONS if low < high else 0):
        middle = (low + high) / 2
        low, high = (middle, high) if changed(middle) <= most else (low, middle)
    rule = HaloRule(low, anchor)
    return rule, thresholds(rule, peaks)
