"""From clicks to the fuzzy scene: each click has its own threshold, and every click is obeyed.

A voxel of contrast s has the membership ``s / (s + t)`` at threshold t: 0.5 where the contrast is
the threshold. The scene is the membership, not above that of the widest path from the clicks with
regard to the threshold of paths, which is near the noise: faint links connect, and only what
has contrast belongs. Labels are the voxels of at least 0.5; another cut is "less" or "more".
"""

from dataclasses import dataclass

import numpy as np

from ..neighbourhood import Ball, at_click, piece_of, ridge_near
from ..paths.widest_paths import STEPS, component, voxels_above_0
from ..segmenting import CONTRAST_THRESHOLD
from . import corrections
from .borders import move_to_half_contrast

# Threshold of a click: midway between noise and click on a logarithmic scale, times this.
ABOVE_MIDWAY = 1.2
MOST_OF_CLICK = 0.8  # a click's threshold is at most this share of its contrast
RAISED_TO = 0.5  # .. and this share where a brighter object raises it
# Paths: at least this share of the threshold, and this many deviations of the noise.
PATH_SHARE, PATH_DEVIATIONS = 0.2, 3.0
FLOOR = STEPS // 2  # paths weaker than half the threshold of paths are not followed
CLIMB = 2.5  # distance to the middle of a clicked vessel
# A click of that many deviations has evidence in the contrast, in the wide contrast, and in the
# difference to the median (bright, dark).
EVIDENT = 3.0, 3.0, 1.2, 1.2
HARDLY_EVIDENT = 1.0  # .. and enough for the first click, where no other has more
# What a click with less contrast than the threshold may add: its whole component where that is at
# most this share of the object, else what lies within some inscribed radii.
FAINT_SHARE, FAINT_CONTRAST, FAINT_RADII = 0.5, 0.6, 3.0
LEAST_ADDED = 8  # voxels; a component that adds fewer is that of the object itself
MOST_OF_VOLUME = 0.4  # .. what the only click may add
BLIND_MEMBERSHIP = 0.6  # what looks alike is in the object, and not far
LOWERED, MOST_GROWTH = 0.35, 1.15  # exponent; growth of the object
BLIND_SHARE, BLIND_ALIKE, BLIND_RADIUS = 0.01, 1.5, 20.0  # a click without any evidence


@dataclass
class _Click:
    """A positive click: its voxel, the contrast and the middle of the vessel that it means."""

    voxel: tuple
    contrast: float
    start: tuple


def contrast_scene(evidence, positive, negative=(), border="drawn", check=lambda: None, gpu=None):
    """The fuzzy scene of clicks.

    Parameters
    ----------
    evidence : Evidence
    positive, negative : sequence of (K, J, I)
        Voxels of the vessels, at least one, and of the background; within the evidence's box.
    border : {"drawn", "half"}
        See `borders`.
    check : callable
        Raises `Cancelled` to abort.
    gpu : CudaDevice, optional
        The card that follows the paths, inside its ``with`` block; the scene is the same.

    Returns
    -------
    scene : ndarray, float32, of the evidence's shape
        0..1; positive clicks have 1, background clicks 0, and the object is what has at least
        `CONTRAST_THRESHOLD`.
    threshold : float
        The contrast at which a voxel belongs to the object.
    """
    positive = [tuple(map(int, p)) for p in positive]
    negative = [tuple(map(int, q)) for q in negative]
    clicks = [_click(evidence, p, n == 0) for n, p in enumerate(positive)]
    # In the order of their contrasts: which of the further clicks came earlier does not count.
    clicks[1:] = sorted(clicks[1:], key=lambda click: (-click.contrast, click.voxel))
    base = _Base(evidence, clicks, gpu)
    check()
    base.raise_for(negative)
    base.lower_for(clicks)
    check()
    scene = base.scene()
    for click in clicks:
        if scene[click.voxel] < CONTRAST_THRESHOLD:
            check()
            _add_faint(scene, evidence, click)
    corrections.take_leaks_away(scene, evidence, positive, negative, base.first_threshold, check)
    if border == "half":
        check()
        move_to_half_contrast(scene, evidence, CONTRAST_THRESHOLD)
    for voxel in positive:
        scene[voxel] = 1
    for voxel in negative:
        scene[voxel] = 0
    return scene, base.threshold


