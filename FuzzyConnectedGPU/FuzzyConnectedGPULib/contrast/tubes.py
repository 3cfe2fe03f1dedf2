"""Tubes in the contrast of a volume: where they are strongest, by the Hessian."""

from dataclasses import dataclass

import numpy as np
from scipy import ndimage

from .neighbourhood import Ball
from .tissue import (
    MODE_SHARE,
    NO_BACKGROUND,
    SEVERAL,
    SURROUNDINGS,
    median_and_deviation,
    noise_of_voxels,
)

# Lengths are multiples of the smallest spacing.
# Chosen on 3D-IRCADb-01 case 01, the liver phantom and tsf1; confirmed on the other scans.
SCALES = 1.5, 2.7, 5.0  # of the Hessian
LEAST_SIGMA = 0.8  # .. in voxels: a narrower Gaussian has no second derivative on the grid
REACH = 3.0  # scales at which its Gaussian is cut off
CELL = 8.0  # side of the cells that give one candidate each
MAX_CANDIDATES, CANDIDATES_PER_SEED = 2000, 16
LENGTH = 10.0  # .. and a scale: a tube goes on so far, to both sides
STEPS = 2  # in which it is followed
APART = 20.0, 10.0  # distance of two seeds; the second where there are too few otherwise
BORDER = 2.0  # width of the mask's shell without seeds
LEAST_CONTRAST, LEAST_STRENGTH = 5.0, 1.0  # deviations of the noise
LEAST_OF_FIRST = 0.15  # share of the strongest seed's tubularity
# A scan of several tissues: vessels are brighter than the brightest common tissue, and bone is
# far brighter than it, in its deviations.
VESSEL_DEVIATIONS = 3.0, 5.0
BONE_DEVIATIONS, BONE_MARGIN = 5.5, 10.0
HALF_WIDTH = 1.18  # deviations at which a Gaussian is half as high
MOST_SAMPLES = 1 << 20
SAMPLED, FIRST_SEEDS = 500, 60  # voxels that the first seed is chosen from: calm, by background


