"""The last evidence, kept from click to click: on the device where it was found, if it fits."""

from typing import Any

import numpy as np

from FuzzyVesselCoreLib.compilation import needs_numba
from FuzzyVesselCoreLib.gpu.device import CudaDevice
from FuzzyVesselCoreLib.gpu.kept_memory import keeps_device_memory
from FuzzyVesselCoreLib.progress import Progress
from FuzzyVesselCoreLib.voxels.large_arrays import same_values

from ..input_validation import checked_mask, checked_spacing, checked_volume
from .evidence import evidence_finder


class KeptEvidence:
    """Finds evidence, and keeps it as long as volume, mask, spacing and device are the same.

    Inputs are compared by value. On the device it keeps 8 bytes per voxel (9 with a mask), at most
    as much as it leaves free; `forget` frees them, and so does a run on the device that has too
    little.

    Parameters
    ----------
    copies : bool
        Whether the volume is copied. Without a copy, volume and mask are referenced until `forget`
        and must not be changed in place.

    Attributes
    ----------
    reused : bool
        Whether the last run found its evidence here.
    """

    def __init__(self, copies: bool = False) -> None:
        self._copies = copies
        self.forget()
        self.reused = False

    def forget(self) -> None:
        """Free the memory of evidence and inputs."""
        self._evidence: Any = None
        self._inputs: tuple = ()
        self._live: tuple = ()

    def free_device_memory(self) -> None:
        """Forget evidence that is on the device; see `kept_memory`."""
        if self._evidence is not None and self._evidence.device_bytes:
            self.forget()

    @property
    def on_host(self) -> Any:
        """The evidence in host memory, which the kept one is if it is there; or None."""
        kept = self._evidence
        return kept.to_host() if kept is not None and kept.device_bytes else kept

    @property
    def on_device(self) -> bool:
        """Whether the kept evidence is in the memory of a device."""
        return self._evidence is not None and bool(self._evidence.device_bytes)

    def serving(self, gpu: CudaDevice) -> Any:
        """The kept evidence for a run on this device; None where it is on another one, or gone."""
        kept = self._evidence
        return kept if kept is not None and kept.device_bytes and kept.serves(gpu) else None

    def live_labels(
        self,
        volume: np.ndarray,
        spacing: Any,
        mask: np.ndarray | None = None,
        paths_mask: np.ndarray | None = None,
        border: str = "drawn",
    ) -> Any:
        """Labels for clicks that are dragged, on the kept evidence.

        Parameters
        ----------
        volume, spacing, mask
            As of `contrast_connectedness`; compared with those of the kept evidence.
        paths_mask : ndarray, optional
            Paths stay where it is not 0, instead of in `mask`.
        border : {"drawn", "half"}

        Returns
        -------
        LiveLabels or None
            None where the evidence is that of another volume, mask or spacing, or was forgotten.
        """
        evidence = self._evidence
        solid = checked_volume(volume)
        mask = checked_mask(mask, solid.shape)
        inputs = solid, mask, checked_spacing(spacing, solid.shape[0])
        if evidence is None or not _same(self._inputs, inputs):
            return None
        if paths_mask is not None:
            mask = checked_mask(paths_mask, solid.shape)
        if not (self._live and self._live[0] == border and _same(self._live[1:2], (mask,))):
            with needs_numba():
                from .live.live_labels import LiveLabels

            self._live = border, mask, LiveLabels(evidence, solid.shape, mask, border)
        return self._live[2]

    def find(
        self,
        volume: np.ndarray,
        spacing: np.ndarray,
        first_seed: np.ndarray,
        mask: np.ndarray | None,
        progress: Progress,
        gpu: CudaDevice | None,
    ) -> Any:
        """An `EvidenceFinder`; parameters as of `vessel_evidence.vessel_evidence`."""
        kept, inputs = self._evidence, (volume, mask, np.asarray(spacing))
        self.reused = kept is not None and kept.serves(gpu) and _same(self._inputs, inputs)
        self.reused = self.reused and kept.holds_for(first_seed)
        if self.reused:
            return kept
        kept = None
        self.forget()  # its memory is free before the next is computed
        evidence = evidence_finder()(volume, spacing, first_seed, mask, progress, gpu)
        if self._copies:
            inputs = volume.copy(), *inputs[1:]
        self._evidence, self._inputs = evidence, inputs
        if gpu is not None:
            if evidence.device_bytes <= gpu.free_memory():
                keeps_device_memory(self)
            else:
                self._evidence = evidence.to_host()
        return evidence


def _same(inputs: tuple, others: tuple) -> bool:
    return all(
        one is other or (one is not None and other is not None and same_values(one, other))
        for one, other in zip(inputs, others, strict=True)
    )
