"""From clicks to the fuzzy scene: each click has its own least contrast, and is honoured.

A voxel of contrast s has the membership ``s / (s + t)``, where t is the least contrast: 0.5 where
they are equal. Its connectedness is the membership, limited by the widest path from the clicks with
regard to the least contrast of paths, which is near the noise: faint links connect, but only voxels
with contrast belong. Labels are the voxels of at least 0.5; another cut is "less" or "more".
"""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from scipy import ndimage

from FuzzyVesselCoreLib.progress import Progress

from .contrast_map import (
    MAX_RADIUS,
    Ball,
    ContrastMap,
    at_click,
    component_of,
    inscribed_radius,
    peaks_near,
    squared_distance,
)
from .contrast_model import CONTRAST_THRESHOLD, Clicks, membership, midway
from .main_object import EVIDENT, JudgedClick, MainObject, in_halo
from .tissue import SHARE_OF_DIFFERENCE


def click_scene(
    mapped: ContrastMap,
    clicks: Clicks,
    border: str = "drawn",
    progress: Progress | None = None,
) -> tuple[np.ndarray, float, list[tuple[int, ...]]]:
    """The fuzzy scene of clicks within the map's box, of which at least one is positive.

    Returns connectedness (float32 of the map's shape; positive clicks have 1, background clicks 0),
    the contrast from which on a voxel belongs to the object, and the positive clicks that differ
    from their surroundings in no way: each has added a few similar voxels around it.
    """
    progress = Progress.of(progress)
    positive = [tuple(map(int, p)) for p in clicks.positive]
    negative = [tuple(map(int, q)) for q in clicks.negative]
    judged = [_click(mapped, p, n == 0) for n, p in enumerate(positive)]
    # By contrast: the result does not depend on the order of the further clicks.
    judged[1:] = sorted(judged[1:], key=lambda click: (-click.contrast, click.voxel))
    with ThreadPoolExecutor(1) as pool:  # new memory takes as long as the paths
        memory = pool.submit(np.full, mapped.contrast.shape, np.float32(0), np.float32)
        main = MainObject(mapped, judged)
    progress.check()
    main.raise_for_background(negative)
    main.lower_for_faint_clicks()
    progress.check()
    connectedness = memory.result()
    size = main.write_connectedness(connectedness)
    without: list[tuple[int, ...]] = []
    for click in judged:
        if connectedness[click.voxel] < CONTRAST_THRESHOLD:
            progress.check()
            added, has_contrast = add_faint_click(
                connectedness, mapped, click.voxel, size,
                near=main.learned_halos and in_halo(mapped, click.voxel, main.least_contrast),
            )  # fmt: skip
            size += added
            if not has_contrast:
                without.append(click.voxel)
    remove_leaks(connectedness, mapped, positive, negative, progress)
    if border == "half":
        progress.check()
        move_to_half_contrast(connectedness, mapped, CONTRAST_THRESHOLD)
    for voxel in positive:
        connectedness[voxel] = 1
    for voxel in negative:
        connectedness[voxel] = 0
    return connectedness, main.least_contrast, without


def _click(mapped: ContrastMap, voxel: tuple[int, ...], first: bool) -> JudgedClick:
    """A click with its contrast; the first may lie beside the middle of its vessel."""
    own = at_click(mapped.contrast, voxel)
    if not first:
        return JudgedClick(voxel, own, voxel)
    ridge, start = mapped.middle_near(voxel)
    return JudgedClick(voxel, max(own, ridge), start if ridge > own else voxel)


# ---- Clicks with too little contrast: each adds its own structure, and little else

EVIDENT_DIFFERENCE = 1.2  # deviations from which on the difference to the median counts
# A click adds its whole component where that is at most this share of the object, else the part of
# it within some inscribed radii.
FAINT_SHARE, FAINT_CONTRAST = 0.5, 0.6
FAINT_RADII = LEAST_RADIUS = 3.0  # .. and of the smallest spacing, however thin the vessel is
FARTHEST = LEAST_RADIUS * MAX_RADIUS
# Among several tissues, where the vessel may be its own background (`lower_own_background`): so
# many radii, without voxels that are brighter than the click's value / FAINT_CONTRAST.
WIDE_RADII = 6.0
MIN_ADDED = 8  # voxels; a component that adds fewer is that of the object itself
MAX_OF_VOLUME = 0.4  # .. that the only click may add
# A click without any evidence: the membership of similar voxels, and how far they are searched.
BLIND_MEMBERSHIP = 0.6
BLIND_SHARE, BLIND_ALIKE, BLIND_RADIUS = 0.01, 1.5, 20.0