class Values:
    """The volume's values, sampled: what the vessels stand out from.

    Attributes
    ----------
    soft : tuple of 2 float or None
        Median and deviation of the brightest common tissue, where the volume holds several.
    """

    def __init__(self, volume, mask, unit):
        self._volume, self._unit = volume, unit
        box = tuple(slice(0, n) for n in volume.shape)
        if mask is not None:
            box = ndimage.find_objects(mask)[0]
        step = max(1, round((np.prod([s.stop - s.start for s in box]) / MOST_SAMPLES) ** (1 / 3)))
        sample = tuple(slice(s.start, s.stop, step) for s in box)
        found = np.ones(volume[sample].shape, bool) if mask is None else mask[sample] > 0
        if not found.any():
            sample, found = (slice(None),) * 3, mask > 0
        self._values = volume[sample][found].astype(np.float32)
        places = np.argwhere(found)
        self._places = [[s.start or 0 for s in sample], [s.step or 1 for s in sample]]
        self._places = places * self._places[1] + self._places[0]
        noise = noise_of_voxels(volume[box].astype(np.float32))
        self.soft = None
        if 0 < SEVERAL * noise < median_and_deviation(self._values)[1]:
            self.soft = brightest_tissue(self._values, noise)

    def first_seed(self, polarity):
        """The brightest calm voxel (or darkest); None where it cannot be a vessel's.

        Of several tissues the calmest voxel that is brighter than the brightest tissue, but no
        bone; dark is air there, which is not looked for.
        """
        if self.soft is None:
            order = np.argsort(-polarity * self._values, kind="stable")[:SAMPLED]
            calm = [polarity * np.median(self._near(n)) for n in order]
        else:
            median, deviation = self.soft
            low, high = (median + d * deviation for d in VESSEL_DEVIATIONS)
            order = np.flatnonzero((self._values > low) & (self._values < high))
            order = order[:: max(1, len(order) // SAMPLED)]
            calm = [-np.ptp(self._near(n)) for n in order]
            if polarity < 0 or not len(order):
                return None
            calmest = order[np.argsort(calm, kind="stable")[::-1][:FIRST_SEEDS]]
            return self._places[max(calmest, key=self._share_of_soft)]
        return self._places[order[int(np.argmax(calm))]]

    def _share_of_soft(self, number):
        """How much of a voxel's surroundings is soft tissue: `vessel_evidence` takes them for
        the background, and air or bone among them spoil it.
        """
        median, deviation = self.soft
        share = 0.0
        for radius in SURROUNDINGS:
            box = Ball(self._volume.shape, self._places[number], radius, self._unit).box
            part = self._volume[tuple(slice(s.start, s.stop, 3) for s in box)]
            soft = np.abs(part.astype(np.float32) - median) < NO_BACKGROUND * deviation
            share += float(soft.mean())
        return share

    def _near(self, number):
        place = self._places[number]
        return self._volume[tuple(slice(max(c - 1, 0), c + 2) for c in place)].astype(np.float32)


def brightest_tissue(values, noise):
    """Mode and deviation of the brightest common tissue; None where there is no histogram.

    Air and what else is darker than the median is left out, as there may be any amount of it.
    The deviation is that of the mode's upper flank.
    """
    values = values[values > np.median(values)]
    if not len(values):
        return None
    low, high = np.quantile(values, (0.0, 0.999))
    bins = int(np.clip((high - low) / max(noise, 1e-6), 3, 4096))
    counts, edges = np.histogram(values, bins, (low, high))
    counts = np.convolve(np.pad(counts, 2, mode="edge"), np.full(5, 0.2), "valid")
    higher = np.maximum(np.r_[0, counts[:-1]], np.r_[counts[1:], 0])
    mode = np.flatnonzero((counts >= higher) & (counts >= MODE_SHARE * counts.max()))[-1]
    flank = counts[mode:] / counts[mode]
    below = np.flatnonzero(flank < 0.5)
    half = len(flank) if not len(below) else below[0]
    if len(below):  # between two bins
        half -= (0.5 - flank[half]) / (flank[half - 1] - flank[half])
    half *= edges[1] - edges[0]
    return float((edges[mode] + edges[mode + 1]) / 2), float(half / HALF_WIDTH)


@dataclass
class _Candidate:
    """A voxel, its tubularity, and the scale of that."""

    voxel: tuple
    strength: float
    scale: float


def tubular_voxels(evidence, soft, count, check=lambda: None):
    """The voxels with the strongest tubes, far from one another.

    Parameters
    ----------
    evidence : Evidence
    soft : tuple of 2 float or None
        Median and deviation of the soft tissue, of a scan of several tissues: bone is left out.
    count : int
        Voxels at most.
    check : callable
        Raises `Cancelled` to abort.

    Returns
    -------
    ndarray of int64, shape (n, 3)
        K, J, I of the volume, the strongest first.
    """
    contrast, unit = evidence.contrast, evidence.unit
    check()
    usable = _usable(evidence, soft)
    check()
    found = []
    for voxel in _candidates(contrast, usable, unit, LEAST_CONTRAST * evidence.noise):
        if len(found) % 100 == 0:
            check()
        found.append(_Candidate(voxel, *tubularity(contrast, voxel, unit)))
    found.sort(key=lambda each: -each.strength)
    centred = []
    for candidate in found[: CANDIDATES_PER_SEED * count]:
        check()
        centred.append(_centred(contrast, usable, candidate, unit))
    centred.sort(key=lambda each: -each.strength)
    least = LEAST_STRENGTH * evidence.noise
    if centred:
        least = max(least, LEAST_OF_FIRST * centred[0].strength)
    strong = [each for each in centred if each.strength >= least]
    chosen = []
    for apart in APART:
        for candidate in strong:
            steps = [np.subtract(candidate.voxel, each.voxel) * unit for each in chosen]
            if len(chosen) < count and all((step**2).sum() >= apart**2 for step in steps):
                chosen.append(candidate)
    chosen.sort(key=lambda each: -each.strength)
    voxels = np.array([each.voxel for each in chosen], np.int64).reshape(-1, 3)
    return voxels + evidence.origin


def _usable(evidence, soft):
    """Where seeds may lie: off the mask's border, and away from bone; None for everywhere."""
    usable = None
    if evidence.inside is not None:
        usable = _within(evidence.inside, BORDER / evidence.unit)
        if not usable.any():  # a mask that is thinner than two shells
            usable = evidence.inside > 0
    if soft is not None:
        median, deviation = soft
        other = evidence.smooth < median + BONE_DEVIATIONS * deviation
        away = _within(other, BONE_MARGIN / evidence.unit)
        usable = away if usable is None else usable & away
    return usable


def _within(labels, reach):
    """The voxels of labels that have none of the others within a reach (a box, in voxels)."""
    from .filters import box_weights, separable

    share = separable(labels.astype(np.float32), [box_weights(int(np.ceil(r))) for r in reach])
    return share > 1 - 1e-5


def _candidates(contrast, usable, unit, least):
    """The voxel of most contrast of each cell, the brightest first."""
    values = contrast if usable is None else np.where(usable, contrast, np.float32(0))
    cell = [max(1, round(CELL / u)) for u in unit]
    highest = values
    for axis, side in enumerate(cell):
        starts = np.arange(0, values.shape[axis], side)
        highest = np.maximum.reduceat(highest, starts, axis=axis)
    order = np.argsort(-highest, axis=None, kind="stable")[:MAX_CANDIDATES]
    for number in order:
        place = np.unravel_index(number, highest.shape)
        if highest[place] < least:
            break
        box = tuple(slice(p * side, (p + 1) * side) for p, side in zip(place, cell))
        inner = np.unravel_index(values[box].argmax(), values[box].shape)
        yield tuple(int(s.start + c) for s, c in zip(box, inner))


def tubularity(contrast, voxel, unit):
    """How tubular the contrast is at a voxel: (strength in its unit, scale).

    Of the eigenvalues l1, l2, l3 of the Hessian, by their absolute values from small to large,
    the strength is ``(|l2| - |l1|) * l2 / l3`` where l2 and l3 are below 0, else 0; the Hessian is
    multiplied by the squared scale.
    """
    best = 0.0, SCALES[0]
    for scale in SCALES:
        (first, second, third), _along = _principal(contrast, voxel, scale / unit)
        if second < 0 and third < 0:
            best = max(best, (float((abs(second) - abs(first)) * second / third), scale))
    return best


def _principal(contrast, voxel, sigmas):
    """Eigenvalues of the Hessian by their absolute values, and the first one's axis, in voxels.

    In a single slice there are two; the larger one counts twice, as that of a round tube does.
    """
    sigmas = np.maximum(sigmas, LEAST_SIGMA)
    hessian = _hessian(contrast, voxel, sigmas)
    flat = contrast.shape[0] == 1
    values, vectors = np.linalg.eigh(hessian[1:, 1:] if flat else hessian)
    order = np.abs(values).argsort()
    along = vectors[:, order[0]]
    if flat:
        order, along = order[[0, 1, 1]], np.insert(along, 0, 0)
    return values[order], along * sigmas


def _hessian(contrast, voxel, sigmas):
    """Second derivatives of Gaussians at a voxel, times the squared sigmas; positive parts only."""
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


def _derivatives(offsets, sigma, at, size):
    """Weights (3, size) of a Gaussian and its first two derivatives, times powers of sigma."""
    scaled = offsets / sigma
    gauss = np.exp(-0.5 * scaled**2)
    gauss /= gauss.sum()
    second = gauss * (scaled**2 - 1)
    second -= gauss * second.sum()  # none in a constant volume
    weights = np.zeros((3, size))
    for order, values in enumerate((gauss, gauss * scaled, second)):
        np.add.at(weights[order], at, values)  # the border is repeated outside
    return weights


def _centred(contrast, usable, candidate, unit):
    """The candidate moved to the middle of its tube, at its scale."""
    ball = Ball(contrast.shape, candidate.voxel, 2 * candidate.scale, unit)
    near = np.maximum(contrast[ball.box], np.float32(0))
    near = ndimage.gaussian_filter(near, candidate.scale / unit, mode="nearest", truncate=REACH)
    near[~ball.inside] = -np.inf
    if usable is not None:
        near[~usable[ball.box]] = -np.inf
    place = np.unravel_index(near.argmax(), near.shape)
    voxel = tuple(int(c + s.start) for c, s in zip(place, ball.box))
    moved = _Candidate(voxel, *tubularity(contrast, voxel, unit))
    best = moved if moved.strength >= candidate.strength else candidate
    best.strength *= _continued(contrast, best, unit)
    return best


def _continued(contrast, candidate, unit):
    """Share of a tube's contrast (0..1) that it has some way on, at its worse side."""
    _values, along = _principal(contrast, candidate.voxel, candidate.scale / unit)
    along *= (LENGTH + candidate.scale) / np.linalg.norm(along * unit) / STEPS
    reach = np.rint(candidate.scale / unit).astype(int)
    last = np.array(contrast.shape) - 1
    share = 1.0
    for step in (along, -along):
        place = np.array(candidate.voxel)
        for _step in range(STEPS):
            place = np.clip(np.rint(place + step).astype(int), 0, last)
            low = np.maximum(place - reach, 0)
            near = contrast[tuple(slice(a, b + 1) for a, b in zip(low, place + reach))]
            place = low + np.unravel_index(near.argmax(), near.shape)
            share = min(share, float(near.max()) / float(contrast[candidate.voxel]))
    return max(share, 0.0)
