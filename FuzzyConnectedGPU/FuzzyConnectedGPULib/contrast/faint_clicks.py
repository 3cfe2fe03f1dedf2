"""Clicks with too little contrast: each adds its own structure, and little else."""

from typing import Any, NamedTuple

import numpy as np

from ..scene import CONTRAST_THRESHOLD
from .background import is_own_background
from .clicks import EVIDENT, MAX_RADIUS, Ball, component_of, inscribed_radius, membership, midway
from .contrast_map import ContrastMap
from .filters import at_click

EVIDENT_DIFFERENCE = 1.2  # deviations from which on the difference to the tissue counts

# A click adds its whole component where that is at most this share of the object, else the part of
# it within some inscribed radii.
FAINT_SHARE = 0.5
FAINT_CONTRAST = 0.6  # voxels of its structure have at least this share of the click's contrast
FAINT_RADII = 3.0
LEAST_RADIUS = 3.0  # smallest spacings, however thin the vessel is
FARTHEST = LEAST_RADIUS * MAX_RADIUS
# Where the vessel may be its own background: so many radii, without voxels that are brighter than
# the click's value / FAINT_CONTRAST.
WIDE_RADII = 6.0
MIN_ADDED = 8  # voxels; a component that adds fewer is that of the object itself
MAX_OF_VOLUME = 0.4  # .. that the only click may add
# A click without any evidence: the membership of similar voxels, and how far they are searched.
BLIND_MEMBERSHIP = 0.6
BLIND_SHARE, BLIND_ALIKE, BLIND_RADIUS = 0.01, 1.5, 20.0


class Evidence(NamedTuple):
    """What a click stands out in: values with their noise, and their contrast at the click.

    `may_be_wide`: the vessel may be its own background, and so wider than it seems.
    """

    values: Any
    noise: float
    contrast: float
    may_be_wide: bool


def _evidence_of(mapped: ContrastMap, click: tuple[int, ...]) -> Evidence | None:
    """What a click stands out in; None where it does in no way.

    That is the contrast to the local background or, where the click lies in a vessel that is its
    own background or has too little contrast, the difference to the tissue.
    """
    contrast = at_click(mapped.contrast, click)
    is_evident = contrast >= EVIDENT * mapped.noise and mapped.contrast[click] > 0
    if is_evident and not mapped.several_tissues:
        return Evidence(mapped.contrast, mapped.noise, contrast, False)
    values, noise = mapped.difference
    difference = at_click(values, click)
    if is_evident and not is_own_background(contrast, difference):
        return Evidence(mapped.contrast, mapped.noise, contrast, False)
    if difference < EVIDENT_DIFFERENCE * noise or values[click] <= 0:
        return None
    return Evidence(values, noise, difference, mapped.several_tissues)


def add_faint_click(
    connectedness: np.ndarray, mapped: ContrastMap, click: tuple[int, ...], size: int, near: bool
) -> tuple[int, bool]:
    """Add, in place, the structure that a click of less than the least contrast means.

    `size` is the number of the object's voxels; `near` says that nothing far from the click is
    meant. Returns by how many voxels the object has grown, and False where the click differs from
    its surroundings in no way.
    """
    # In air all voxels look alike.
    in_air = mapped.several_tissues and mapped.polarity * mapped.smooth[click] < mapped.tissue.air
    evidence = None if in_air else _evidence_of(mapped, click)
    if evidence is None:
        return _add_alike(connectedness, mapped, click, 0 if in_air else size), False
    values, contrast = evidence.values, evidence.contrast
    least = max(midway(evidence.noise, contrast), FAINT_CONTRAST * contrast)
    least = min(least, float(values[click]))
    limit = int((1 + FAINT_SHARE) * size) if size else int(MAX_OF_VOLUME * connectedness.size)
    whole = None if near else mapped.component(values, click, least, limit)
    if whole is not None:
        flat, voxels = connectedness.ravel(), whole.voxels
        before = flat[voxels]
        added = int(np.count_nonzero(before < CONTRAST_THRESHOLD))
        if MIN_ADDED <= added <= FAINT_SHARE * size or not size:
            flat[voxels] = np.maximum(before, membership(whole.contrast, least))
            return added, True
    return _add_near(connectedness, evidence, mapped, click, least), True


def _add_near(
    connectedness: np.ndarray,
    evidence: Evidence,
    mapped: ContrastMap,
    click: tuple[int, ...],
    least: float,
) -> int:
    """Add the 6-connected component of a click, of the least contrast, within some radii of it."""
    values, radii, most, spacing = evidence.values, FAINT_RADII, np.inf, mapped.spacing
    if evidence.may_be_wide:
        radii, most = WIDE_RADII, evidence.contrast / FAINT_CONTRAST
    ball = Ball(values.shape, click, MAX_RADIUS, spacing)
    enough = mapped.masked(values[ball.box] >= least, ball.box)
    radius = inscribed_radius(enough, ball.centre, spacing)
    ball = Ball(values.shape, click, min(max(radii * radius, LEAST_RADIUS), FARTHEST), spacing)
    own = values[ball.box]
    alike = mapped.masked((own >= least) & (own <= most) & ball.inside, ball.box)
    near = component_of(alike, ball.centre)
    return _raise(connectedness[ball.box], near, membership(own[near], least))


def _add_alike(
    connectedness: np.ndarray, mapped: ContrastMap, click: tuple[int, ...], size: int
) -> int:
    """Without any evidence: similar voxels in a ball that is small compared with the object."""
    volume = max(BLIND_SHARE * size, 27) * np.prod(mapped.spacing)
    radius = float(np.clip((volume * 3 / (4 * np.pi)) ** (1 / 3), 2.0, BLIND_RADIUS))
    ball = Ball(connectedness.shape, click, radius, mapped.spacing)
    difference, noise = mapped.difference
    alike = np.abs(difference[ball.box] - difference[click]) <= BLIND_ALIKE * noise
    if mapped.contrast[click] > 0:
        own = at_click(mapped.contrast, click)
        alike &= mapped.contrast[ball.box] >= FAINT_CONTRAST * own
    alike = mapped.masked(alike & ball.inside, ball.box)
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
