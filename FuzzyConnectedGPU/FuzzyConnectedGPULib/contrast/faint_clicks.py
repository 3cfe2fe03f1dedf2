"""Clicks with too little contrast: each adds its own structure, and little else."""

from collections.abc import Container

import numpy as np

from FuzzyVesselCoreLib.progress import Progress

from ..scene import CONTRAST_THRESHOLD
from .clicks import MAX_RADIUS, Ball, component_of, inscribed_radius, membership, midway
from .contrast_map import ContrastMap, Evidence
from .filters import at_click
from .widest_paths import component_at

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


def add_faint_clicks(
    connectedness: np.ndarray,
    mapped: ContrastMap,
    clicks: list[tuple[int, ...]],
    size: int,
    near: Container[tuple[int, ...]],
    progress: Progress,
) -> list[tuple[int, ...]]:
    """Add, in place, the structure of each click that is not in the object yet.

    `size` is the number of the object's voxels; of the clicks in `near` nothing far is meant. The
    progress is checked before each. Returns the clicks that differ from their surroundings in no
    way: each has added a few similar voxels around it.
    """
    without_contrast = []
    for click in clicks:
        if connectedness[click] < CONTRAST_THRESHOLD:
            progress.check()
            evidence = mapped.evidence_at(click)
            if evidence is None:
                size += _add_alike(connectedness, mapped, click, size)
                without_contrast.append(click)
            else:
                size += _add(connectedness, mapped, click, evidence, size, click in near)
    return without_contrast


def _add(
    connectedness: np.ndarray, mapped: ContrastMap, click: tuple[int, ...], evidence: Evidence,
    size: int, near: bool,
) -> int:  # fmt: skip
    """Add the structure that a click means; by how many voxels the object has grown."""
    values, contrast = evidence.values, evidence.contrast
    least = max(midway(evidence.noise, contrast), FAINT_CONTRAST * contrast)
    least = min(least, float(values[click]))
    limit = int((1 + FAINT_SHARE) * size) if size else int(MAX_OF_VOLUME * connectedness.size)
    whole = None if near else component_at(mapped, values, click, least, limit)
    if whole is not None:
        flat, voxels = connectedness.ravel(), whole.voxels
        before = flat[voxels]
        added = int(np.count_nonzero(before < CONTRAST_THRESHOLD))
        if MIN_ADDED <= added <= FAINT_SHARE * size or not size:
            flat[voxels] = np.maximum(before, membership(whole.contrast, least))
            return added
    return _add_near(connectedness, evidence, mapped, click, least)


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
    """Without any evidence: similar voxels in a ball that is small compared with the object.

    In air, where all voxels look alike, it is as small as for no object.
    """
    share = 0.0 if mapped.in_air(click) else BLIND_SHARE
    volume = max(share * size, 27) * np.prod(mapped.spacing)
    radius = float(np.clip((volume * 3 / (4 * np.pi)) ** (1 / 3), 2.0, BLIND_RADIUS))
    ball = Ball(connectedness.shape, click, radius, mapped.spacing)
    alike = mapped.alike(ball.box, click, BLIND_ALIKE)
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
