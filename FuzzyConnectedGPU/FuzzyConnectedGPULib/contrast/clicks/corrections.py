"""Background clicks: each takes away the leak that it sits in, and nothing else."""

import numpy as np

from ..neighbourhood import Ball, inscribed_radius, peaks_near, piece_of, squared_distance

# A background click at a contrast of up to RAISE_UP_TO thresholds raises the threshold everywhere.
RAISE_EXPONENT, RAISE_MOST, RAISE_UP_TO = 0.3, 1.5, 2.0
# In the halo of something brighter: below this share of the peak within that distance.
HALO_SHARE, HALO_PEAK_DISTANCE, HALO_REACH = 0.6, 3.0, 16.0
# On a plateau of at least this inscribed radius: all that is at least half as bright, so far.
PLATEAU_RADIUS, PLATEAU_SHARE, PLATEAU_REACH = 4.0, 0.5, 6.0
# Else the threshold is raised round the click, by a Gaussian of some inscribed radii, not wider
# than a share of the distance to the nearest positive click.
LOCAL_RADII, LOCAL_LEAST, LOCAL_OF_DISTANCE = 2.0, 4.0, 0.5
MOST_RADIUS = 30.0
ABOVE_CLICK = 1.05  # the raised threshold at the click, in multiples of its contrast


def raised_by(ratio):
    """The factor by which a click at `ratio` thresholds raises the threshold everywhere."""
    if 1 < ratio < RAISE_UP_TO:
        return min(ratio**RAISE_EXPONENT, RAISE_MOST)
    return 1.0


def inscribed(labels, click, unit):
    """Radius of the ball round a click within the labels, up to `MOST_RADIUS`."""
    return inscribed_radius(labels, click, MOST_RADIUS, unit)


def take_leaks_away(scene, evidence, positive, negative, threshold, check=lambda: None):
    """Lower the scene, in place, where background clicks ask for it.

    Parameters
    ----------
    scene : ndarray, float32
    evidence : Evidence
    positive, negative : sequence of (K, J, I)
    threshold : float
        Of the contrast, before background clicks raised it.
    check : callable
        Raises `Cancelled` to abort.
    """
    before = scene.copy() if len(negative) > 1 else scene
    for click in negative:
        if before[click] >= 0.5:
            check()
            _take_leak_away(scene, before, evidence, positive, click, threshold)


def _take_leak_away(scene, before, evidence, positive, click, threshold):
    contrast, unit = evidence.contrast, evidence.unit
    own = float(contrast[click])
    one = tuple(slice(c, c + 1) for c in click)
    peak = max(float(peaks_near(contrast, one, HALO_PEAK_DISTANCE, unit)[0, 0, 0]), 1e-30)
    if own > threshold and own < HALO_SHARE * peak:
        ball = Ball(contrast.shape, click, 3 * HALO_REACH, unit)
        share = ABOVE_CLICK * own / peak * _bell(ball, HALO_REACH)
        peaks = peaks_near(contrast, ball.box, HALO_PEAK_DISTANCE, unit)
        _raise(scene, evidence, ball, share * peaks, positive, click)
        return
    around = Ball(contrast.shape, click, MOST_RADIUS, unit)
    radius = inscribed_radius(before[around.box] >= 0.5, around.centre, MOST_RADIUS, unit)
    nearest = min(np.sqrt((((np.array(p) - click) * unit) ** 2).sum()) for p in positive)
    if radius >= PLATEAU_RADIUS and own >= HALO_SHARE * peak:
        reach = min(PLATEAU_REACH * radius, LOCAL_OF_DISTANCE * nearest)
        ball = Ball(contrast.shape, click, reach, unit)
        leak = piece_of((contrast[ball.box] >= PLATEAU_SHARE * own) & ball.inside, ball.centre)
        scene[ball.box][leak & _nearer(ball, positive, click, unit)] = 0
    width = min(max(LOCAL_RADII * radius, LOCAL_LEAST), LOCAL_OF_DISTANCE * nearest)
    ball = Ball(contrast.shape, click, 3 * width, unit)
    raised = ABOVE_CLICK * own * _bell(ball, width)
    _raise(scene, evidence, ball, raised, positive, click)


def _bell(ball, width):
    return np.exp(-ball.squared / np.float32(2 * max(width, 1e-3) ** 2))


def _raise(scene, evidence, ball, thresholds, positive, click):
    """Raise the thresholds in a ball where the background click is the nearest."""
    contrast = np.maximum(evidence.contrast[ball.box], np.float32(0))
    thresholds = np.maximum(thresholds, np.float32(0))
    lower = contrast / np.maximum(contrast + thresholds, np.float32(1e-30))
    part = scene[ball.box]
    mine = _nearer(ball, positive, click, evidence.unit) & (contrast < thresholds)
    part[mine] = np.minimum(part, lower)[mine]


def _nearer(ball, positive, click, unit):
    """Voxels of a ball's box that are nearer to the background click than to any positive one."""
    nearer = np.ones(ball.squared.shape, bool)
    for other in positive:
        nearer &= ball.squared < squared_distance(ball.box, other, unit)
    return nearer
