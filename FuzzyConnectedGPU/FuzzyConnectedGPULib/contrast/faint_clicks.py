"""Clicks with less contrast than the threshold: each adds its own structure, and little else."""

from collections.abc import Iterator

import numpy as np

from .background import SHARE_OF_DIFFERENCE
from .contrast_map import ContrastMap
from .contrast_threshold import CONTRAST_THRESHOLD, membership, midway
from .main_object import EVIDENT
from .neighbourhood import MAX_RADIUS, Ball, at_click, component_of, inscribed_radius

# Deviations of the noise from which on a click has evidence in the contrast to a wide background,
# and in the difference to the median (bright, dark).
EVIDENT_WIDE, EVIDENT_DIFFERENCE = 3.0, 1.2
# A click adds its whole component where that is at most this share of the object, else the part of
# it within some inscribed radii.
FAINT_SHARE, FAINT_CONTRAST = 0.5, 0.6
FAINT_RADII = LEAST_RADIUS = 3.0  # .. and of the smallest spacing, however thin the vessel is
FARTHEST = LEAST_RADIUS * MAX_RADIUS
# Among several tissues, where the vessel may be its own background (`lower_own_background`): so
# many radii, without what is as much brighter than the click as the threshold is fainter.
WIDE_RADII = 6.0
MIN_ADDED = 8  # voxels; a component that adds fewer is that of the object itself
MAX_OF_VOLUME = 0.4  # .. that the only click may add
# A click without any evidence: the membership of similar voxels, and how far they are searched.
BLIND_MEMBERSHIP = 0.6
BLIND_SHARE, BLIND_ALIKE, BLIND_RADIUS = 0.01, 1.5, 20.0


def add_faint_click(
    connectedness: np.ndarray,
    found: ContrastMap,
    click: tuple[int, ...],
    size: int,
    beside_object: bool = True,
    near: bool = False,
) -> tuple[int, bool]:
    """Add, in place, the structure that a click of less contrast than the threshold means.

    `size` is the number of the object's voxels; `beside_object` says whether other clicks have an
    object (else nothing is known to be a vessel yet); `near` that nothing far from the click is
    meant. Returns by how many voxels the object has grown, and False where the click differs from
    its surroundings in no way.
    """
    if found.is_blank(click):
        return _add_alike(connectedness, found, click, 0), False
    for values, noise, least in _contrasts(found, beside_object):
        contrast = at_click(values, click)
        if contrast < least * noise or values[click] <= 0:
            continue
        if values is found.contrast and _own_background(found, click, contrast):
            continue
        threshold = max(midway(noise, contrast), FAINT_CONTRAST * contrast)
        threshold = min(threshold, float(values[click]))
        limit = int((1 + FAINT_SHARE) * size) if size else int(MAX_OF_VOLUME * connectedness.size)
        whole = None if near else found.component(values, click, threshold, limit)
        if whole is not None:
            flat, voxels = connectedness.ravel(), whole.voxels
            before = flat[voxels]
            added = int(np.count_nonzero(before < CONTRAST_THRESHOLD))
            if MIN_ADDED <= added <= FAINT_SHARE * size or not size:
                flat[voxels] = np.maximum(before, membership(whole.contrast, threshold))
                return added, True
        return _add_near(connectedness, values, found, click, threshold), True
    return _add_alike(connectedness, found, click, size), False


def _contrasts(
    found: ContrastMap, beside_object: bool
) -> Iterator[tuple[np.ndarray, float, float]]:
    """Contrasts to wider and wider backgrounds, their noise, and how many deviations count.

    Darker than the tissue while vessels are brighter may be a part of a vessel that is there, but
    no vessel by itself, nor fat and air among several tissues.
    """
    yield found.contrast, found.noise, EVIDENT
    yield *found.wide_contrast, EVIDENT_WIDE
    difference, noise = found.difference
    yield difference, noise, EVIDENT_DIFFERENCE
    if beside_object and not found.several_tissues:
        yield -difference, noise, EVIDENT_DIFFERENCE


def _own_background(found: ContrastMap, click: tuple[int, ...], contrast: float) -> bool:
    """Whether a click lies where the vessel itself is the background; its contrast is none."""
    if not found.several_tissues:
        return False
    return contrast < SHARE_OF_DIFFERENCE * at_click(found.difference[0], click)


def _add_near(
    connectedness: np.ndarray,
    values: np.ndarray,
    found: ContrastMap,
    click: tuple[int, ...],
    threshold: float,
) -> int:
    """Add the 6-connected component of a click within some inscribed radii of it."""
    radii, most, unit = FAINT_RADII, np.inf, found.unit
    if found.several_tissues and values is not found.contrast:
        radii, most = WIDE_RADII, at_click(values, click) / FAINT_CONTRAST
    ball = Ball(values.shape, click, MAX_RADIUS, unit)
    enough = found.masked(values[ball.box] >= threshold, ball.box)
    radius = inscribed_radius(enough, ball.centre, unit)
    ball = Ball(values.shape, click, min(max(radii * radius, LEAST_RADIUS), FARTHEST), unit)
    own = values[ball.box]
    alike = found.masked((own >= threshold) & (own <= most) & ball.inside, ball.box)
    near = component_of(alike, ball.centre)
    return _raise(connectedness[ball.box], near, membership(own[near], threshold))


def _add_alike(
    connectedness: np.ndarray, found: ContrastMap, click: tuple[int, ...], size: int
) -> int:
    """Without any evidence: similar voxels in a ball that is small compared with the object."""
    volume = max(BLIND_SHARE * size, 27) * np.prod(found.unit)
    radius = float(np.clip((volume * 3 / (4 * np.pi)) ** (1 / 3), 2.0, BLIND_RADIUS))
    ball = Ball(connectedness.shape, click, radius, found.unit)
    difference, noise = found.difference
    alike = np.abs(difference[ball.box] - difference[click]) <= BLIND_ALIKE * noise
    if found.contrast[click] > 0:
        own = at_click(found.contrast, click)
        alike &= found.contrast[ball.box] >= FAINT_CONTRAST * own
    alike = found.masked(alike & ball.inside, ball.box)
    alike[ball.centre] = True
    alike = component_of(alike, ball.centre)
    return _raise(connectedness[ball.box], alike, np.float32(BLIND_MEMBERSHIP))


def _raise(part: np.ndarray, voxels: np.ndarray, least: np.ndarray | np.float32) -> int:
    """Raise the connectedness of voxels in place; by how many the object has grown."""
    before = part[voxels]
    after = np.maximum(before, least)
    part[voxels] = after
    grown = (before < CONTRAST_THRESHOLD) & (after >= CONTRAST_THRESHOLD)
    return int(np.count_nonzero(grown))
