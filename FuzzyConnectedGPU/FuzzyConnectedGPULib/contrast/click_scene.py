"""From clicks to the fuzzy scene, by the formulas of `clicks`; each vessel click is in it.

The main object is that of the clicks with contrast, which share one least contrast. Labels are the
voxels of at least 0.5; another cut is "less" or "more". Then faint clicks add, each its own
structure, and background clicks remove (`local_clicks`). How the constants were chosen:
Documentation/decisions/0007-contrast-model.md.
"""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
from scipy import ndimage

from FuzzyVesselCoreLib.progress import Progress

from ..scene import CONTRAST_THRESHOLD
from .clicks import (
    HAS_CONTRAST,
    PATH_DEVIATIONS,
    membership,
    midway,
    path_contrast_of,
    peaks_near,
    ridge_near,
)
from .contrast_map import ContrastMap
from .filters import Voxel, at_click
from .local_clicks import add_faint_clicks, remove_leaks
from .widest_paths import ConnectedVoxels, paths_of_clicks

MAX_OF_CLICK = 0.8  # the least contrast is at most this share of the first click's
RAISED_TO = 0.5  # .. and this share where a brighter object raises it
LITTLE_CONTRAST = 1.0  # deviations, enough for the first click where none has contrast
FAINT_EXPONENT = 0.35  # of a faint click, by which it lowers the least contrast
MAX_GROWTH, MIN_LEFT = 1.15, 0.9  # of the object: by all faint clicks, by one background click
# So many vessel clicks that no path reaches lower all least contrasts: at most to this share, and
# so that the object grows by at most this share of it, less with each background click.
AGREEING, LEAST_SHARE, AGREED_GROWTH, CONTRADICTION = 2, 0.88, 0.3, 0.2
# A background click of up to RAISE_UP_TO times the least contrast raises that everywhere.
RAISE_EXPONENT, MAX_RAISE, RAISE_UP_TO = 0.3, 1.5, 2.0


@dataclass
class Click:
    """A vessel click: its voxel, the contrast and the middle of the vessel that it means."""

    voxel: Voxel
    contrast: float
    start: Voxel
    has_contrast: bool


def click_scene(
    mapped: ContrastMap,
    vessel_clicks: np.ndarray,
    background_clicks: np.ndarray,
    border: str = "drawn",
    progress: Progress | None = None,
) -> tuple[np.ndarray, float, list[Voxel], bool]:
    """The fuzzy scene of vessel clicks (n, 3), at least one, and background clicks (n, 3).

    Returns, in the map's box, connectedness (float32; vessel clicks have 1, background clicks 0),
    the least contrast, the clicks without contrast (`add_faint_clicks`; in the volume), and whether
    any click has contrast.
    """
    progress = Progress.of(progress)
    places = background_clicks - mapped.offset
    places = places[((places >= 0) & (places < mapped.contrast.shape)).all(axis=1)]
    background = [tuple(map(int, voxel)) for voxel in places]
    vessel = [tuple(map(int, voxel)) for voxel in vessel_clicks - mapped.offset]
    clicks = [_click(mapped, voxel, n == 0) for n, voxel in enumerate(vessel)]
    # By contrast: the result does not depend on the order of the further clicks.
    clicks[1:] = sorted(clicks[1:], key=lambda click: (-click.contrast, click.voxel))
    with ThreadPoolExecutor(1) as pool:  # new memory takes as long as the paths
        memory = pool.submit(np.full, mapped.contrast.shape, np.float32(0), np.float32)
        main = main_object(mapped, clicks, background)
    progress.check()
    connected = main_connectedness(mapped, main, clicks, len(background))
    connectedness = memory.result()
    connectedness.ravel()[main.reached.voxels] = connected
    size = int(np.count_nonzero(connected >= CONTRAST_THRESHOLD))
    vessel = [click.voxel for click in clicks]
    near = []  # clicks that mean nothing far from them, once background clicks told of halos
    if main.by_halos is not None:
        near = [voxel for voxel in vessel if in_halo(mapped, voxel, main.least_contrast)]
    without = add_faint_clicks(connectedness, mapped, vessel, size, near, progress)
    leaks = [voxel for voxel in background if connectedness[voxel] >= CONTRAST_THRESHOLD]
    if leaks:
        remove_leaks(connectedness, mapped, vessel, leaks, progress)
    if border == "half":
        progress.check()
        move_to_half_contrast(connectedness, mapped)
    for voxel in vessel:
        connectedness[voxel] = 1
    for voxel in background:
        connectedness[voxel] = 0
    # The first one may lie beside its vessel, which was found all the same.
    found = [click.voxel for click in clicks if click.has_contrast and click.start != click.voxel]
    places = [tuple(map(int, v + mapped.offset)) for v in without if v not in found]
    return connectedness, main.least_contrast, places, any(click.has_contrast for click in clicks)


