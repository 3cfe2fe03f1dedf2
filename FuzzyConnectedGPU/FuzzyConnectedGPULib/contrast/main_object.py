"""The object of the clicks with contrast: its least contrast, and the paths that reach it."""

from dataclasses import dataclass

import numpy as np

from .contrast_map import ContrastMap, peaks_near
from .contrast_model import CONTRAST_THRESHOLD, membership, midway
from .widest_paths import STEPS, Reached

MAX_OF_CLICK = 0.8  # the least contrast is at most this share of the first click's
RAISED_TO = 0.5  # .. and this share where a brighter object raises it
# Paths: at least this share of the least contrast, and this many deviations of the noise.
PATH_SHARE, PATH_DEVIATIONS = 0.2, 3.0
FLOOR = STEPS // 2  # paths weaker than half the least contrast of paths are not followed
EVIDENT = 3.0  # a click of that many deviations of the noise has evidence in the contrast
HARDLY_EVIDENT = 1.0  # .. and enough for the first click, where no other has more
LOWERED = 0.35  # exponent of a fainter click
MAX_GROWTH, MIN_LEFT = 1.15, 0.9  # of the object: by all fainter clicks, by one background click
# So many vessel clicks too faint for any path lower all least contrasts, to no less than that
# share, while the object grows by no more than that; each background click speaks against it.
AGREEING, LEAST_SHARE, TAUGHT_GROWTH, CONTRADICTION = 2, 0.88, 0.3, 0.2
# A background click of up to RAISE_UP_TO times the least contrast raises that everywhere.
RAISE_EXPONENT, MAX_RAISE, RAISE_UP_TO = 0.3, 1.5, 2.0


@dataclass
class JudgedClick:
    """A positive click: its voxel, the contrast and the middle of the vessel that it means."""

    voxel: tuple[int, ...]
    contrast: float
    start: tuple[int, ...]


