"""Automatic seeds: a first one in a homogeneous spot, then the strongest tubes, far apart.

By the eigenvalues of the Hessian: a tube has two large negative ones and a small one (Sato et al.,
Medical Image Analysis 2 (1998) 143-168; Frangi et al., MICCAI 1998, 130-137).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import ndimage

from FuzzyVesselCoreLib.progress import Progress

from .background import MODE_SHARE, SURROUNDINGS, tissue_near
from .clicks import Ball
from .contrast_map import ContrastMap

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

    `spacing` is in multiples of the smallest; `soft`, of a CT, the intensity up to which soft
    tissue is common, else None.
    """

    def __init__(self, volume: np.ndarray, mask: np.ndarray | None, spacing: np.ndarray) -> None:
        self._volume, self._mask, self._spacing = volume, mask, spacing
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
            box = Ball(self._volume.shape, self._voxels[number], radius, self._spacing).box
            part = self._volume[tuple(slice(s.start, s.stop, 3) for s in box)]
            share += float(((part > soft - SOFT_RANGE) & (part < soft)).mean())
        return share

    def _spread_of_background(self, number: Any, soft: float) -> float:
        """Deviation of the tissue that `contrast_map` would use; infinite if it is not soft."""
        tissue = tissue_near(self._volume, self._mask, self._voxels[number].tolist(), self._spacing)
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


# ---- tubes in the contrast

# Lengths are multiples of the smallest spacing.
# Chosen on 3D-IRCADb-01 case 01, the liver phantom and tsf1, LENGTH and MIN_SIGMA
# also on lowerRes; confirmed on the other scans.
CELL = 8.0  # side of the cells that give one candidate each
MAX_CANDIDATES, CANDIDATES_PER_SEED = 2000, 16
LENGTH = 10.0  # .. and a scale: a tube continues so far, on both sides
STEPS = 2  # in which it is followed
DISTANCES = 20.0, 10.0  # of two seeds; the second where there are too few otherwise
BORDER = 2.0  # width of the mask's shell without seeds
MIN_CONTRAST, MIN_STRENGTH = 5.0, 1.0  # deviations of the noise
MIN_OF_FIRST = 0.15  # share of the strongest seed's tubularity
SCALES = 1.5, 2.7, 5.0  # of the Hessian
MIN_SIGMA = 0.8  # .. in voxels: a narrower Gaussian has no second derivative on the grid
REACH = 3.0  # standard deviations at which a Gaussian is cut off
BONE, BONE_MARGIN = 105.0, 10.0  # of a CT: HU above the brightest common tissue; distance to bone


@dataclass
class _Candidate:
    """A voxel, its tubularity, and the scale of that."""

    voxel: tuple[int, ...]
    strength: float
    scale: float


def tubular_voxels(
    mapped: ContrastMap, soft: float | None, count: int, progress: Progress | None = None
) -> np.ndarray:
    """At most `count` voxels (K, J, I of the volume) with the strongest tubes, the strongest first.

    `soft` is, in a CT, the intensity up to which soft tissue is common: bone is left out.
    """
    strong = _strong_candidates(mapped, soft, count, Progress.of(progress))
    chosen: list[_Candidate] = []
    for distance in DISTANCES:
        for candidate in strong:
            steps = [np.subtract(candidate.voxel, each.voxel) * mapped.spacing for each in chosen]
            if len(chosen) < count and all((step**2).sum() >= distance**2 for step in steps):
                chosen.append(candidate)
    chosen.sort(key=lambda each: -each.strength)
    voxels = np.array([each.voxel for each in chosen], np.int64).reshape(-1, 3)
    return voxels + mapped.offset


