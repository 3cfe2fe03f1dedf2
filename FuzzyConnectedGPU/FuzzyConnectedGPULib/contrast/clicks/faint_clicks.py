"""Clicks with less contrast than the threshold: each adds its own structure, and little else."""

from collections.abc import Iterator

import numpy as np

from ..contrast_threshold import CONTRAST_THRESHOLD
from ..evidence.evidence import Evidence
from ..evidence.near_click import LEAST_RADII
from ..evidence.own_background import SHARE_OF_DIFFERENCE
from ..neighbourhood import Ball, at_click, component_of
from .main_object import EVIDENT
from .membership import membership, midway

# Deviations of the noise from which on a click has evidence in the contrast to a wide background,
# and in the difference to the median (bright, dark).
EVIDENT_WIDE, EVIDENT_DIFFERENCE = 3.0, 1.2
# A click adds its whole component where that is at most this share of the object, else the part of
# it within some inscribed radii.
FAINT_SHARE, FAINT_CONTRAST, FAINT_RADII = 0.5, 0.6, LEAST_RADII
# Among several tissues, where the vessel may be its own background (`evidence/own_background`): so
# many radii, without what is as much brighter than the click as the threshold is fainter.
WIDE_RADII = 6.0
MIN_ADDED = 8  # voxels; a component that adds fewer is that of the object itself
MAX_OF_VOLUME = 0.4  # .. that the only click may add
# A click without any evidence: the membership of similar voxels, and how far they are searched.
BLIND_MEMBERSHIP = 0.6
BLIND_SHARE, BLIND_ALIKE, BLIND_RADIUS = 0.01, 1.5, 20.0


def add_faint_click(
    connectedness: np.ndarray, evidence: Evidence, click: tuple[int, ...], size: int
) -> int:
    """Add, in place, the structure that a click of less contrast than the threshold means.

    Parameters
    ----------
    connectedness : ndarray, float32
    evidence : Evidence
    click : (K, J, I)
    size : int
        Number of the object's voxels.

    Returns
    -------
    int
        By how many the object has grown.
    """
    for values, noise, least in _contrasts(evidence):
        contrast = at_click(values, click)
        if contrast < least * noise or values[click] <= 0:
            continue
        if values is evidence.contrast and _own_background(evidence, click, contrast):
            continue
        threshold = max(midway(noise, contrast), FAINT_CONTRAST * contrast)
        threshold = min(threshold, float(values[click]))
        limit = int((1 + FAINT_SHARE) * size) if size else int(MAX_OF_VOLUME * connectedness.size)
        found = evidence.component(values, click, threshold, limit)
        if found is not None:
            voxels, own = found
            flat = connectedness.ravel()
            before = flat[voxels]
            added = int(np.count_nonzero(before < CONTRAST_THRESHOLD))
            if MIN_ADDED <= added <= FAINT_SHARE * size or not size:
                flat[voxels] = np.maximum(before, membership(own, threshold))
                return added
        return _add_near(connectedness, values, evidence, click, threshold)
    return _add_alike(connectedness, evidence, click, size)


def _contrasts(evidence: Evidence) -> Iterator[tuple[np.ndarray, float, float]]:
    """Contrasts to wider and wider backgrounds, their noise, and how many deviations count."""
    yield evidence.contrast, evidence.noise, EVIDENT
    yield *evidence.wide_contrast, EVIDENT_WIDE
    difference, noise = evidence.difference
    yield difference, noise, EVIDENT_DIFFERENCE
    yield -difference, noise, EVIDENT_DIFFERENCE


def _own_background(evidence: Evidence, click: tuple[int, ...], contrast: float) -> bool:
    """Whether a click lies where the vessel itself is the background; its contrast is none."""
    if not evidence.several_tissues:
        return False
    return contrast < SHARE_OF_DIFFERENCE * at_click(evidence.difference[0], click)


def _add_near(
    connectedness: np.ndarray,
    values: np.ndarray,
    evidence: Evidence,
    click: tuple[int, ...],
    threshold: float,
) -> int:
    """Add the voxels within some inscribed radii of a click."""
    radii, most = FAINT_RADII, np.inf
    if evidence.several_tissues and values is not evidence.contrast:
        radii, most = WIDE_RADII, at_click(values, click) / FAINT_CONTRAST
    near, own = evidence.near_click(values, click, threshold, most, radii)
    return _raise(connectedness.ravel(), near, membership(own, threshold))


def _add_alike(
    connectedness: np.ndarray, evidence: Evidence, click: tuple[int, ...], size: int
) -> int:
    """Without any evidence: similar voxels in a ball that is small compared with the object."""
    volume = max(BLIND_SHARE * size, 27) * np.prod(evidence.unit)
    radius = float(np.clip((volume * 3 / (4 * np.pi)) ** (1 / 3), 2.0, BLIND_RADIUS))
    ball = Ball(connectedness.shape, click, radius, evidence.unit)
    difference, noise = evidence.difference
    alike = np.abs(difference[ball.box] - difference[click]) <= BLIND_ALIKE * noise
    if evidence.contrast[click] > 0:
        own = at_click(evidence.contrast, click)
        alike &= evidence.contrast[ball.box] >= FAINT_CONTRAST * own
    alike = evidence.masked(alike & ball.inside, ball.box)
    alike[ball.centre] = True
    found = component_of(alike, ball.centre)
    evidence.changes(ball.box)
    return _raise(connectedness[ball.box], found, np.float32(BLIND_MEMBERSHIP))


def _raise(part: np.ndarray, voxels: np.ndarray, least: np.ndarray | np.float32) -> int:
    """Raise the connectedness of voxels in place; by how many the object has grown."""
    before = part[voxels]
    after = np.maximum(before, least)
    part[voxels] = after
    grown = (before < CONTRAST_THRESHOLD) & (after >= CONTRAST_THRESHOLD)
    return int(np.count_nonzero(grown))