class MainObject:
    """The object of the clicks that have contrast, and the paths that reach it.

    `least_contrast` is the contrast from which on a voxel belongs to it. The first click decides
    which vessels are wanted. `raise_for_background`, `lower_for_faint_clicks` and
    `write_connectedness` follow once each, in this order: each begins with the least contrast that
    the one before has left.
    """

    def __init__(self, mapped: ContrastMap, clicks: list[JudgedClick]) -> None:
        self._mapped, self._clicks = mapped, clicks
        self._in_halos = self._background = 0
        self._first = self._first_with_contrast()
        contrast = self._first.contrast if self._first else EVIDENT * mapped.noise
        self.least_contrast = min(midway(mapped.noise, contrast), MAX_OF_CLICK * contrast)
        least = max(PATH_SHARE * self.least_contrast, PATH_DEVIATIONS * mapped.noise)
        self._path_contrast = min(self.least_contrast, least)
        self._starts = self._bright_starts()
        self._reached = self._paths([] if self._first is None else [self._first], remembers=True)
        self._raise_to_object(contrast)
        self._first_least = self.least_contrast  # before other clicks change it
        if len(clicks) > 1:
            self._reached = self._paths(clicks)

    def _first_with_contrast(self) -> JudgedClick | None:
        """The first click with evidence in the contrast; else the very first, with a little."""
        clicks, noise = self._clicks, self._mapped.noise
        evident = [c for c in clicks if c.contrast >= EVIDENT * noise]
        evident = evident or [c for c in clicks[:1] if c.contrast >= HARDLY_EVIDENT * noise]
        return evident[0] if evident else None

    def _bright_starts(self) -> list[tuple[int, ...]]:
        """Those of all clicks that have the least contrast, and of the first one."""
        contrast = self._mapped.contrast
        starts = [c.start for c in self._clicks if contrast[c.start] >= self.least_contrast]
        return starts if self._first is None else [*starts, self._first.start]

    def _paths(self, clicks: list[JudgedClick], remembers: bool = False) -> Reached:
        """The widest paths from those of the starts that are of these clicks."""
        own = {c.start for c in clicks}
        starts = [start for start in self._starts if start in own]
        brighter = self._mapped.brighter_objects([c.voxel for c in clicks or self._clicks])
        return self._mapped.widest_paths(starts, self._path_contrast, FLOOR, brighter, remembers)

    def _raise_to_object(self, contrast: float) -> None:
        """Raise the least contrast where the first click is in a faint part of a bright object.

        Voxels that further clicks connect do not count: no click may remove what another one added.
        """
        bright = self._reached.typical(self.least_contrast)
        if bright is not None:
            typical = np.sqrt(contrast * max(contrast, bright))
            higher = min(midway(self._mapped.noise, typical), RAISED_TO * contrast)
            self.least_contrast = max(self.least_contrast, higher)

    @property
    def learned_halos(self) -> bool:
        """Whether background clicks in halos change the least contrast beside bright vessels."""
        return self._in_halos > 0 and self._reached.strong.max(initial=0) >= self.least_contrast

    def raise_for_background(self, negative: list[tuple[int, ...]]) -> None:
        """Raise the least contrast a little where background clicks are hardly above it."""
        contrast, self._background = self._mapped.contrast, len(negative)
        # Background clicks in halos, as far as no vessel clicks there contradict them.
        false = [click for click in negative if contrast[click] > self.least_contrast]
        for sign, voxels in ((1, false), (-1, [click.voxel for click in self._clicks[1:]])):
            there = [in_halo(self._mapped, voxel, self._first_least) for voxel in voxels]
            self._in_halos += sign * sum(there)
        for click in negative:
            ratio = float(contrast[click]) / self.least_contrast
            if 1 < ratio < RAISE_UP_TO:
                factor = min(ratio**RAISE_EXPONENT, MAX_RAISE)
                most = max(self._contrast_of(MIN_LEFT), self.least_contrast)
                self.least_contrast = min(self.least_contrast * factor, most)

    def lower_for_faint_clicks(self) -> None:
        """Lower the least contrast a little for fainter clicks; the object grows only a little."""
        least = PATH_DEVIATIONS * self._mapped.noise
        wanted = self.least_contrast
        for click in self._clicks:
            if least < click.contrast < wanted:
                wanted *= (click.contrast / wanted) ** LOWERED
        if wanted == self.least_contrast:
            return
        self.least_contrast = min(self.least_contrast, max(wanted, self._contrast_of(MAX_GROWTH)))
        starts = self._bright_starts()
        if len(starts) > len(self._starts):
            self._starts = starts
            self._reached = self._paths(self._clicks)

    def _contrast_of(self, share: float) -> float:
        """The contrast above which the object has this share of its present voxels."""
        values = self._reached.strong
        count = int(share * np.count_nonzero(values >= self.least_contrast))
        return float(np.partition(values, -count - 1)[-count - 1]) if count < values.size else 0.0

    def _lowered(self, connected: np.ndarray) -> np.ndarray:
        """The connectedness with all least contrasts lowered, where faint vessel clicks agree.

        They lie in branches that only weak paths reach; others are missed for the same reason.
        """
        noise, size = self._mapped.noise, int(np.count_nonzero(connected >= CONTRAST_THRESHOLD))
        faint = [c for c in self._clicks[1:] if noise < c.contrast <= self._path_contrast]
        count = int((1 + TAUGHT_GROWTH / (1 + CONTRADICTION * self._background)) * size)
        if len(faint) < AGREEING or not size:
            return connected
        share = np.float32(LEAST_SHARE)
        if count < connected.size:  # of equal ones all are taken, or none
            first_out = np.partition(connected, -count - 1)[-count - 1]
            least = connected[connected > first_out].min()
            share = max(share, least / (1 - least))  # with which `least` becomes 0.5
        # A connectedness of c = s / (s + t), so c / (1 - c) = s / t, becomes s / (s + share * t).
        return connected if share >= 1 else connected / (connected + share * (1 - connected))

    def write_connectedness(self, connectedness: np.ndarray) -> int:
        """Write the membership of all voxels that paths reach; returns the object's size.

        It is limited by the levels of their paths.
        """
        reached = self._reached
        level = reached.levels.astype(np.float32)
        least: float | np.ndarray = self.least_contrast
        if self.learned_halos:
            least = halo_contrasts(self._mapped, reached, self.least_contrast, self._in_halos)
        own = membership(reached.contrast, least)
        connected = self._lowered(np.minimum(own, level / (level + np.float32(STEPS))))
        connectedness.ravel()[reached.voxels] = connected
        return int(np.count_nonzero(connected >= CONTRAST_THRESHOLD))


