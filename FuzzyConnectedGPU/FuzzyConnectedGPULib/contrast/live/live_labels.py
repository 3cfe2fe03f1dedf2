"""Public entry: the labels of clicks that move, one position after the other."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from FuzzyVesselCoreLib.errors import DeviceError, InputError
from FuzzyVesselCoreLib.gpu.selection import choose_device
from FuzzyVesselCoreLib.progress import Progress, ProgressCallback

from ..checked_clicks import Clicks, checked_clicks
from ..clicks.click_scene import click_scene
from ..contrast_threshold import CONTRAST_THRESHOLD
from ..paths.reached import STEPS
from .kept_scene import KeptScene
from .live_evidence import COMPUTED, LiveEvidence
from .touched import Box

if TYPE_CHECKING:
    from FuzzyVesselCoreLib.gpu.device import CudaDevice

    from ..evidence.evidence import Evidence

Cut = Callable[[LiveEvidence, np.ndarray, np.float32, Progress], tuple[Box, np.ndarray]]


@dataclass(frozen=True)
class LabelsInBox:
    """Labels of a part of the volume; elsewhere they are 0.

    Attributes
    ----------
    box : tuple of 3 slice
        Of the volume, K, J, I.
    labels : ndarray, uint8, of the box's shape
    exact : bool
        Whether a whole run would find the same evidence, and so the same labels.
    """

    box: Box
    labels: np.ndarray
    exact: bool = True


class LiveLabels:
    """Labels for one position of the clicks after the other, on evidence that stays.

    They are those of `contrast_connectedness` with this evidence, cut at the same threshold, bit
    for bit. That is the whole run's own evidence as long as the first click stays where it is;
    where a scan holds several tissues, another first click may have another tissue around it.

    Parameters
    ----------
    evidence : Evidence
        Of `vessel_evidence`, or kept on a device.
    shape : (K, J, I)
        Of the volume.
    mask : ndarray of uint8, of that shape, or None
        Paths stay where it is not 0; that of the evidence, or a part of it.
    border : {"drawn", "half"}

    Attributes
    ----------
    shape, mask
        As given.
    beside : dict
        What others keep as long as this.

    Examples
    --------
    >>> from FuzzyConnectedGPULib.contrast.evidence.vessel_evidence import vessel_evidence
    >>> volume = np.random.default_rng(1).normal(0, 1, (24, 24, 24))
    >>> volume[:, 10:14, 10:14] += 20
    >>> evidence = vessel_evidence(volume, (1, 1, 1), (12, 12, 12))
    >>> live = LiveLabels(evidence, volume.shape)
    >>> found = live.labels([(12, 12, 12)])
    >>> int(found.labels.sum()) == int(live.labels([(5, 12, 12)]).labels.sum()) > 300
    True
    """

    def __init__(
        self,
        evidence: "Evidence",
        shape: tuple[int, ...],
        mask: np.ndarray | None = None,
        border: str = "drawn",
    ) -> None:
        self.shape, self.mask = shape, mask
        self._found, self._border = evidence, border
        self._allowed = None if mask is None else np.ascontiguousarray(mask[evidence.box])
        self._evidence = LiveEvidence(evidence)
        self._scene: KeptScene | None = None
        self._host: LiveLabels | None = None
        self.beside: dict[type, Any] = {}
        if not evidence.device_bytes:
            self._take_mask()

    def _take_mask(self) -> None:
        if self._allowed is not None:
            self._evidence = LiveEvidence(self._found.within(self._allowed))

    def prepare(
        self, progress: Progress | ProgressCallback | None = None, all_levels: bool = False
    ) -> None:
        """Compute what the steps share, so that none of them has to wait for it.

        On a device there is nothing to prepare. With `all_levels`, steps with floor 0, too.
        """
        self._evidence.prepare(Progress.of(progress), all_levels)

    @property
    def nearest(self) -> "LiveLabels":
        """What `on_host` gave, or this."""
        return self._host or self

    def on_host(self, device: str) -> "LiveLabels":
        """The same, with evidence that is copied from its device; kept.

        There more is kept from one step to the next than on a device.

        Raises
        ------
        DeviceError
            The device has failed, or is another one than that of the evidence.
        """
        if self._host is None and self._found.device_bytes:
            with self._gpu(device):
                beside: Any = copy(self._found)
                for name in COMPUTED:  # which takes the host longer
                    getattr(beside, name)
                found = beside.to_host()
            self._host = LiveLabels(found, self.shape, self.mask, self._border)
        return self.nearest

    @contextmanager
    def _gpu(self, device: str) -> "Iterator[CudaDevice]":
        chosen = choose_device(device)
        if chosen == "cpu":
            raise DeviceError("The evidence is on a GPU, which cannot be used now.")
        with chosen as gpu:
            if not self._found.serves(gpu):
                raise DeviceError(f"The evidence is on another GPU than {gpu.name}.")
            yield gpu

    def labels_on(self, device: str, *arguments: Any, **options: Any) -> LabelsInBox:
        """As `labels`, on the device that the evidence is on, or on the CPU.

        Raises
        ------
        DeviceError
            The device has failed, or is another one than that of the evidence.
        """
        if not self._found.device_bytes:
            return self.labels(*arguments, **options)
        with self._gpu(device) as gpu:
            self._take_mask()  # memory of the device belongs to one run
            return self.labels(*arguments, gpu=gpu, **options)

    def labels(
        self,
        seeds: Any,
        background_seeds: Any = None,
        threshold: float = CONTRAST_THRESHOLD,
        *,
        gpu: "CudaDevice | None" = None,
        progress: Progress | ProgressCallback | None = None,
        floor: int | None = None,
        cut: Cut | None = None,
    ) -> LabelsInBox:
        """The labels of clicks; a call that fails or is cancelled leaves nothing behind.

        Parameters
        ----------
        seeds, background_seeds : array_like, shape (n, 3), integers K, J, I
        threshold : float
            Of the connectedness, 0..1.
        gpu : CudaDevice, optional
            That the evidence is on, inside its ``with`` block.
        progress : callable, optional
            ``progress(share) -> bool``; False cancels.
        floor : int, optional
            Paths of lower levels are not followed; by default none that labels do not depend on.
        cut : callable, optional
            ``cut(evidence, scene, threshold, progress)``: labels of the scene, in a box of the
            `LiveEvidence`; by default 1 where the scene is at least the threshold.

        Returns
        -------
        LabelsInBox

        Raises
        ------
        InputError
            As of `contrast_connectedness`, for the clicks.
        Cancelled
            `progress` returned False.
        """
        if not 0 < threshold <= 1:
            raise InputError(f"The threshold is {threshold:g}, but must be above 0 and at most 1.")
        checked = checked_clicks(np.asarray(seeds), background_seeds, self.mask, self.shape)
        clicks = checked.within(self._evidence.box)
        positions = [*clicks.positive.tolist(), *clicks.negative.tolist()]
        if self._scene is None:
            self._scene = KeptScene(self._evidence.contrast.shape)
        floor = lowest_level(threshold) if floor is None else floor
        self._evidence.begin(floor, self._scene, positions)
        try:
            found = self._cut(clicks, np.float32(threshold), Progress.of(progress), gpu, cut)
            return replace(found, exact=bool(self._found.holds_for(checked.positive[0])))
        finally:
            self._scene.put_back()

    def _cut(
        self,
        clicks: Clicks,
        threshold: np.float32,
        progress: Progress,
        gpu: "CudaDevice | None",
        cut: Cut | None,
    ) -> LabelsInBox:
        evidence: Any = self._evidence
        scene, _ = click_scene(evidence, clicks, self._border, progress, gpu, evidence.scene.values)
        cut = cut or _at_threshold
        box, labels = cut(evidence, scene, threshold, progress)
        place = tuple(slice(a.start + b.start, a.start + b.stop) for a, b in zip(evidence.box, box))
        return LabelsInBox(place, labels)


def _at_threshold(
    evidence: Any, scene: np.ndarray, threshold: np.float32, progress: Progress
) -> tuple[Box, np.ndarray]:
    return evidence.touched.labels(scene, threshold)


def lowest_level(threshold: float) -> int:
    """The level of paths below which no label depends on them.

    Rules ask for the object at the natural threshold, which levels of `STEPS` have; a path of level
    n limits a connectedness to n / (n + STEPS).
    """
    share = min(threshold, CONTRAST_THRESHOLD)
    return int(np.floor(STEPS * share / (1 - share) * (1 - 1e-6)))