def _strong_candidates(
    mapped: ContrastMap, soft: float | None, count: int, progress: Progress
) -> list[_Candidate]:
    """Candidates in the middle of their tubes, the strongest first."""
    contrast, spacing = mapped.contrast, mapped.spacing
    progress.advance(0.0)
    usable = _usable(mapped, soft)
    progress.advance(0.1)
    candidates: list[_Candidate] = []
    for voxel in _candidates(contrast, usable, spacing, MIN_CONTRAST * mapped.noise):
        if len(candidates) % 100 == 0:
            progress.advance(0.1 + 0.6 * len(candidates) / MAX_CANDIDATES)
        candidates.append(_Candidate(voxel, *tubularity(contrast, voxel, spacing)))
    candidates.sort(key=lambda each: -each.strength)
    candidates = candidates[: CANDIDATES_PER_SEED * count]
    centred = []
    for n, candidate in enumerate(candidates):
        progress.advance(0.7 + 0.3 * n / len(candidates))
        centred.append(_centred(contrast, usable, candidate, spacing))
    centred.sort(key=lambda each: -each.strength)
    least = MIN_STRENGTH * mapped.noise
    if centred:
        least = max(least, MIN_OF_FIRST * centred[0].strength)
    return [each for each in centred if each.strength >= least]


def _usable(mapped: ContrastMap, soft: float | None) -> np.ndarray | None:
    """Where seeds may lie: off the mask's border, and away from bone; None for everywhere."""
    usable = None
    if mapped.mask is not None:
        usable = _within(mapped.mask, BORDER / mapped.spacing)
        if not usable.any():  # a mask that is thinner than two shells
            usable = mapped.mask > 0
    if soft is not None:
        other = mapped.smooth < soft + BONE
        away = _within(other, BONE_MARGIN / mapped.spacing)
        usable = away if usable is None else usable & away
    return usable


def _within(labels: np.ndarray, reach: np.ndarray) -> np.ndarray:
    """Erosion of labels by a box of the given half sides, in voxels."""
    sides = 2 * np.ceil(reach).astype(int) + 1
    return ndimage.minimum_filter(labels > 0, sides, mode="nearest")


def _candidates(
    contrast: np.ndarray, usable: np.ndarray | None, spacing: np.ndarray, least: float
) -> Iterator[tuple[int, ...]]:
    """The voxel of most contrast of each cell, the brightest first."""
    values = contrast if usable is None else np.where(usable, contrast, np.float32(0))
    cell = [max(1, round(CELL / u)) for u in spacing]
    highest = values
    for axis, side in enumerate(cell):
        starts = np.arange(0, values.shape[axis], side)
        highest = np.maximum.reduceat(highest, starts, axis=axis)
    order = np.argsort(-highest, axis=None, kind="stable")[:MAX_CANDIDATES]
    for number in order:
        at = np.unravel_index(number, highest.shape)
        if highest[at] < least:
            break
        box = tuple(slice(p * side, (p + 1) * side) for p, side in zip(at, cell))
        inner = np.unravel_index(values[box].argmax(), values[box].shape)
        yield tuple(int(s.start + c) for s, c in zip(box, inner))


def _centred(
    contrast: np.ndarray, usable: np.ndarray | None, candidate: _Candidate, spacing: np.ndarray
) -> _Candidate:
    """The candidate moved to the middle of its tube, at its scale."""
    ball = Ball(contrast.shape, candidate.voxel, 2 * candidate.scale, spacing)
    near = np.maximum(contrast[ball.box], np.float32(0))
    near = ndimage.gaussian_filter(near, candidate.scale / spacing, mode="nearest", truncate=REACH)
    near[~ball.inside] = -np.inf
    if usable is not None:
        near[~usable[ball.box]] = -np.inf
    highest = np.unravel_index(near.argmax(), near.shape)
    voxel = tuple(int(c + s.start) for c, s in zip(highest, ball.box))
    moved = _Candidate(voxel, *tubularity(contrast, voxel, spacing))
    best = moved if moved.strength >= candidate.strength else candidate
    best.strength *= _continuation(contrast, best, spacing)
    return best


