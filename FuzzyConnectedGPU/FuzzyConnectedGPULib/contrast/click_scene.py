"""From clicks to the fuzzy scene: each click has its own least contrast, and is honoured.

The main object is that of the clicks with contrast. Its connectedness is the membership (`clicks`),
limited by the widest path from the clicks with regard to the least contrast of paths, which is near
the noise: faint links connect, but only voxels with contrast belong. Labels are the voxels of at
least 0.5; another cut is "less" or "more". Then `faint_clicks` add, `background_clicks` remove.
"""

from concurrent.futures import ThreadPoolExecutor

import numpy as np

from FuzzyVesselCoreLib.progress import Progress

from ..scene import CONTRAST_THRESHOLD
from .background_clicks import remove_leaks
from .border import move_to_half_contrast
from .clicks import EVIDENT, Click, at_click, membership, midway
from .contrast_map import ContrastMap
from .faint_clicks import add_faint_click
from .halos import halo_contrasts, in_halo
from .widest_paths import STEPS, Reached

MAX_OF_CLICK = 0.8  # the least contrast is at most this share of the first click's
RAISED_TO = 0.5  # .. and this share where a brighter object raises it
# Paths: at least this share of the least contrast, and this many deviations of the noise.
PATH_SHARE, PATH_DEVIATIONS = 0.2, 3.0
FLOOR = STEPS // 2  # paths weaker than half the least contrast of paths are not followed
HARDLY_EVIDENT = 1.0  # .. and enough for the first click, where no other has more
LOWERED = 0.35  # exponent of a fainter click
MAX_GROWTH, MIN_LEFT = 1.15, 0.9  # of the object: by all fainter clicks, by one background click
# So many vessel clicks too faint for any path lower all least contrasts, to no less than that
# share, while the object grows by no more than that; each background click speaks against it.
AGREEING, LEAST_SHARE, TAUGHT_GROWTH, CONTRADICTION = 2, 0.88, 0.3, 0.2
# A background click of up to RAISE_UP_TO times the least contrast raises that everywhere.
RAISE_EXPONENT, MAX_RAISE, RAISE_UP_TO = 0.3, 1.5, 2.0


def click_scene(
    mapped: ContrastMap,
    positive: np.ndarray,
    negative: np.ndarray,
    border: str = "drawn",
    progress: Progress | None = None,
) -> tuple[np.ndarray, float, list[tuple[int, ...]]]:
    """The fuzzy scene of one positive click or more (n, 3) and background clicks in the map's box.

    Returns connectedness (float32 of the map's shape; positive clicks have 1, background clicks 0),
    the contrast from which on a voxel belongs to the object, and the positive clicks that differ
    from their surroundings in no way: each has added a few similar voxels around it.
    """
    progress = Progress.of(progress)
    background = [tuple(map(int, voxel)) for voxel in negative]
    clicks = [_click(mapped, tuple(map(int, p)), n == 0) for n, p in enumerate(positive)]
    # By contrast: the result does not depend on the order of the further clicks.
    clicks[1:] = sorted(clicks[1:], key=lambda click: (-click.contrast, click.voxel))
    with ThreadPoolExecutor(1) as pool:  # new memory takes as long as the paths
        memory = pool.submit(np.full, mapped.contrast.shape, np.float32(0), np.float32)
        main = MainObject(mapped, clicks)
    progress.check()
    main.raise_for_background(background)
    main.lower_for_faint_clicks()
    progress.check()
    connectedness = memory.result()
    size = main.write_connectedness(connectedness)
    without: list[tuple[int, ...]] = []
    for click in clicks:
        if connectedness[click.voxel] < CONTRAST_THRESHOLD:
            progress.check()
            added, has_contrast = add_faint_click(
                connectedness, mapped, click.voxel, size,
                near=main.learned_halos and in_halo(mapped, click.voxel, main.least_contrast),
            )  # fmt: skip
            size += added
            if not has_contrast:
                without.append(click.voxel)
    leaks = [voxel for voxel in background if connectedness[voxel] >= CONTRAST_THRESHOLD]
    if leaks:
        vessel = [click.voxel for click in clicks]
        remove_leaks(connectedness, mapped, vessel, leaks, progress)
    if border == "half":
        progress.check()
        move_to_half_contrast(connectedness, mapped, CONTRAST_THRESHOLD)
    for click in clicks:
        connectedness[click.voxel] = 1
    for voxel in background:
        connectedness[voxel] = 0
    return connectedness, main.least_contrast, without


def _click(mapped: ContrastMap, voxel: tuple[int, ...], first: bool) -> Click:
    """A click with its contrast; the first may lie beside the middle of its vessel."""
    own = at_click(mapped.contrast, voxel)
    if not first:
        return Click(voxel, own, voxel)
    ridge, start = mapped.middle_near(voxel)
    return Click(voxel, max(own, ridge), start if ridge > own else voxel)


# ---- The object of the clicks with contrast: its least contrast, and the paths that reach it


class MainObject:
    """The object of the clicks that have contrast, and the paths that reach it.

    `least_contrast` is the contrast from which on a voxel belongs to it. The first click decides
    which vessels are wanted. `raise_for_background`, `lower_for_faint_clicks` and
    `write_connectedness` follow once each, in this order: each begins with the least contrast that
    the one before has left.
    """

    def __init__(self, mapped: ContrastMap, clicks: list[Click]) -> None:
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

    def _first_with_contrast(self) -> Click | None:
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

    def _paths(self, clicks: list[Click], remembers: bool = False) -> Reached:
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
