"""Background clicks: each removes the leak that it lies in; in halos of vessels they teach more."""

import numpy as np

from FuzzyVesselCoreLib.progress import Progress

from ..scene import CONTRAST_THRESHOLD
from .clicks import MAX_RADIUS, Ball, component_of, inscribed_radius, peaks_near, squared_distance
from .contrast_map import ContrastMap
from .widest_paths import Reached

# On a plateau of at least this inscribed radius, not much fainter than its peak, the voxels within
# the reach that have at least this share of its contrast are removed first.
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
    # The object's radius at each click, before any of them has lowered it.
    radii = [_radius_at(connectedness, mapped, click) for click in leaks]
    for click, radius in zip(leaks, radii, strict=True):
        progress.check()
        _remove_leak(connectedness, mapped, positive, click, radius)


def _radius_at(connectedness: np.ndarray, mapped: ContrastMap, click: tuple[int, ...]) -> float:
    """The inscribed radius of the object at a click."""
    ball = Ball(connectedness.shape, click, MAX_RADIUS, mapped.spacing)
    labels = connectedness[ball.box] >= CONTRAST_THRESHOLD
    return inscribed_radius(labels, ball.centre, mapped.spacing)


def _remove_leak(
    connectedness: np.ndarray,
    mapped: ContrastMap,
    positive: list[tuple[int, ...]],
    click: tuple[int, ...],
    radius: float,
) -> None:
    """Take away the plateau that a background click lies on; raise the least contrast around it.

    It is raised where the background click is the nearest click.
    """
    contrast, spacing = mapped.contrast, mapped.spacing
    own = float(contrast[click])
    one = tuple(slice(c, c + 1) for c in click)
    peak = float(peaks_near(contrast, one, PEAK_WITHIN, spacing)[0, 0, 0])
    nearest = min(np.sqrt((((np.array(p) - click) * spacing) ** 2).sum()) for p in positive)
    if radius >= PLATEAU_RADIUS and own >= OF_PEAK * peak:
        reach = min(PLATEAU_REACH * radius, LOCAL_OF_DISTANCE * nearest)
        ball = Ball(contrast.shape, click, reach, spacing)
        leak = component_of((contrast[ball.box] >= PLATEAU_SHARE * own) & ball.inside, ball.centre)
        connectedness[ball.box][leak & _nearer(ball, positive, spacing)] = 0
    width = min(max(LOCAL_RADII * radius, MIN_LOCAL), LOCAL_OF_DISTANCE * nearest)
    ball = Ball(contrast.shape, click, 3 * width, spacing)
    bell = np.exp(-ball.squared / np.float32(2 * max(width, 1e-3) ** 2))
    raised = np.maximum(ABOVE_CLICK * own * bell, np.float32(0))
    values = np.maximum(contrast[ball.box], np.float32(0))
    lower = values / np.maximum(values + raised, np.float32(1e-30))
    part = connectedness[ball.box]
    lowered = _nearer(ball, positive, spacing) & (values < raised)
    part[lowered] = np.minimum(part, lower)[lowered]


def _nearer(ball: Ball, positive: list[tuple[int, ...]], spacing: np.ndarray) -> np.ndarray:
    """Voxels of a ball's box that are nearer to the background click than to any positive one."""
    nearer = np.ones(ball.squared.shape, bool)
    for other in positive:
        nearer &= ball.squared < squared_distance(ball.box, other, spacing)
    return nearer


# ---- Halos of bright vessels: background clicks in them teach what holds for all that is alike
# The image of a bright vessel is wider than the vessel. A background click in a halo says that the
# least contrast must rise with that of the vessel beside it, here and everywhere else. One such
# click changes little, several that agree change more, and vessel clicks in halos say the opposite.
# How the constants were chosen: Documentation/decisions/0007-contrast-model.md.

HALO_WITHIN = 2.0  # smallest spacings within which a voxel's peak lies
HALO_SHARE = 0.65  # of the peak below which a voxel is in its halo
# Least contrasts rise with this power of the peak after infinitely many clicks, half after one.
HIGHEST_POWER, HALF_POWER_CLICKS = 0.5, 1
MAX_CHANGES = 0.05, 0.1, 0.2  # share of the object that may change, by 1, 2, more clicks that agree


def in_halo(mapped: ContrastMap, voxel: tuple[int, ...], least_contrast: float) -> bool:
    """Whether a voxel lies beside a much brighter vessel, which has the least contrast."""
    box = tuple(slice(c, c + 1) for c in voxel)
    peak = float(peaks_near(mapped.contrast, box, HALO_WITHIN, mapped.spacing)[0, 0, 0])
    return peak > least_contrast and float(mapped.contrast[voxel]) < HALO_SHARE * peak


def learn(
    mapped: ContrastMap, reached: Reached, least_contrast: float, negative: list[tuple[int, ...]],
    further: list[tuple[int, ...]], first_least: float,
) -> np.ndarray | None:  # fmt: skip
    """The least contrast (float32) of each reached voxel, learned from background clicks in halos.

    Further vessel clicks in halos contradict; None where nothing is learned. A click counts by
    `first_least`, the least contrast before background clicks have raised it.

    It is multiplied by a power of the peak near the voxel. The peak for which nothing changes is
    between the least contrast and the object's median peak, on a log scale: where halos of bright
    vessels are removed, less contrast suffices in faint vessels.
    """
    false = [voxel for voxel in negative if mapped.contrast[voxel] > first_least]
    agreeing = sum(in_halo(mapped, voxel, first_least) for voxel in false)
    agreeing -= sum(in_halo(mapped, voxel, first_least) for voxel in further)
    if agreeing <= 0 or reached.contrast_of_strong.max(initial=0) < least_contrast:
        return None
    peaks = _peaks_of(reached, mapped.contrast.shape, mapped.spacing).astype(np.float64)
    strong = reached.is_strong
    contrast = reached.contrast[strong].astype(np.float64)
    before = contrast >= least_contrast
    unchanged = np.sqrt(least_contrast * np.median(peaks[strong][before]))
    power = HIGHEST_POWER * agreeing / (agreeing + HALF_POWER_CLICKS)
    # A voxel joins or leaves the object at this power; never, where it is not positive.
    with np.errstate(divide="ignore", invalid="ignore"):
        changes = np.log(contrast / least_contrast) / np.log(peaks[strong] / unchanged)
    changes = changes[changes > 0]
    share = MAX_CHANGES[min(agreeing, len(MAX_CHANGES)) - 1]
    most = int(share * np.count_nonzero(before))
    if most < changes.size:
        power = min(power, np.partition(changes, most)[most])
    return (least_contrast * (peaks / unchanged) ** power).astype(np.float32)


def _peaks_of(reached: Reached, shape: tuple[int, ...], spacing: np.ndarray) -> np.ndarray:
    """The highest contrast near each of the voxels, among them."""
    volume = np.zeros(int(np.prod(shape)), np.float32)  # only touched pages take time
    voxels, peaks = reached.voxels, reached.contrast
    for axis, stride in ((2, 1), (1, shape[2]), (0, shape[1] * shape[2])):
        volume[voxels] = peaks
        place, highest = voxels // stride % shape[axis], peaks.copy()
        reach = round(HALO_WITHIN / spacing[axis])
        for step in (*range(-reach, 0), *range(1, reach + 1)):
            there = np.flatnonzero((place + step >= 0) & (place + step < shape[axis]))
            values = volume[voxels[there] + step * stride]
            highest[there] = np.maximum(highest[there], values)
        peaks = highest
    return peaks