def _click(evidence, voxel, first):
    """What a click means; the first may lie beside the middle of its vessel."""
    own = at_click(evidence.contrast, voxel)
    if not first:
        return _Click(voxel, own, voxel)
    ridge, start = ridge_near(evidence.contrast, voxel, CLIMB, evidence.unit)
    return _Click(voxel, max(own, ridge), start if ridge > own else voxel)


def midway(noise, contrast):
    """Threshold of a click, between the noise and its contrast."""
    return ABOVE_MIDWAY * float(np.sqrt(noise * contrast))


def membership(contrast, threshold):
    """``s / (s + t)`` of contrasts s above 0, else 0, as float32."""
    contrast = np.maximum(contrast, np.float32(0))
    return contrast / (contrast + np.float32(threshold))


class _Base:
    """The object of the clicks that have contrast: one threshold, and the paths that reach it."""

    def __init__(self, evidence, clicks, gpu):
        self._evidence, self._clicks, self._gpu = evidence, clicks, gpu
        noise = evidence.noise
        evident = [c for c in clicks if c.contrast >= EVIDENT[0] * noise]
        evident = evident or [c for c in clicks[:1] if c.contrast >= HARDLY_EVIDENT * noise]
        self._first = evident[0] if evident else None
        contrast = self._first.contrast if evident else EVIDENT[0] * noise
        self._rivals = evidence.brighter_objects([c.voxel for c in clicks])
        self.threshold = min(midway(noise, contrast), MOST_OF_CLICK * contrast)
        self.path_threshold = self._path_threshold()
        self._reach()
        self._raise_to_object(contrast)
        self.first_threshold = self.threshold

    def _path_threshold(self):
        least = max(PATH_SHARE * self.threshold, PATH_DEVIATIONS * self._evidence.noise)
        return min(self.threshold, least)

    def _reach(self):
        """Follow the paths from all clicks that are as bright as the threshold."""
        contrast = self._evidence.contrast
        starts = [c.start for c in self._clicks if contrast[c.start] >= self.threshold]
        if self._first is not None:
            starts.append(self._first.start)
        self._starts = starts
        self._levels = self._evidence.widest_paths(
            starts, self.path_threshold, FLOOR, self._rivals, self._gpu
        )
        self._touched = voxels_above_0(self._levels)
        self._reached = self._touched[self._levels.ravel()[self._touched] >= STEPS]
        self._values = contrast.ravel()[self._reached]

    def _raise_to_object(self, contrast):
        """A click into a faint part of a bright object means the object: between the two."""
        found = self._values[self._values >= self.threshold]
        if found.size:
            typical = np.sqrt(contrast * max(contrast, float(np.percentile(found, 90))))
            higher = min(midway(self._evidence.noise, typical), RAISED_TO * contrast)
            self.threshold = max(self.threshold, higher)

    def raise_for(self, negative):
        """Raise the threshold a little where background clicks are hardly above it."""
        contrast = self._evidence.contrast
        for click in negative:
            self.threshold *= corrections.raised_by(float(contrast[click]) / self.threshold)

    def lower_for(self, clicks):
        """Lower the threshold a little for fainter clicks, as far as that adds little."""
        least = PATH_DEVIATIONS * self._evidence.noise
        wanted = self.threshold
        for click in clicks:
            if least < click.contrast < wanted:
                wanted *= (click.contrast / wanted) ** LOWERED
        if wanted == self.threshold:
            return
        # More clicks never raise what this gives: a click must not take away what others added.
        most = int(MOST_GROWTH * np.count_nonzero(self._values >= self.threshold))
        if most < self._values.size:
            wanted = max(wanted, float(np.partition(self._values, -most - 1)[-most - 1]))
        self.threshold = min(self.threshold, wanted)
        contrast = self._evidence.contrast
        if sum(contrast[c.start] >= self.threshold for c in self._clicks) + 1 > len(self._starts):
            self._reach()

    def scene(self):
        """Membership of all voxels that paths reach."""
        scene = np.zeros(self._levels.shape, np.float32)
        reached = self._touched
        level = self._levels.ravel()[reached].astype(np.float32)
        path = level / (level + np.float32(STEPS))
        own = membership(self._evidence.contrast.ravel()[reached], self.threshold)
        scene.ravel()[reached] = np.minimum(own, path)
        return scene


