"""Public entry: the labels of several vessels, for one position of the points after the other."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from FuzzyVesselCoreLib.errors import DeviceError
from FuzzyVesselCoreLib.progress import Progress, ProgressCallback

from ...contrast.contrast_threshold import CONTRAST_THRESHOLD
from ...contrast.live.live_labels import LabelsInBox, LiveLabels, lowest_level
from ...contrast.live.touched import Box
from ...relative.groups import DISPUTED
from ..branches import HandOver
from ..division import BACKGROUND
from ..labelling import Clicks, label_vessels
from ..several_vessels import background_inside, checked_vessels
from .kept_labels import KeptLabels, Uncertain

ROUNDING = 4  # levels of paths: contrasts within a level of the division are followed, too


class LiveVessels:
    """Labels of several vessels while their points move, on evidence that stays.

    They are those of `segment_several` with this evidence, bit for bit; see `LiveLabels`.

    Parameters
    ----------
    live : LiveLabels
    spacing : 3 floats K, J, I, in mm

    Examples
    --------
    >>> from FuzzyConnectedGPULib.contrast.evidence.vessel_evidence import vessel_evidence
    >>> volume = np.random.default_rng(1).normal(0, 1, (24, 24, 24))
    >>> volume[4:8, 10:14], volume[16:20, 10:14] = 20, 20
    >>> evidence = vessel_evidence(volume, (1, 1, 1), (6, 12, 12))
    >>> live = LiveVessels(LiveLabels(evidence, volume.shape), (1, 1, 1))
    >>> found = live.labels_on("cpu", {"one": [(6, 12, 12)], "other": [(18, 12, 12)]})
    >>> [int((found.labels == label).any()) for label in (1, 2)]
    [1, 1]
    """

    def __init__(self, live: LiveLabels, spacing: Sequence[float]) -> None:
        self._live, self._spacing = live, spacing
        self._division = live.beside.setdefault(KeptLabels, KeptLabels())

    def prepare(
        self, progress: Progress | ProgressCallback | None = None, device: str = "auto"
    ) -> None:
        """Compute what the steps share; see `LiveLabels.prepare`.

        Evidence that is on a device is copied: what a step changes is little, and the host keeps
        the rest. Until then, and where the device has failed, steps are computed where it is.
        """
        try:
            self._live.on_host(device)
        except DeviceError:
            return  # the next run says so
        self._live.nearest.prepare(progress, all_levels=True)

    def labels_on(
        self,
        device: str,
        vessels: Mapping[str, Any],
        background_seeds: Any = None,
        threshold: float = CONTRAST_THRESHOLD,
        *,
        hand_overs: Sequence[HandOver] = (),
        fill: int = 0,
        progress: Progress | ProgressCallback | None = None,
    ) -> LabelsInBox:
        """The labels of vessels; a call that fails or is cancelled leaves nothing behind.

        Parameters
        ----------
        device : str
            As of `LiveLabels.labels_on`.
        vessels, background_seeds, hand_overs
            As of `segment_several`.
        threshold : float
            Of the connectedness, 0..1.
        fill : int
            Rounds of filling gaps.
        progress : callable, optional
            ``progress(share) -> bool``; False cancels.

        Returns
        -------
        LabelsInBox
            1 for the first vessel, and so on.

        Raises
        ------
        InputError, DeviceError, Cancelled
            As of `segment_several`.
        """
        shape, mask = self._live.shape, self._live.mask
        points = checked_vessels(vessels, shape, mask)
        seeds = np.concatenate(list(points.values()))
        background = background_inside(background_seeds, shape, mask)
        rules = points, background, hand_overs, fill, self._spacing, mask
        step = _Step(self._division, *rules)
        clicks = device, seeds, background_seeds, threshold
        progress = Progress.of(progress)
        near = lowest_level(threshold) - ROUNDING
        follow = partial(self._live.nearest.labels_on, *clicks, progress=progress, cut=step)
        # A gap that is filled may take the owner of a voxel below the threshold.
        if near > 0 and not fill and not self._division.uncertain:
            try:
                return follow(floor=near)
            except Uncertain:
                self._division.uncertain = True  # mostly the next positions, too
        return follow(floor=0)


class _Step:
    """Cuts a scene into the labels of vessels."""

    def __init__(
        self,
        division: KeptLabels,
        points: Mapping[str, np.ndarray],
        background: np.ndarray,
        hand_overs: Sequence[HandOver],
        fill: int,
        spacing: Sequence[float],
        mask: np.ndarray | None,
    ) -> None:
        self._division = division
        self._points, self._background, self._mask = points, background, mask
        self._hand_overs, self._fill, self._spacing = hand_overs, fill, spacing

    def __call__(
        self, evidence: Any, scene: np.ndarray, threshold: np.float32, progress: Progress
    ) -> tuple[Box, np.ndarray]:
        progress.check()
        clicked = {name: each for name, each in self._points.items() if len(each)}
        names = np.arange(DISPUTED + 1, dtype=np.uint8)
        names[1 : len(clicked) + 1] = [
            n for n, each in enumerate(self._points.values(), 1) if len(each)
        ]
        if len(self._background):
            names[len(clicked) + 1] = BACKGROUND
        plain = not (self._fill or self._hand_overs)
        if len(clicked) == 1:
            box, labels = evidence.touched.labels(scene, threshold)
            if plain:
                return box, names[labels]
            owners = names[(scene[box] > 0).astype(np.uint8)]
        else:
            found = self._division
            found.divide(evidence, scene, clicked, self._background)
            box = found.box(threshold, bool(self._fill), progress)
            if plain:
                names[names >= BACKGROUND] = 0
                return box, found.labels(threshold, box, names)
            owners = names[found.owners(box)]
        return box, self._labels(evidence, scene, threshold, box, owners)

    def _labels(self, evidence, scene, threshold, box, owners):
        """The labels of a box, after gaps and hand-overs."""
        origin = evidence.origin + [side.start for side in box]
        shape = owners.shape
        background = self._background - origin
        clicks = Clicks(
            [each - origin for each in self._points.values()],
            background[_inside(background, shape)] if len(background) else None,
            _moved(self._hand_overs, origin, shape),
        )
        mask = self._mask
        if mask is not None:
            mask = mask[tuple(slice(a, a + n) for a, n in zip(origin, shape))]
        fill = dict(rounds=self._fill, mask=mask)
        return label_vessels(scene[box], owners, threshold, clicks, self._spacing, **fill)[0]


def _inside(points: np.ndarray, shape: Sequence[int]) -> np.ndarray:
    return np.all((points >= 0) & (points < shape), axis=1)


def _moved(hand_overs: Sequence[HandOver], origin: np.ndarray, shape: Sequence[int]) -> list:
    """The hand-overs in the coordinates of a box; outside of it there is no vessel."""
    found = []
    for each in hand_overs:
        k, j, i = (int(c) for c in np.array(each.voxel) - origin)
        if _inside(np.array([(k, j, i)]), shape)[0]:
            found.append(replace(each, voxel=(k, j, i)))
    return found
