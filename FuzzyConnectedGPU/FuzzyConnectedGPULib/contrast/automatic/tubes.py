"""Tubes in the contrast of a volume: where they are strongest, by the Hessian."""

from dataclasses import dataclass

import numpy as np
from scipy import ndimage

from ..evidence.tissue import MODE_SHARE, SURROUNDINGS, tissue_round
from ..neighbourhood import Ball

# Lengths are multiples of the smallest spacing.
# Chosen on 3D-IRCADb-01 case 01, the liver phantom and tsf1, LEAST_SIGMA and LENGTH also on
# lowerRes; confirmed on the other scans.
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
# Of a CT, in HU: what tells it, and the range of vessels above the brightest common tissue; what
# is brighter is bone. A wide vessel of an arterial phase may be that bright: it gets no seed.
AIR, AIR_SHARE = -200.0, 0.01
VESSELS, BONE = (40.0, 95.0), 105.0
SOFT_RANGE = 120.0
BONE_MARGIN = 10.0
BIN = 4.0
MOST_SAMPLES = 1 << 20
# Voxels that the first seed is chosen from: so many at first, the calmest of them, of these the
# ones amid most soft tissue.
SAMPLED, FIRST_SEEDS, TRIALS = 500, 60, 4


class Values:
    """The volume's values, sampled: what the vessels stand out from.

    Attributes
    ----------
    soft : float or None
        Of a CT, the intensity up to which soft tissue is common.
    """

    def __init__(self, volume, mask, unit):
        self._volume, self._mask, self._unit = volume, mask, unit
        everything = tuple(slice(0, n) for n in volume.shape)
        values = volume[_sampled(everything)].ravel().astype(np.float32)
        self.soft = None
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
        self._places = np.argwhere(found) * [s.step for s in sample] + [s.start for s in sample]

    def first_seed(self, polarity):
        """The brightest calm voxel (or darkest); None where it cannot be a vessel's.

        Of a CT, a calm voxel among soft tissue that is brighter than the brightest tissue, but no
        bone; dark is air there, which is not looked for.
        """
        if self.soft is not None:
            if polarity < 0:
                return None
            low, high = (self.soft + above for above in VESSELS)
            order = np.flatnonzero((self._values > low) & (self._values < high))
            if len(order):
                order = order[:: max(1, len(order) // SAMPLED)]
                calm = [np.ptp(self._near(n)) for n in order]
                calmest = order[np.argsort(calm, kind="stable")[:FIRST_SEEDS]]
                best = sorted(calmest, key=self._share_of_soft)[-TRIALS:]
                return self._places[min(best, key=self._spread_of_background)]
        order = np.argsort(-polarity * self._values, kind="stable")[:SAMPLED]
        calm = [polarity * np.median(self._near(n)) for n in order]
        return self._places[order[int(np.argmax(calm))]]

    def _share_of_soft(self, number):
        """How much of a voxel's surroundings is soft tissue: `vessel_evidence` takes them for
        the background, and air or bone among them spoil it.
        """
        share = 0.0
        for radius in SURROUNDINGS:
            box = Ball(self._volume.shape, self._places[number], radius, self._unit).box
            part = self._volume[tuple(slice(s.start, s.stop, 3) for s in box)]
            share += float(((part > self.soft - SOFT_RANGE) & (part < self.soft)).mean())
        return share

    def _spread_of_background(self, number):
        """Deviation of the tissue that `vessel_evidence` would take; infinite if it is not soft."""
        tissue = tissue_round(self._volume, self._mask, self._places[number].tolist(), self._unit)
        soft = self.soft - SOFT_RANGE < tissue.median < self.soft
        return tissue.deviation if soft else np.inf

    def _near(self, number):
        place = self._places[number]
        return self._volume[tuple(slice(max(c - 1, 0), c + 2) for c in place)].astype(np.float32)


def _sampled(box):
    """The box with such steps that it has about `MOST_SAMPLES` voxels."""
    size = np.prod([s.stop - s.start for s in box])
    step = max(1, round((size / MOST_SAMPLES) ** (1 / 3)))
    return tuple(slice(s.start, s.stop, step) for s in box)


def brightest_common(values):
    """Up to which intensity tissue is common: a bin of the histogram is at least a quarter as full
    as the fullest one. Of values above the median alone, as there may be any amount of air.
    """
    values = values[values > np.median(values)]
    if not len(values):
        return None
    counts, edges = np.histogram(values, np.arange(values.min(), values.max() + 2 * BIN, BIN))
    counts = np.convolve(np.pad(counts, 2, mode="edge"), np.full(5, 0.2), "valid")
    return float(edges[np.flatnonzero(counts >= MODE_SHARE * counts.max())[-1] + 1])


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
    soft : float or None
        Of a CT, the intensity up to which soft tissue is common: bone is left out.
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
        other = evidence.smooth < soft + BONE
        away = _within(other, BONE_MARGIN / evidence.unit)
        usable = away if usable is None else usable & away
    return usable


def _within(labels, reach):
    """The voxels of labels that have none of the others within a reach (a box, in voxels)."""
    from ..evidence.filters import box_weights, separable

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