def _click(mapped: ContrastMap, voxel: Voxel, first: bool) -> Click:
    """A click with its contrast; the first may lie beside the middle of its vessel."""
    contrast, start = at_click(mapped.contrast, voxel), voxel
    if first:
        ridge, middle = ridge_near(mapped.contrast, voxel, mapped.spacing)
        if ridge > contrast:
            contrast, start = ridge, middle
    return Click(voxel, contrast, start, contrast >= HAS_CONTRAST * mapped.noise)


# ---- The object of the clicks with contrast: its least contrast, and the paths that reach it


@dataclass(frozen=True)
class MainObject:
    """The object of the clicks that have contrast, and the paths that reach it.

    `least_contrast` is t and `path_contrast` p of the formulas in `clicks`. After background clicks
    in halos, each reached voxel has a t of its own, `by_halos`.
    """

    least_contrast: float
    path_contrast: float
    reached: ConnectedVoxels
    by_halos: np.ndarray | None


def main_object(
    mapped: ContrastMap, clicks: list[Click], background_clicks: list[Voxel]
) -> MainObject:
    """The main object; one click decides which vessels are wanted.

    That is the first one if it has contrast, else the one of the others with the most.

    The least contrast is found in this order: between the noise and that click's contrast
    (`midway`); raised where the click is in a dim part of a bright object; raised by background
    clicks that are hardly above it; lowered by faint vessel clicks. Background clicks in halos give
    each voxel another one. Then `main_connectedness` lowers all by one share where there are clicks
    that no path reaches.
    """
    noise, first = mapped.noise, next((c for c in clicks if c.has_contrast), None)
    if first is None and clicks[0].contrast >= LITTLE_CONTRAST * noise:
        first = clicks[0]
    contrast = first.contrast if first else HAS_CONTRAST * noise
    lowest = min(midway(noise, contrast), MAX_OF_CLICK * contrast)
    path_contrast = path_contrast_of(lowest, noise)
    # Voxels that further clicks connect do not count: no click may remove what another one added.
    decisive, first_start = first or clicks[0], [first.start] if first else []
    alone = paths_of_clicks(mapped, [decisive.voxel], first_start, path_contrast)
    first_least = least = _raised_for_bright_object(mapped, decisive, alone, lowest)
    starts, voxels = _bright_starts(mapped, clicks, first, lowest), [c.voxel for c in clicks]
    reached = alone
    if len(clicks) > 1:
        reached = paths_of_clicks(mapped, voxels, starts, path_contrast)
    least = _raised_for_background(mapped, reached, background_clicks, least)
    least = _lowered_for_faint_clicks(mapped, reached, clicks, least)
    more_starts = _bright_starts(mapped, clicks, first, least)
    if len(more_starts) > len(starts):
        reached = paths_of_clicks(mapped, voxels, more_starts, path_contrast)
    own = least_by_halos(mapped, reached, least, background_clicks, voxels[1:], first_least)
    return MainObject(least, path_contrast, reached, own)


def _raised_for_bright_object(
    mapped: ContrastMap, click: Click, alone: ConnectedVoxels, least: float
) -> float:
    """The least contrast, higher where the first click is in a dim part of a bright object.

    `alone` are the paths of that click.
    """
    strong = alone.contrast_of_strong
    strong = strong[strong >= least]
    if not strong.size:
        return least
    bright = max(click.contrast, float(np.percentile(strong, 90)))
    higher = midway(mapped.noise, np.sqrt(click.contrast * bright))
    return max(least, min(higher, RAISED_TO * click.contrast))


