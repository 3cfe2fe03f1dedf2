"""Background clicks: each removes the leak that it lies in, and nothing else."""

import numpy as np

from FuzzyVesselCoreLib.progress import Progress

from ..scene import CONTRAST_THRESHOLD
from .clicks import (
    MAX_RADIUS,
    Ball,
    component_of,
    inscribed_radius,
    peaks_near,
    squared_distance,
)
from .contrast_map import ContrastMap

# On a plateau of at least this inscribed radius, not much fainter than its peak, these go first:
# voxels at least half as bright, within a reach.
PLATEAU_RADIUS, PLATEAU_SHARE, PLATEAU_REACH = 4.0, 0.5, 6.0
OF_PEAK, PEAK_WITHIN = 0.6, 3.0  # not fainter than this share of the peak within that distance
# Then, everywhere, the least contrast is raised around the click, by a Gaussian of some inscribed
# radii, not wider than a share of the distance to the nearest positive click.
LOCAL_RADII, MIN_LOCAL, LOCAL_OF_DISTANCE = 2.0, 4.0, 0.5
ABOVE_CLICK = 1.05  # the raised least contrast at the click, in multiples of the click's


def remove_leaks(
    connectedness: np.ndarray,
    mapped: ContrastMap,
    positive: list[tuple[int, ...]],
    leaks: list[tuple[int, ...]],
    progress: Progress,
) -> None:
    """Lower the connectedness, in place, around background clicks in the object.

    The progress is checked before each background click.
    """
    # The object around each click, before any of them has lowered it.
    objects = [_object_around(connectedness, mapped, click) for click in leaks]
    for click, around in zip(leaks, objects, strict=True):
        progress.check()
        _remove_leak(connectedness, around, mapped, positive, click)


def _object_around(
    connectedness: np.ndarray, mapped: ContrastMap, click: tuple[int, ...]
) -> tuple[np.ndarray, tuple[int, ...]]:
    """The object in the box of a ball around a click, and the click in the box."""
    around = Ball(connectedness.shape, click, MAX_RADIUS, mapped.spacing)
    return connectedness[around.box] >= CONTRAST_THRESHOLD, around.centre


def _remove_leak(
    connectedness: np.ndarray,
    around: tuple[np.ndarray, tuple[int, ...]],
    mapped: ContrastMap,
    positive: list[tuple[int, ...]],
    click: tuple[int, ...],
) -> None:
    """Take away the plateau that a background click lies on; raise the least contrast around it."""
    contrast, spacing = mapped.contrast, mapped.spacing
    own = float(contrast[click])
    one = tuple(slice(c, c + 1) for c in click)
    peak = float(peaks_near(contrast, one, PEAK_WITHIN, spacing)[0, 0, 0])
    radius = inscribed_radius(*around, spacing)
    nearest = min(np.sqrt((((np.array(p) - click) * spacing) ** 2).sum()) for p in positive)
    if radius >= PLATEAU_RADIUS and own >= OF_PEAK * peak:
        reach = min(PLATEAU_REACH * radius, LOCAL_OF_DISTANCE * nearest)
        ball = Ball(contrast.shape, click, reach, spacing)
        leak = component_of((contrast[ball.box] >= PLATEAU_SHARE * own) & ball.inside, ball.centre)
        connectedness[ball.box][leak & _nearer(ball, positive, spacing)] = 0
    width = min(max(LOCAL_RADII * radius, MIN_LOCAL), LOCAL_OF_DISTANCE * nearest)
    ball = Ball(contrast.shape, click, 3 * width, spacing)
    bell = np.exp(-ball.squared / np.float32(2 * max(width, 1e-3) ** 2))
    raised = ABOVE_CLICK * own * bell
    _raise_least_contrast(connectedness, mapped, ball, raised, positive, click)


def _raise_least_contrast(
    connectedness: np.ndarray,
    mapped: ContrastMap,
    ball: Ball,
    raised: np.ndarray,
    positive: list[tuple[int, ...]],
    click: tuple[int, ...],
) -> None:
    """Raise the least contrast in a ball where the background click is the nearest click."""
    contrast = np.maximum(mapped.contrast[ball.box], np.float32(0))
    raised = np.maximum(raised, np.float32(0))
    lower = contrast / np.maximum(contrast + raised, np.float32(1e-30))
    part = connectedness[ball.box]
    nearest = _nearer(ball, positive, mapped.spacing) & (contrast < raised)
    part[nearest] = np.minimum(part, lower)[nearest]


def _nearer(ball: Ball, positive: list[tuple[int, ...]], spacing: np.ndarray) -> np.ndarray:
    """Voxels of a ball's box that are nearer to the background click than to any positive one."""
    nearer = np.ones(ball.squared.shape, bool)
    for other in positive:
        nearer &= ball.squared < squared_distance(ball.box, other, spacing)
    return nearer