def _continuation(contrast: np.ndarray, candidate: _Candidate, spacing: np.ndarray) -> float:
    """Share of a tube's contrast (0..1) that it keeps along its axis, on the worse side."""
    _eigenvalues, along = principal_axis(contrast, candidate.voxel, candidate.scale / spacing)
    along *= (LENGTH + candidate.scale) / np.linalg.norm(along * spacing) / STEPS
    reach = np.rint(candidate.scale / spacing).astype(int)
    last = np.array(contrast.shape) - 1
    share = 1.0
    for step in (along, -along):
        position = np.array(candidate.voxel)
        for _ in range(STEPS):
            position = np.clip(np.rint(position + step).astype(int), 0, last)
            low = np.maximum(position - reach, 0)
            near = contrast[tuple(slice(a, b + 1) for a, b in zip(low, position + reach))]
            position = low + np.unravel_index(near.argmax(), near.shape)
            share = min(share, float(near.max()) / float(contrast[candidate.voxel]))
    return max(share, 0.0)


def tubularity(
    contrast: np.ndarray, voxel: tuple[int, ...], spacing: np.ndarray
) -> tuple[float, float]:
    """Tubularity of the contrast at a voxel (in the contrast's unit), and its scale.

    Of the eigenvalues l1, l2, l3 of the Hessian, by their absolute values from small to large,
    the strength is ``(|l2| - |l1|) * l2 / l3`` where l2 and l3 are below 0, else 0; the Hessian is
    multiplied by the squared scale.
    """
    best = 0.0, SCALES[0]
    for scale in SCALES:
        (first, second, third), _along = principal_axis(contrast, voxel, scale / spacing)
        if second < 0 and third < 0:
            best = max(best, (float((abs(second) - abs(first)) * second / third), scale))
    return best


def principal_axis(
    contrast: np.ndarray, voxel: tuple[int, ...], sigmas: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Eigenvalues of the Hessian by absolute value, and the first one's eigenvector, in voxels.

    In a single slice there are two; the larger one counts twice, as that of a round tube does.
    """
    sigmas = np.maximum(sigmas, MIN_SIGMA)
    hessian = _hessian(contrast, voxel, sigmas)
    flat = contrast.shape[0] == 1
    values, vectors = np.linalg.eigh(hessian[1:, 1:] if flat else hessian)
    order = np.abs(values).argsort()
    along = vectors[:, order[0]]
    if flat:
        order, along = order[[0, 1, 1]], np.insert(along, 0, 0)
    return values[order], along * sigmas


def _hessian(contrast: np.ndarray, voxel: tuple[int, ...], sigmas: np.ndarray) -> np.ndarray:
    """Scale-normalized Gaussian second derivatives of the positive contrast at a voxel."""
    part, weights = contrast, []
    for axis, (c, sigma) in enumerate(zip(voxel, sigmas)):
        reach = max(1, int(np.ceil(REACH * sigma)))
        at = np.clip(np.arange(c - reach, c + reach + 1), 0, contrast.shape[axis] - 1)
        part = part[(slice(None),) * axis + (slice(at[0], at[-1] + 1),)]
        weights.append(
            _derivatives(np.arange(-reach, reach + 1), sigma, at - at[0], part.shape[axis])
        )
    part = np.maximum(part, np.float32(0))
    # From the last axis to the first; afterwards the axes are orders of derivatives along K, J, I.
    for weight in reversed(weights):
        part = np.moveaxis(np.tensordot(part, weight, ([2], [1])), 2, 0)
    hessian = np.empty((3, 3))
    for a in range(3):
        for b in range(3):
            orders = np.bincount([a, b], minlength=3)
            hessian[a, b] = part[tuple(orders)]
    return hessian


def _derivatives(offsets: np.ndarray, sigma: float, at: np.ndarray, size: int) -> np.ndarray:
    """Weights (3, size) of a Gaussian and its first two derivatives, times powers of sigma."""
    scaled = offsets / sigma
    gauss = np.exp(-0.5 * scaled**2)
    gauss /= gauss.sum()
    second = gauss * (scaled**2 - 1)
    second -= gauss * second.sum()  # 0 in a constant volume
    weights = np.zeros((3, size))
    for order, values in enumerate((gauss, gauss * scaled, second)):
        np.add.at(weights[order], at, values)  # the border is replicated outside
    return weights
