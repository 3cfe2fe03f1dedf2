"""The first seed of an automatic search: a homogeneous spot that may be a vessel."""

from typing import Any

import numpy as np
from scipy import ndimage

from .clicks import Ball
from .tissue import MODE_SHARE, SURROUNDINGS, tissue_near

# Of a CT, in HU: what tells it, and the range of vessels above the brightest common tissue; what
# is brighter is bone. A wide vessel of an arterial phase may be that bright: it gets no seed.
AIR, AIR_SHARE = -200.0, 0.01
VESSELS = 40.0, 95.0
SOFT_RANGE = 120.0
BIN = 4.0
MAX_SAMPLES = 1 << 20
# Voxels that the first seed is chosen from: so many at first, the most homogeneous of them, of
# these the ones with the most soft tissue around.
SAMPLED, FIRST_SEEDS, TRIALS = 500, 60, 4


class SampledIntensities:
    """A sample of the volume's intensities, from which the first seed is chosen.

    `unit` is the spacing in multiples of the smallest; `soft`, of a CT, the intensity up to which
    soft tissue is common, else None.
    """

    def __init__(self, volume: np.ndarray, mask: np.ndarray | None, unit: np.ndarray) -> None:
        self._volume, self._mask, self._unit = volume, mask, unit
        everything = tuple(slice(0, n) for n in volume.shape)
        values = volume[_sampled(everything)].ravel().astype(np.float32)
        self.soft: float | None = None
        if np.quantile(values, AIR_SHARE) < AIR:
            self.soft = brightest_common(values)
        if mask is None:
            sample = _sampled(everything)
            found = np.ones(volume[sample].shape, bool)
        else:
            sample = _sampled(ndimage.find_objects(mask)[0])
            found = mask[sample] > 0
            if not found.any():
                sample = tuple(slice(0, n, 1) for n in volume.shape)
                found = mask > 0
        self._values = volume[sample][found].astype(np.float32)
        self._voxels = np.argwhere(found) * [s.step for s in sample] + [s.start for s in sample]

    def first_seed(self, polarity: int) -> np.ndarray | None:
        """The brightest (or darkest) voxel of a homogeneous spot; None where there is no vessel.

        In a CT, a homogeneous spot in soft tissue that is brighter than the brightest tissue, but
        no bone; dark spots are air there, and are not searched.
        """
        if self.soft is not None:
            seed = None if polarity < 0 else self._seed_in_soft_tissue(self.soft)
            if seed is not None or polarity < 0:
                return seed
        order = np.argsort(-polarity * self._values, kind="stable")[:SAMPLED]
        medians = [polarity * np.median(self._near(n)) for n in order]
        return self._voxels[order[int(np.argmax(medians))]]

    def _seed_in_soft_tissue(self, soft: float) -> np.ndarray | None:
        """Of a CT, a homogeneous spot amid soft tissue; None where nothing is as bright."""
        low, high = (soft + above for above in VESSELS)
        order = np.flatnonzero((self._values > low) & (self._values < high))
        if not len(order):
            return None
        order = order[:: max(1, len(order) // SAMPLED)]
        ranges = [np.ptp(self._near(n)) for n in order]
        flattest = order[np.argsort(ranges, kind="stable")[:FIRST_SEEDS]]
        best = sorted(flattest, key=lambda n: self._share_of_soft(n, soft))[-TRIALS:]
        return self._voxels[min(best, key=lambda n: self._spread_of_background(n, soft))]

    def _share_of_soft(self, number: Any, soft: float) -> float:
        """Share of soft tissue in a voxel's surroundings: air or bone would distort its map."""
        share = 0.0
        for radius in SURROUNDINGS:
            box = Ball(self._volume.shape, self._voxels[number], radius, self._unit).box
            part = self._volume[tuple(slice(s.start, s.stop, 3) for s in box)]
            share += float(((part > soft - SOFT_RANGE) & (part < soft)).mean())
        return share

    def _spread_of_background(self, number: Any, soft: float) -> float:
        """Deviation of the tissue that `contrast_map` would use; infinite if it is not soft."""
        tissue = tissue_near(self._volume, self._mask, self._voxels[number].tolist(), self._unit)
        is_soft = soft - SOFT_RANGE < tissue.median < soft
        return tissue.deviation if is_soft else np.inf

    def _near(self, number: Any) -> np.ndarray:
        voxel = self._voxels[number]
        return self._volume[tuple(slice(max(c - 1, 0), c + 2) for c in voxel)].astype(np.float32)


def _sampled(box: tuple[slice, ...]) -> tuple[slice, ...]:
    """The box with steps that leave about `MAX_SAMPLES` voxels."""
    size = np.prod([s.stop - s.start for s in box])
    step = max(1, round((size / MAX_SAMPLES) ** (1 / 3)))
    return tuple(slice(s.start, s.stop, step) for s in box)


def brightest_common(values: np.ndarray) -> float | None:
    """The intensity up to which tissue is common: bins at least a quarter as full as the fullest.

    Only values above the median count, as there may be any amount of air.
    """
    values = values[values > np.median(values)]
    if not len(values):
        return None
    counts, edges = np.histogram(values, np.arange(values.min(), values.max() + 2 * BIN, BIN))
    counts = np.convolve(np.pad(counts, 2, mode="edge"), np.full(5, 0.2), "valid")
    return float(edges[np.flatnonzero(counts >= MODE_SHARE * counts.max())[-1] + 1])
