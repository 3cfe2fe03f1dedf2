"""From clicks to a vessel on the editor's voxels, in plain arrays.

Vessels and paths stay where editing is allowed. What vessels are compared with, tissue and noise,
is taken from the whole editable area: an intensity range that holds vessels alone would leave
nothing to tell them from.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from FuzzyConnectedGPULib import FuzzyScene, binarize
from FuzzyConnectedGPULib.contrast import contrast_connectedness
from FuzzyConnectedGPULib.contrast.evidence import evidence_finder


@dataclass(frozen=True)
class Vessel:
    """A fuzzy scene, which can be cut at any threshold.

    Attributes
    ----------
    scene : FuzzyScene
    """

    scene: FuzzyScene

    def labels(self, more: float = 0.0) -> np.ndarray:
        """Labels (K, J, I; uint8) with more (up to 1) or less (down to -1) than is natural."""
        return binarize(self.scene, threshold_of(more))


def threshold_of(more: float) -> float:
    """The cut of the scene for a share of "more" in -1..1: 0.9 to 0.1, and 0.5 at 0."""
    return 0.5 - 0.4 * min(max(more, -1.0), 1.0)


class CachedEvidence:
    """Evidence of vessels, found once and cached while only clicks and intensity range change.

    Inputs are compared by value; `forget` gives the memory back.
    """

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        self._inputs: Any = None
        self._evidence: Any = None

    def finder(self, area: np.ndarray | None) -> Callable:
        """What `contrast_connectedness` finds its evidence by.

        Parameters
        ----------
        area : ndarray, shape (K, J, I), bool, optional
            Tissue and noise are those inside.

        Returns
        -------
        callable
            ``find_evidence(volume, spacing, first_seed, mask, progress, gpu)``; paths stay in the
            mask.
        """
        inside = None if area is None else area.astype(np.uint8)

        def find_evidence(volume, spacing, first_seed, mask, progress, gpu):
            evidence = self._find(volume, spacing, first_seed, inside, progress, gpu)
            allowed = None if mask is None else np.ascontiguousarray(mask[evidence.box])
            return replace(evidence, inside=allowed)

        return find_evidence

    def _find(self, volume, spacing, first_seed, area, progress, gpu):
        inputs = (volume, area, np.asarray(spacing))
        same = self._inputs is not None and all(map(np.array_equal, self._inputs, inputs))
        if not (same and self._evidence.holds_for(first_seed)):
            self.forget()  # its memory is free before the next is found
            evidence = evidence_finder()(volume, spacing, first_seed, area, progress, gpu)
            # Device memory is freed between runs.
            self._evidence = evidence if gpu is None else evidence.to_host()
            self._inputs = (volume.copy(), area, np.asarray(spacing))
        return self._evidence


def grow(
    volume: np.ndarray,
    spacing: tuple,
    seeds: np.ndarray,
    background_seeds: np.ndarray,
    area: np.ndarray | None = None,
    in_range: np.ndarray | None = None,
    *,
    device: str = "auto",
    progress: Callable[[float], bool] | None = None,
    cached: CachedEvidence | None = None,
) -> Vessel:
    """Segment the vessel that was clicked, inside what may be edited.

    Parameters
    ----------
    volume : ndarray, shape (K, J, I)
    spacing : tuple of 3 float
        Along K, J, I.
    seeds, background_seeds : ndarray, shape (n, 3), int
        K, J, I inside the volume. Seeds where nothing may be edited are left out.
    area, in_range : ndarray, shape (K, J, I), bool, optional
        Where editing is allowed; vessels and paths stay in both.
    device : str
        "auto", "cpu", "cuda", "cuda:1".
    progress : callable, optional
        ``progress(fraction) -> bool``; False cancels.
    cached : CachedEvidence, optional
        Of earlier clicks.

    Returns
    -------
    Vessel

    Raises
    ------
    InputError, DeviceError, Cancelled
        As `contrast_connectedness` does.

    Examples
    --------
    >>> from FuzzyVesselCoreLib.phantom.liver import liver_phantom
    >>> phantom = liver_phantom((48, 48, 48))
    >>> vessel = grow(phantom.volume, (1.5, 1.5, 1.5), phantom.seeds, [], device="cpu")
    >>> bool(vessel.labels()[tuple(phantom.seeds.T)].all())
    True
    """
    scene, _threshold = contrast_connectedness(
        volume,
        seeds,
        spacing=spacing,
        background_seeds=background_seeds,
        mask=both(area, in_range),
        device=device,
        progress=progress,
        find_evidence=(cached or CachedEvidence()).finder(area),
    )
    return Vessel(scene)


def both(one: np.ndarray | None, other: np.ndarray | None) -> np.ndarray | None:
    """The voxels that two masks have in common; None stands for all of them."""
    if one is None or other is None:
        return one if other is None else other
    return one & other
