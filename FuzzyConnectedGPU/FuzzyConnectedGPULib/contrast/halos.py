"""Halos of bright vessels: background clicks in them teach what holds for all that is alike.

The image of a bright vessel is wider than the vessel. A background click in a halo says that the
least contrast must rise with that of the vessel beside it, here and everywhere else. One such
click changes little, several that agree change more, and vessel clicks in halos say the opposite.
Constants were chosen on the six scans of `Benchmarks clicks`, where each of them may change by a
third without a loss of more than .003; phantoms neither gain nor lose (decision 0007).
"""

import numpy as np

from .clicks import peaks_near
from .contrast_map import ContrastMap
from .widest_paths import Reached

HALO_WITHIN = 2.0  # smallest spacings within which a voxel's peak lies
HALO_SHARE = 0.65  # of the peak below which a voxel is in its halo
# Least contrasts rise with this power of the peak after infinitely many clicks, half after one.
HIGHEST_POWER, HALF_POWER_CLICKS = 0.5, 1
MAX_CHANGES = 0.05, 0.1, 0.2  # share of the object that may change, by 1, 2, more clicks that agree


def in_halo(mapped: ContrastMap, voxel: tuple[int, ...], least_contrast: float) -> bool:
    """Whether a voxel lies beside a much brighter vessel, which has the least contrast."""
    box = tuple(slice(c, c + 1) for c in voxel)
    peak = float(peaks_near(mapped.contrast, box, HALO_WITHIN, mapped.spacing)[0, 0, 0])
    return peak > least_contrast and float(mapped.contrast[voxel]) < HALO_SHARE * peak


def halo_contrasts(
    mapped: ContrastMap, reached: Reached, least_contrast: float, agreeing: int
) -> np.ndarray:
    """The least contrast (float32) of each reached voxel, after so many clicks that agree.

    It is multiplied by a power of the peak near the voxel. The peak for which nothing changes lies
    between the least contrast and the median peak of the object, on a log scale: where halos of
    bright vessels are removed, less contrast suffices in faint vessels.
    """
    peaks = _peaks_of(reached, mapped.contrast.shape, mapped.spacing).astype(np.float64)
    strong = reached.is_strong
    contrast = reached.contrast[strong].astype(np.float64)
    before = contrast >= least_contrast
    unchanged = np.sqrt(least_contrast * np.median(peaks[strong][before]))
    power = HIGHEST_POWER * agreeing / (agreeing + HALF_POWER_CLICKS)
    # A voxel joins or leaves the object at this power; never, where it is not positive.
    with np.errstate(divide="ignore", invalid="ignore"):
        changes = np.log(contrast / least_contrast) / np.log(peaks[strong] / unchanged)
    changes = changes[changes > 0]
    share = MAX_CHANGES[min(agreeing, len(MAX_CHANGES)) - 1]
    most = int(share * np.count_nonzero(before))
    if most < changes.size:
        power = min(power, np.partition(changes, most)[most])
    return (least_contrast * (peaks / unchanged) ** power).astype(np.float32)


def _peaks_of(reached: Reached, shape: tuple[int, ...], spacing: np.ndarray) -> np.ndarray:
    """The highest contrast near each of the voxels, among them."""
    volume = np.zeros(int(np.prod(shape)), np.float32)  # only touched pages take time
    voxels, peaks = reached.voxels, reached.contrast
    for axis, stride in ((2, 1), (1, shape[2]), (0, shape[1] * shape[2])):
        volume[voxels] = peaks
        place, highest = voxels // stride % shape[axis], peaks.copy()
        reach = round(HALO_WITHIN / spacing[axis])
        for step in (*range(-reach, 0), *range(1, reach + 1)):
            there = np.flatnonzero((place + step >= 0) & (place + step < shape[axis]))
            values = volume[voxels[there] + step * stride]
            highest[there] = np.maximum(highest[there], values)
        peaks = highest
    return peaks
