"""The threshold that the clicks with contrast decide, and the paths from them: the main object."""

from dataclasses import dataclass

import numpy as np

from .contrast_map import ContrastMap, peaks_near
from .contrast_model import CONTRAST_THRESHOLD, membership, midway
from .widest_paths import STEPS, Reached

MAX_OF_CLICK = 0.8  # a click's threshold is at most this share of its contrast
RAISED_TO = 0.5  # .. and this share where a brighter object raises it
# Paths: at least this share of the threshold, and this many deviations of the noise.
PATH_SHARE, PATH_DEVIATIONS = 0.2, 3.0
FLOOR = STEPS // 2  # paths weaker than half the threshold of paths are not followed
EVIDENT = 3.0  # a click of that many deviations of the noise has evidence in the contrast
HARDLY_EVIDENT = 1.0  # .. and enough for the first click, where no other has more
LOWERED = 0.35  # exponent of a fainter click
MAX_GROWTH, MIN_LEFT = 1.15, 0.9  # of the object: by all fainter clicks, by one background click
# So many vessel clicks too faint for any path lower all thresholds, to no less than that share,
# while the object grows by no more than that; each background click speaks against it.
AGREEING, LEAST_SHARE, TAUGHT_GROWTH, CONTRADICTION = 2, 0.88, 0.3, 0.2
# A background click at a contrast of up to RAISE_UP_TO thresholds raises the threshold everywhere.
RAISE_EXPONENT, MAX_RAISE, RAISE_UP_TO = 0.3, 1.5, 2.0


def raise_factor(ratio: float) -> float:
    """The factor by which a click at `ratio` thresholds raises the threshold everywhere."""
    if 1 < ratio < RAISE_UP_TO:
        return min(ratio**RAISE_EXPONENT, MAX_RAISE)
    return 1.0


@dataclass
class JudgedClick:
    """A positive click: its voxel, the contrast and the middle of the vessel that it means."""

    voxel: tuple[int, ...]
    contrast: float
    start: tuple[int, ...]


class MainObject:
    """The object of the clicks that have contrast: one threshold, and the paths that reach it.

    The first click decides which vessels are wanted. `threshold` is that of the contrast,
    `first_threshold` the same before other clicks changed it.
    """

    def __init__(self, found: ContrastMap, clicks: list[JudgedClick]) -> None:
        self._map, self._clicks = found, clicks
        noise = found.noise
        evident = [c for c in clicks if c.contrast >= EVIDENT * noise]
        evident = evident or [c for c in clicks[:1] if c.contrast >= HARDLY_EVIDENT * noise]
        self._first = evident[0] if evident else None
        contrast = self._first.contrast if self._first else EVIDENT * noise
        self.threshold = min(midway(noise, contrast), MAX_OF_CLICK * contrast)
        least = max(PATH_SHARE * self.threshold, PATH_DEVIATIONS * noise)
        self.path_threshold = min(self.threshold, least)
        self._starts = self._bright_starts()
        self._reached = self._paths([] if self._first is None else [self._first], True)
        self._raise_to_object(contrast)
        self.first_threshold = self.threshold
        self._in_halos = self._background = 0
        if len(clicks) > 1:
            self._reached = self._paths(clicks)

    def _bright_starts(self) -> list[tuple[int, ...]]:
        """Of all clicks that are as bright as the threshold, and of the first one."""
        starts = [c.start for c in self._clicks if self._map.contrast[c.start] >= self.threshold]
        return starts if self._first is None else [*starts, self._first.start]

    def _paths(self, clicks: list[JudgedClick], remembers: bool = False) -> Reached:
        """The widest paths from those of the starts that are of these clicks."""
        own = {c.start for c in clicks}
        starts = [start for start in self._starts if start in own]
        brighter = self._map.brighter_objects([c.voxel for c in clicks or self._clicks])
        return self._map.widest_paths(starts, self.path_threshold, FLOOR, brighter, remembers)

    def _raise_to_object(self, contrast: float) -> None:
        """Raise the threshold where the first click is in a faint part of a bright object.

        Voxels that further clicks connect do not count: no click may remove what another one added.
        """
        bright = self._reached.typical(self.threshold)
        if bright is not None:
            typical = np.sqrt(contrast * max(contrast, bright))
            higher = min(midway(self._map.noise, typical), RAISED_TO * contrast)
            self.threshold = max(self.threshold, higher)

    @property
    def learned_halos(self) -> bool:
        """Whether background clicks in halos have changed the threshold beside bright vessels."""
        return self._in_halos > 0 and self._reached.strong.max(initial=0) >= self.threshold

    def raise_for(self, negative: list[tuple[int, ...]]) -> None:
        """Raise the threshold a little where background clicks are hardly above it."""
        contrast, self._background = self._map.contrast, len(negative)
        # Background clicks in halos, as far as no vessel clicks there contradict them.
        false = [click for click in negative if contrast[click] > self.threshold]
        for sign, voxels in ((1, false), (-1, [click.voxel for click in self._clicks[1:]])):
            there = [in_halo(self._map, voxel, self.first_threshold) for voxel in voxels]
            self._in_halos += sign * sum(there)
        for click in negative:
            factor = raise_factor(float(contrast[click]) / self.threshold)
            if factor > 1:
                most = max(self._threshold_of(MIN_LEFT), self.threshold)
                self.threshold = min(self.threshold * factor, most)

    def lower_for(self, clicks: list[JudgedClick]) -> None:
        """Lower the threshold a little for fainter clicks, while the object grows only a little."""
        least = PATH_DEVIATIONS * self._map.noise
        wanted = self.threshold
        for click in clicks:
            if least < click.contrast < wanted:
                wanted *= (click.contrast / wanted) ** LOWERED
        if wanted == self.threshold:
            return
        self.threshold = min(self.threshold, max(wanted, self._threshold_of(MAX_GROWTH)))
        starts = self._bright_starts()
        if len(starts) > len(self._starts):
            self._starts = starts
            self._reached = self._paths(self._clicks)

    def _threshold_of(self, share: float) -> float:
        """The threshold above which the object has this share of its present voxels."""
        values = self._reached.strong
        count = int(share * np.count_nonzero(values >= self.threshold))
        return float(np.partition(values, -count - 1)[-count - 1]) if count < values.size else 0.0

    def _lowered(self, connected: np.ndarray) -> np.ndarray:
        """The connectedness with all thresholds lowered, where faint vessel clicks agree.

        They lie in branches that hang on paths which are too weak, as others do elsewhere.
        """
        noise, size = self._map.noise, int(np.count_nonzero(connected >= CONTRAST_THRESHOLD))
        faint = [c for c in self._clicks[1:] if noise < c.contrast <= self.path_threshold]
        count = int((1 + TAUGHT_GROWTH / (1 + CONTRADICTION * self._background)) * size)
        if len(faint) < AGREEING or not size:
            return connected
        share = np.float32(LEAST_SHARE)
        if count < connected.size:  # of equal ones all are taken, or none
            first_out = np.partition(connected, -count - 1)[-count - 1]
            least = connected[connected > first_out].min()
            share = max(share, least / (1 - least))
        return connected if share >= 1 else connected / (connected + share * (1 - connected))

    def write_connectedness(self, connectedness: np.ndarray) -> int:
        """Write the membership of all voxels that paths reach; returns the object's size.

        It is limited by the levels of their paths.
        """
        found = self._reached
        level = found.levels.astype(np.float32)
        thresholds: float | np.ndarray = self.threshold
        if self.learned_halos:
            thresholds = halo_thresholds(self._map, found, self.threshold, self._in_halos)
        own = membership(found.contrast, thresholds)
        connected = self._lowered(np.minimum(own, level / (level + np.float32(STEPS))))
        connectedness.ravel()[found.voxels] = connected
        return int(np.count_nonzero(connected >= CONTRAST_THRESHOLD))