def add_faint_click(
    connectedness: np.ndarray,
    mapped: ContrastMap,
    click: tuple[int, ...],
    size: int,
    near: bool = False,
) -> tuple[int, bool]:
    """Add, in place, the structure that a click of less than the least contrast means.

    `size` is the number of the object's voxels; `near` says that nothing far from the click is
    meant. Returns by how many voxels the object has grown, and False where the click differs from
    its surroundings in no way.
    """
    if mapped.is_blank(click):
        return _add_alike(connectedness, mapped, click, 0), False
    for values, noise, deviations in _contrasts(mapped):
        contrast = at_click(values, click)
        if contrast < deviations * noise or values[click] <= 0:
            continue
        if values is mapped.contrast and _own_background(mapped, click, contrast):
            continue
        least = max(midway(noise, contrast), FAINT_CONTRAST * contrast)
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
        return _add_near(connectedness, values, mapped, click, least), True
    return _add_alike(connectedness, mapped, click, size), False


def _contrasts(mapped: ContrastMap) -> Iterator[tuple[np.ndarray, float, float]]:
    """Contrast, then difference to the tissue; their noise, and how many deviations count."""
    yield mapped.contrast, mapped.noise, EVIDENT
    yield *mapped.difference, EVIDENT_DIFFERENCE


def _own_background(mapped: ContrastMap, click: tuple[int, ...], contrast: float) -> bool:
    """Whether a click lies in a vessel that is its own background, and so has no contrast."""
    if not mapped.several_tissues:
        return False
    return contrast < SHARE_OF_DIFFERENCE * at_click(mapped.difference[0], click)


def _add_near(
    connectedness: np.ndarray,
    values: np.ndarray,
    mapped: ContrastMap,
    click: tuple[int, ...],
    least: float,
) -> int:
    """Add the 6-connected component of a click, of the least contrast, within some radii of it."""
    radii, most, unit = FAINT_RADII, np.inf, mapped.unit
    if mapped.several_tissues and values is not mapped.contrast:
        radii, most = WIDE_RADII, at_click(values, click) / FAINT_CONTRAST
    ball = Ball(values.shape, click, MAX_RADIUS, unit)
    enough = mapped.masked(values[ball.box] >= least, ball.box)
    radius = inscribed_radius(enough, ball.centre, unit)
    ball = Ball(values.shape, click, min(max(radii * radius, LEAST_RADIUS), FARTHEST), unit)
    own = values[ball.box]
    alike = mapped.masked((own >= least) & (own <= most) & ball.inside, ball.box)
    near = component_of(alike, ball.centre)
    return _raise(connectedness[ball.box], near, membership(own[near], least))


def _add_alike(
    connectedness: np.ndarray, mapped: ContrastMap, click: tuple[int, ...], size: int
) -> int:
    """Without any evidence: similar voxels in a ball that is small compared with the object."""
    volume = max(BLIND_SHARE * size, 27) * np.prod(mapped.unit)
    radius = float(np.clip((volume * 3 / (4 * np.pi)) ** (1 / 3), 2.0, BLIND_RADIUS))
    ball = Ball(connectedness.shape, click, radius, mapped.unit)
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


# ---- Background clicks: each removes the leak that it lies in, and nothing else

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
    negative: list[tuple[int, ...]],
    progress: Progress,
) -> None:
    """Lower the connectedness, in place, around background clicks.

    The progress is checked before each background click.
    """
    leaks = [click for click in negative if connectedness[click] >= CONTRAST_THRESHOLD]
    # The object around each click, before any of them has lowered it.
    objects = [_object_around(connectedness, mapped, click) for click in leaks]
    for click, around in zip(leaks, objects, strict=True):
        progress.check()
        _remove_leak(connectedness, around, mapped, positive, click)


def _object_around(
    connectedness: np.ndarray, mapped: ContrastMap, click: tuple[int, ...]
) -> tuple[np.ndarray, tuple[int, ...]]:
    """The object in the box of a ball around a click, and the click in the box."""
    around = Ball(connectedness.shape, click, MAX_RADIUS, mapped.unit)
    return connectedness[around.box] >= CONTRAST_THRESHOLD, around.centre


