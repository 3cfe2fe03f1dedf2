"""Clicks that change the object near them: faint ones add to it, background clicks remove."""

from collections.abc import Container
from typing import Any

import numpy as np

from FuzzyVesselCoreLib.progress import Progress

from ..scene import CONTRAST_THRESHOLD
from .clicks import (
    HAS_CONTRAST,
    MAX_RADIUS,
    Ball,
    component_of,
    inscribed_radius,
    membership,
    midway,
    peaks_near,
    squared_distance,
)
from .contrast_map import ContrastMap
from .filters import Voxel, at_click
from .widest_paths import component_at

# ---- Clicks with too little contrast: each adds its own structure, and little else

# Deviations of the noise from which on a click stands out by its difference to the tissue.
HAS_DIFFERENCE = 1.2
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
# A click that does not stand out: the membership of similar voxels, and how far they are searched.
ALIKE_MEMBERSHIP = 0.6
ALIKE_SHARE, ALIKE_DEVIATIONS, ALIKE_RADIUS = 0.01, 1.5, 20.0


def add_faint_clicks(
    connectedness: np.ndarray,
    mapped: ContrastMap,
    clicks: list[Voxel],
    size: int,
    near: Container[Voxel],
    progress: Progress,
) -> list[Voxel]:
    """Add, in place, the structure of each click that is not in the object yet.

    `size` is the number of the object's voxels; of the clicks in `near` nothing far is meant. The
    progress is checked before each. Returns the clicks without contrast, which differ from their
    surroundings in no way: each has added a few similar voxels around it.
    """
    without_contrast = []
    for click in clicks:
        if connectedness[click] < CONTRAST_THRESHOLD:
            progress.check()
            evidence = _evidence_at(mapped, click)
            if evidence is None:
                size += _add_alike(connectedness, mapped, click, size)
                without_contrast.append(click)
            else:
                size += _add(connectedness, mapped, click, evidence, size, click in near)
    return without_contrast


def _evidence_at(mapped: ContrastMap, click: Voxel) -> tuple[Any, float, float] | None:
    """What a click stands out in: values, their noise, and their contrast at the click.

    None where it stands out in no way, or lies in air. The values are the contrast to the local
    background or, where the click has too little of it, the difference to the tissue. In a scan of
    several tissues that is also so in a vessel so wide that it is its own background, and has too
    little contrast for its brightness.
    """
    if mapped.in_air(click):
        return None
    contrast = at_click(mapped.contrast, click)
    has_contrast = contrast >= HAS_CONTRAST * mapped.noise and mapped.contrast[click] > 0
    if has_contrast and not mapped.is_own_background(click, contrast):
        return mapped.contrast, mapped.noise, contrast
    values, noise = mapped.difference
    difference = at_click(values, click)
    if difference < HAS_DIFFERENCE * noise or values[click] <= 0:
        return None
    return values, noise, difference


def _add(
    connectedness: np.ndarray, mapped: ContrastMap, click: Voxel,
    evidence: tuple[Any, float, float], size: int, near: bool,
) -> int:  # fmt: skip
    """Add the structure that a click means; by how many voxels the object has grown."""
    values, noise, contrast = evidence
    least = max(midway(noise, contrast), FAINT_CONTRAST * contrast)
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
    return _add_near(connectedness, values, contrast, mapped, click, least)


def _add_near(
    connectedness: np.ndarray, values: Any, contrast: float, mapped: ContrastMap,
    click: Voxel, least: float,
) -> int:  # fmt: skip
    """Add the 6-connected component of a click, of the least contrast, within some radii of it."""
    radii, most, spacing = FAINT_RADII, np.inf, mapped.spacing
    if values is not mapped.contrast and mapped.may_lack_wide_vessels:
        radii, most = WIDE_RADII, contrast / FAINT_CONTRAST
    ball = Ball(values.shape, click, MAX_RADIUS, spacing)
    enough = mapped.masked(values[ball.box] >= least, ball.box)
    radius = inscribed_radius(enough, ball.centre, spacing)
    ball = Ball(values.shape, click, min(max(radii * radius, LEAST_RADIUS), FARTHEST), spacing)
    own = values[ball.box]
    alike = mapped.masked((own >= least) & (own <= most) & ball.inside, ball.box)
    near = component_of(alike, ball.centre)
    return _raise(connectedness[ball.box], near, membership(own[near], least))


def _add_alike(connectedness: np.ndarray, mapped: ContrastMap, click: Voxel, size: int) -> int:
    """Without anything to go by: add similar voxels in a ball, small compared with the object.

    In air, where all voxels look alike, it is as small as for no object.
    """
    share = 0.0 if mapped.in_air(click) else ALIKE_SHARE
    volume = max(share * size, 27) * np.prod(mapped.spacing)
    radius = float(np.clip((volume * 3 / (4 * np.pi)) ** (1 / 3), 2.0, ALIKE_RADIUS))
    ball = Ball(connectedness.shape, click, radius, mapped.spacing)
    values, noise = mapped.difference
    alike = np.abs(values[ball.box] - values[click]) <= ALIKE_DEVIATIONS * noise
    if mapped.contrast[click] > 0:
        own = at_click(mapped.contrast, click)
        alike &= mapped.contrast[ball.box] >= FAINT_CONTRAST * own
    alike = mapped.masked(alike & ball.inside, ball.box)
    alike[ball.centre] = True
    alike = component_of(alike, ball.centre)
    return _raise(connectedness[ball.box], alike, np.float32(ALIKE_MEMBERSHIP))