def _bright_starts(
    mapped: ContrastMap, clicks: list[Click], first: Click | None, least: float
) -> list[Voxel]:
    """The starts of all clicks that have the least contrast, and of the first one; each once."""
    starts = [c.start for c in clicks if c is first or mapped.contrast[c.start] >= least]
    return list(dict.fromkeys(starts))


def _raised_for_background(
    mapped: ContrastMap, reached: ConnectedVoxels, background_clicks: list[Voxel], least: float
) -> float:
    """The least contrast, a little higher where background clicks are hardly above it."""
    for voxel in background_clicks:
        ratio = float(mapped.contrast[voxel]) / least
        if 1 < ratio < RAISE_UP_TO:
            factor = min(ratio**RAISE_EXPONENT, MAX_RAISE)
            least = min(least * factor, max(_contrast_of_share(reached, least, MIN_LEFT), least))
    return least


def _lowered_for_faint_clicks(
    mapped: ContrastMap, reached: ConnectedVoxels, clicks: list[Click], least: float
) -> float:
    """The least contrast, a little lower for faint clicks; the object grows only a little."""
    wanted = least
    for click in clicks:
        if PATH_DEVIATIONS * mapped.noise < click.contrast < wanted:
            wanted *= (click.contrast / wanted) ** FAINT_EXPONENT
    if wanted == least:
        return least
    return min(least, max(wanted, _contrast_of_share(reached, least, MAX_GROWTH)))


def _contrast_of_share(reached: ConnectedVoxels, least: float, share: float) -> float:
    """The contrast that leaves the object this share of the voxels of the least contrast."""
    values = reached.contrast_of_strong
    count = int(share * np.count_nonzero(values >= least))
    return float(np.partition(values, -count - 1)[-count - 1]) if count < values.size else 0.0


def main_connectedness(
    mapped: ContrastMap, main: MainObject, clicks: list[Click], background_count: int
) -> np.ndarray:
    """The connectedness (float32) of the voxels that paths reach, after so many background clicks.

    It is their membership, limited by the strength of their paths in the same way (`clicks`).
    """
    least = main.least_contrast if main.by_halos is None else main.by_halos
    own = membership(main.reached.contrast, least)
    connected = np.minimum(own, membership(main.reached.strength, 1.0))
    unreached = [c for c in clicks[1:] if mapped.noise < c.contrast <= main.path_contrast]
    if len(unreached) < AGREEING:
        return connected
    return _with_lower_least_contrasts(connected, background_count)


def _with_lower_least_contrasts(connected: np.ndarray, background_count: int) -> np.ndarray:
    """The connectedness, raised as if all least contrasts were lower: no path reaches some clicks.

    They lie in branches that only weaker paths reach; others are missed for the same reason.
    """
    size = int(np.count_nonzero(connected >= CONTRAST_THRESHOLD))
    if not size:
        return connected
    share = np.float32(LEAST_SHARE)
    count = int((1 + AGREED_GROWTH / (1 + CONTRADICTION * background_count)) * size)
    if count < connected.size:  # of equal ones all are taken, or none
        first_out = np.partition(connected, -count - 1)[-count - 1]
        last_in = connected[connected > first_out].min()
        share = max(share, last_in / (1 - last_in))  # with which that becomes 0.5
    # A connectedness of c = s / (s + t), so c / (1 - c) = s / t, becomes s / (s + share * t).
    return connected if share >= 1 else connected / (connected + share * (1 - connected))


# ---- Halos of bright vessels: a background click in one holds for the others, too
# The image of a bright vessel is wider than the vessel. A background click in a halo says that the
# least contrast must rise with that of the vessel beside it, here and everywhere else. One such
# click changes little, several that agree change more, and vessel clicks in halos say the opposite.