def _remove_leak(
    connectedness: np.ndarray,
    around: tuple[np.ndarray, tuple[int, ...]],
    mapped: ContrastMap,
    positive: list[tuple[int, ...]],
    click: tuple[int, ...],
) -> None:
    """Take away the plateau that a background click lies on; raise the least contrast around it."""
    contrast, unit = mapped.contrast, mapped.unit
    own = float(contrast[click])
    one = tuple(slice(c, c + 1) for c in click)
    peak = float(peaks_near(contrast, one, PEAK_WITHIN, unit)[0, 0, 0])
    radius = inscribed_radius(*around, unit)
    nearest = min(np.sqrt((((np.array(p) - click) * unit) ** 2).sum()) for p in positive)
    if radius >= PLATEAU_RADIUS and own >= OF_PEAK * peak:
        reach = min(PLATEAU_REACH * radius, LOCAL_OF_DISTANCE * nearest)
        ball = Ball(contrast.shape, click, reach, unit)
        leak = component_of((contrast[ball.box] >= PLATEAU_SHARE * own) & ball.inside, ball.centre)
        connectedness[ball.box][leak & _nearer(ball, positive, unit)] = 0
    width = min(max(LOCAL_RADII * radius, MIN_LOCAL), LOCAL_OF_DISTANCE * nearest)
    ball = Ball(contrast.shape, click, 3 * width, unit)
    raised = ABOVE_CLICK * own * _bell(ball, width)
    _raise_least_contrast(connectedness, mapped, ball, raised, positive, click)


def _bell(ball: Ball, width: float) -> np.ndarray:
    return np.exp(-ball.squared / np.float32(2 * max(width, 1e-3) ** 2))


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
    nearest = _nearer(ball, positive, mapped.unit) & (contrast < raised)
    part[nearest] = np.minimum(part, lower)[nearest]


def _nearer(ball: Ball, positive: list[tuple[int, ...]], unit: np.ndarray) -> np.ndarray:
    """Voxels of a ball's box that are nearer to the background click than to any positive one."""
    nearer = np.ones(ball.squared.shape, bool)
    for other in positive:
        nearer &= ball.squared < squared_distance(ball.box, other, unit)
    return nearer


# ---- Border of a vessel: as experts draw it, or at half of its contrast
# Experts draw liver vessels at 20 to 30 % of their contrast, which is where the clicks' least
# contrasts lie. The image of a sharp edge passes half of the contrast at the edge.

CORE = 2.5  # depth, in smallest spacings, from which on a voxel shows the vessel's own contrast
REACH = 4.0  # from the border to the core
BORDER_SHARE = 0.5
MIN_CORE = 1e-4  # share of core voxels within the reach


def move_to_half_contrast(connectedness: np.ndarray, mapped: ContrastMap, cut: float) -> None:
    """Lower the connectedness, in place, outside half the contrast of the vessel's core.

    Vessels without a core, thinner than about five voxels, are left unchanged: blurring lowers
    their contrast, so that half of it does not mark the edge.

    From the connectedness `cut` on a voxel belongs to the object.
    """
    labels = connectedness >= cut
    if not labels.any():
        return
    box = ndimage.find_objects(labels.view(np.uint8))[0]
    labels, contrast = labels[box], mapped.contrast[box]
    depth = ndimage.distance_transform_edt(np.pad(labels, 1), sampling=mapped.unit)
    depth = depth[1:-1, 1:-1, 1:-1]
    core = depth >= CORE
    size = [2 * round(REACH / u) + 1 for u in mapped.unit]
    near = ndimage.uniform_filter(core.astype(np.float32), size)
    total = ndimage.uniform_filter(np.where(core, contrast, np.float32(0)), size)
    half = BORDER_SHARE * total / np.maximum(near, np.float32(MIN_CORE))
    shell = (near > MIN_CORE) & ~core & (contrast < half)
    own = np.maximum(contrast, np.float32(0))
    lowered = own / np.maximum(own + np.maximum(half, 0), np.float32(1e-30))
    part = connectedness[box]
    part[shell] = np.minimum(part, lowered)[shell]