def _add_faint(scene, evidence, click):
    """Add what a click of less contrast than the threshold means, and little else."""
    size = int(np.count_nonzero(scene >= CONTRAST_THRESHOLD))
    for values, noise, least in _evidences(evidence):
        contrast = at_click(values, click.voxel)
        if contrast < least * noise or values[click.voxel] <= 0:
            continue
        threshold = max(midway(noise, contrast), FAINT_CONTRAST * contrast)
        threshold = min(threshold, float(values[click.voxel]))
        most = int((1 + FAINT_SHARE) * size) if size else int(MOST_OF_VOLUME * scene.size)
        found = component(values, evidence.inside, click.voxel, threshold, most)
        flat = scene.ravel()
        added = found[flat[found] < CONTRAST_THRESHOLD]
        fits = LEAST_ADDED <= added.size <= FAINT_SHARE * size or not size
        if found.size <= most and fits:
            own = membership(values.ravel()[found], threshold)
            flat[found] = np.maximum(flat[found], own)
            return
        _add_near(scene, values, evidence, click.voxel, threshold)
        return
    _add_alike(scene, evidence, click, size)


def _evidences(evidence):
    """Contrasts with their noise, from the narrow to the wide, and how many deviations count."""
    yield evidence.contrast, evidence.noise, EVIDENT[0]
    yield *evidence.wide_contrast, EVIDENT[1]
    difference, noise = evidence.difference
    yield difference, noise, EVIDENT[2]
    yield -difference, noise, EVIDENT[3]


def _add_near(scene, values, evidence, click, threshold):
    """Add what lies within some inscribed radii of a click."""
    ball = Ball(values.shape, click, corrections.MOST_RADIUS, evidence.unit)
    enough = values[ball.box] >= threshold
    if evidence.inside is not None:
        enough &= evidence.inside[ball.box] > 0
    radius = corrections.inscribed(enough, ball.centre, evidence.unit)
    ball = Ball(values.shape, click, max(FAINT_RADII * radius, FAINT_RADII), evidence.unit)
    enough = (values[ball.box] >= threshold) & ball.inside
    if evidence.inside is not None:
        enough &= evidence.inside[ball.box] > 0
    near = piece_of(enough, ball.centre)
    part = scene[ball.box]
    part[near] = np.maximum(part[near], membership(values[ball.box][near], threshold))


def _add_alike(scene, evidence, click, size):
    """Without any evidence: what looks alike in a ball that is small beside the object."""
    most = max(BLIND_SHARE * size, 27)
    volume = most * np.prod(evidence.unit)
    radius = float(np.clip((volume * 3 / (4 * np.pi)) ** (1 / 3), 2.0, BLIND_RADIUS))
    ball = Ball(scene.shape, click.voxel, radius, evidence.unit)
    difference, noise = evidence.difference
    alike = np.abs(difference[ball.box] - difference[click.voxel]) <= BLIND_ALIKE * noise
    if evidence.contrast[click.voxel] > 0:
        own = at_click(evidence.contrast, click.voxel)
        alike &= evidence.contrast[ball.box] >= FAINT_CONTRAST * own
    alike &= ball.inside
    if evidence.inside is not None:
        alike &= evidence.inside[ball.box] > 0
    alike[ball.centre] = True
    found = piece_of(alike, ball.centre)
    scene[ball.box][found] = np.maximum(scene[ball.box][found], np.float32(BLIND_MEMBERSHIP))