# ---- Halos of bright vessels: background clicks in them teach the threshold of all that is alike
# The image of a bright vessel is wider than the vessel. A background click in a halo says that the
# threshold must rise with the contrast of the vessel beside it, here and everywhere else. One such
# click changes little, several that agree change more, and vessel clicks in halos say the opposite.
# Constants were chosen on the six scans of `Benchmarks clicks`, where each of them may change by a
# third without a loss of more than .003; phantoms neither gain nor lose (decision 0007).

HALO_WITHIN = 2.0  # smallest spacings within which a voxel's peak lies
HALO_SHARE = 0.65  # of the peak below which a voxel is in its halo
# Thresholds rise with this power of the peak after infinitely many clicks, with half after one.
MOST, HALF_AT = 0.5, 1
MAX_CHANGES = 0.05, 0.1, 0.2  # share of the object that may change, by 1, 2, more clicks that agree


def in_halo(found: ContrastMap, voxel: tuple[int, ...], threshold: float) -> bool:
    """Whether a voxel lies beside a vessel that is much brighter, and brighter than a threshold."""
    box = tuple(slice(c, c + 1) for c in voxel)
    peak = float(peaks_near(found.contrast, box, HALO_WITHIN, found.unit)[0, 0, 0])
    return peak > threshold and float(found.contrast[voxel]) < HALO_SHARE * peak


def halo_thresholds(
    found: ContrastMap, reached: Reached, threshold: float, agreeing: int
) -> np.ndarray:
    """The threshold (float32) of each reached voxel, after so many clicks that agree.

    It is multiplied by a power of the peak near the voxel. The peak for which nothing changes lies
    between the threshold and the median peak of the object, on a log scale: where halos of bright
    vessels are removed, faint vessels get a lower threshold.
    """
    peaks = _peaks_of(reached, found.contrast.shape, found.unit).astype(np.float64)
    strong = reached.is_strong
    contrast = reached.contrast[strong].astype(np.float64)
    before = contrast >= threshold
    unchanged = np.sqrt(threshold * np.median(peaks[strong][before]))
    power = MOST * agreeing / (agreeing + HALF_AT)
    # A voxel joins or leaves the object at this power; never, where it is not positive.
    with np.errstate(divide="ignore", invalid="ignore"):
        changes = np.log(contrast / threshold) / np.log(peaks[strong] / unchanged)
    changes = changes[changes > 0]
    share = MAX_CHANGES[min(agreeing, len(MAX_CHANGES)) - 1]
    most = int(share * np.count_nonzero(before))
    if most < changes.size:
        power = min(power, np.partition(changes, most)[most])
    return (threshold * (peaks / unchanged) ** power).astype(np.float32)


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