HALO_WITHIN = 2.0  # smallest spacings within which a voxel's peak lies
HALO_SHARE = 0.65  # of the peak below which a voxel is in its halo
# Least contrasts rise with this power of the peak after infinitely many clicks, half after one.
HIGHEST_POWER, HALF_POWER_CLICKS = 0.5, 1
MAX_CHANGES = 0.05, 0.1, 0.2  # share of the object that may change, by 1, 2, more clicks that agree


def in_halo(mapped: ContrastMap, voxel: Voxel, least_contrast: float) -> bool:
    """Whether a voxel lies beside a much brighter vessel, which has the least contrast."""
    box = tuple(slice(c, c + 1) for c in voxel)
    peak = float(peaks_near(mapped.contrast, box, HALO_WITHIN, mapped.spacing)[0, 0, 0])
    return peak > least_contrast and float(mapped.contrast[voxel]) < HALO_SHARE * peak


def least_by_halos(
    mapped: ContrastMap, reached: ConnectedVoxels, least_contrast: float,
    background_clicks: list[Voxel], further: list[Voxel], first_least: float,
) -> np.ndarray | None:  # fmt: skip
    """The least contrast (float32) of each reached voxel, by the background clicks in halos.

    Further vessel clicks in halos contradict; None where nothing changes. A click counts by
    `first_least`, the least contrast before background clicks have raised it.

    It is multiplied by a power of the peak near the voxel. The peak for which nothing changes is
    between the least contrast and the object's median peak, on a log scale: where halos of bright
    vessels are removed, less contrast suffices in dim vessels.
    """
    false = [voxel for voxel in background_clicks if mapped.contrast[voxel] > first_least]
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
    # A voxel joins or leaves the object at this power; never, where it is not above 0.
    with np.errstate(divide="ignore", invalid="ignore"):
        changes = np.log(contrast / least_contrast) / np.log(peaks[strong] / unchanged)
    changes = changes[changes > 0]
    share = MAX_CHANGES[min(agreeing, len(MAX_CHANGES)) - 1]
    most = int(share * np.count_nonzero(before))
    if most < changes.size:
        power = min(power, np.partition(changes, most)[most])
    return (least_contrast * (peaks / unchanged) ** power).astype(np.float32)


def _peaks_of(reached: ConnectedVoxels, shape: tuple[int, ...], spacing: np.ndarray) -> np.ndarray:
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


# ---- The border of a vessel at half of its contrast, instead of where experts draw it
# Experts draw liver vessels at 20 to 30 % of their contrast, which is where the clicks' least
# contrasts lie. The image of a sharp edge passes half of the contrast at the edge.

CORE_DEPTH = 2.5  # in smallest spacings, from which on a voxel shows the vessel's own contrast
CORE_DISTANCE = 4.0  # from the border to the core
BORDER_SHARE = 0.5
MIN_CORE = 1e-4  # share of core voxels within that distance


def move_to_half_contrast(connectedness: np.ndarray, mapped: ContrastMap) -> None:
    """Lower the connectedness, in place, outside half the contrast of the vessel's core.

    Vessels without a core, thinner than about five voxels, are left unchanged: blurring lowers
    their contrast, so that half of it does not mark the edge.
    """
    labels = connectedness >= CONTRAST_THRESHOLD
    if not labels.any():
        return
    box = ndimage.find_objects(labels.view(np.uint8))[0]
    labels, contrast = labels[box], mapped.contrast[box]
    depth = ndimage.distance_transform_edt(np.pad(labels, 1), sampling=mapped.spacing)
    depth = depth[1:-1, 1:-1, 1:-1]
    core = depth >= CORE_DEPTH
    size = [2 * round(CORE_DISTANCE / u) + 1 for u in mapped.spacing]
    near = ndimage.uniform_filter(core.astype(np.float32), size)
    total = ndimage.uniform_filter(np.where(core, contrast, np.float32(0)), size)
    half = BORDER_SHARE * total / np.maximum(near, np.float32(MIN_CORE))
    shell = (near > MIN_CORE) & ~core & (contrast < half)
    own = np.maximum(contrast, np.float32(0))
    lowered = own / np.maximum(own + np.maximum(half, 0), np.float32(1e-30))
    part = connectedness[box]
    part[shell] = np.minimum(part, lowered)[shell]