def _raise(part: np.ndarray, voxels: np.ndarray, value: np.ndarray | np.float32) -> int:
    """Raise the connectedness of voxels to a value, in place; by how many the object has grown."""
    before = part[voxels]
    after = np.maximum(before, value)
    part[voxels] = after
    grown = (before < CONTRAST_THRESHOLD) & (after >= CONTRAST_THRESHOLD)
    return int(np.count_nonzero(grown))


# ---- Background clicks in the object: each removes the leak that it lies in

# On a plateau of at least this inscribed radius, not much fainter than its peak, the voxels within
# the reach that have at least this share of its contrast are removed first.
PLATEAU_RADIUS, PLATEAU_SHARE, PLATEAU_REACH = 4.0, 0.5, 6.0
OF_PEAK, PEAK_WITHIN = 0.6, 3.0  # not fainter than this share of the peak within that distance
# Then, everywhere, the least contrast is raised around the click, by a Gaussian of some inscribed
# radii, not wider than a share of the distance to the nearest vessel click.
LOCAL_RADII, MIN_LOCAL, LOCAL_OF_DISTANCE = 2.0, 4.0, 0.5
ABOVE_CLICK = 1.05  # the raised least contrast at the click, in multiples of the click's


def remove_leaks(
    connectedness: np.ndarray, mapped: ContrastMap, vessel: list[Voxel], leaks: list[Voxel],
    progress: Progress,
) -> None:  # fmt: skip
    """Lower the connectedness, in place, around background clicks in the object.

    The progress is checked before each background click.
    """
    # The object's radius at each click, before any of them has lowered it.
    radii = [_radius_at(connectedness, mapped, click) for click in leaks]
    for click, radius in zip(leaks, radii, strict=True):
        progress.check()
        _remove_leak(connectedness, mapped, vessel, click, radius)


def _radius_at(connectedness: np.ndarray, mapped: ContrastMap, click: Voxel) -> float:
    """The inscribed radius of the object at a click."""
    ball = Ball(connectedness.shape, click, MAX_RADIUS, mapped.spacing)
    labels = connectedness[ball.box] >= CONTRAST_THRESHOLD
    return inscribed_radius(labels, ball.centre, mapped.spacing)


def _remove_leak(
    connectedness: np.ndarray, mapped: ContrastMap, vessel: list[Voxel], click: Voxel,
    radius: float,
) -> None:  # fmt: skip
    """Take away the plateau that a background click lies on; raise the least contrast around it.

    It is raised where the background click is the nearest click.
    """
    contrast, spacing = mapped.contrast, mapped.spacing
    own = float(contrast[click])
    one = tuple(slice(c, c + 1) for c in click)
    peak = float(peaks_near(contrast, one, PEAK_WITHIN, spacing)[0, 0, 0])
    nearest = min(np.sqrt((((np.array(p) - click) * spacing) ** 2).sum()) for p in vessel)
    if radius >= PLATEAU_RADIUS and own >= OF_PEAK * peak:
        reach = min(PLATEAU_REACH * radius, LOCAL_OF_DISTANCE * nearest)
        ball = Ball(contrast.shape, click, reach, spacing)
        leak = component_of((contrast[ball.box] >= PLATEAU_SHARE * own) & ball.inside, ball.centre)
        connectedness[ball.box][leak & _nearer(ball, vessel, spacing)] = 0
    width = min(max(LOCAL_RADII * radius, MIN_LOCAL), LOCAL_OF_DISTANCE * nearest)
    ball = Ball(contrast.shape, click, 3 * width, spacing)
    bell = np.exp(-ball.squared / np.float32(2 * max(width, 1e-3) ** 2))
    raised = np.maximum(ABOVE_CLICK * own * bell, np.float32(0))
    values = np.maximum(contrast[ball.box], np.float32(0))
    lower = values / np.maximum(values + raised, np.float32(1e-30))
    part = connectedness[ball.box]
    lowered = _nearer(ball, vessel, spacing) & (values < raised)
    part[lowered] = np.minimum(part, lower)[lowered]


def _nearer(ball: Ball, vessel: list[Voxel], spacing: np.ndarray) -> np.ndarray:
    """Voxels of a ball's box that are nearer to the background click than to any vessel click."""
    nearer = np.ones(ball.squared.shape, bool)
    for other in vessel:
        nearer &= ball.squared < squared_distance(ball.box, other, spacing)
    return nearer