# ---- Halos of bright vessels: background clicks in them teach what holds for all that is alike
# The image of a bright vessel is wider than the vessel. A background click in a halo says that the
# least contrast must rise with that of the vessel beside it, here and everywhere else. One such
# click changes little, several that agree change more, and vessel clicks in halos say the opposite.
# Constants were chosen on the six scans of `Benchmarks clicks`, where each of them may change by a
# third without a loss of more than .003; phantoms neither gain nor lose (decision 0007).

HALO_WITHIN = 2.0  # smallest spacings within which a voxel's peak lies
HALO_SHARE = 0.65  # of the peak below which a voxel is in its halo
# Least contrasts rise with this power of the peak after infinitely many clicks, half after one.
MOST, HALF_AT = 0.5, 1
MAX_CHANGES = 0.05, 0.1, 0.2  # share of the object that may change, by 1, 2, more clicks that agree


def in_halo(mapped: ContrastMap, voxel: tuple[int, ...], least_contrast: float) -> bool:
    """Whether a voxel lies beside a much brighter vessel, which has the least contrast."""
    box = tuple(slice(c, c + 1) for c in voxel)
    peak = float(peaks_near(mapped.contrast, box, HALO_WITHIN, mapped.unit)[0, 0, 0])
    return peak > least_contrast and float(mapped.contrast[voxel]) < HALO_SHARE * peak


def halo_contrasts(
    mapped: ContrastMap, reached: Reached, least_contrast: float, agreeing: int
) -> np.ndarray:
    """The least contrast (float32) of each reached voxel, after so many clicks that agree.

    It is multiplied by a power of the peak near the voxel. The peak for which nothing changes lies
    between the least contrast and the median peak of the object, on a log scale: where halos of
    bright vessels are removed, less contrast suffices in faint vessels.
    """
    peaks = _peaks_of(reached, mapped.contrast.shape, mapped.unit).astype(np.float64)
    strong = reached.is_strong
    contrast = reached.contrast[strong].astype(np.float64)
    before = contrast >= least_contrast
    unchanged = np.sqrt(least_contrast * np.median(peaks[strong][before]))
    power = MOST * agreeing / (agreeing + HALF_AT)
    # A voxel joins or leaves the object at this power; never, where it is not positive.
    with np.errstate(divide="ignore", invalid="ignore"):
        changes = np.log(contrast / least_contrast) / np.log(peaks[strong] / unchanged)
    changes = changes[changes > 0]
    share = MAX_CHANGES[min(agreeing, len(MAX_CHANGES)) - 1]
    most = int(share * np.count_nonzero(before))
    if most < changes.size:
        power = min(power, np.partition(changes, most)[most])
    return (least_contrast * (peaks / unchanged) ** power).astype(np.float32)


def _peaks_of(reached: Reached, shape: tuple[int, ...], unit: np.ndarray) -> np.ndarray:
    """The highest contrast near each of the voxels, among them."""
    volume = np.zeros(int(np.prod(shape)), np.float32)  # only touched pages take time
    voxels, peaks = reached.voxels, reached.contrast
    for axis, stride in ((2, 1), (1, shape[2]), (0, shape[1] * shape[2])):
        volume[voxels] = peaks
        place, highest = voxels // stride % shape[axis], peaks.copy()
        reach = round(HALO_WITHIN / unit[axis])
        for step in (*range(-reach, 0), *range(1, reach + 1)):
            there = np.flatnonzero((place + step >= 0) & (place + step < shape[axis]))
            values = volume[voxels[there] + step * stride]
            highest[there] = np.maximum(highest[there], values)
        peaks = highest
    return peaks
