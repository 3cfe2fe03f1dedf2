"""From clicks to a vessel on the editor's voxels, in plain arrays.

Vessels and paths stay where editing is allowed. What vessels are compared with, tissue and noise,
is taken from the whole editable area: an intensity range that holds vessels alone would leave
nothing to tell them from.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from FuzzyConnectedGPULib import FuzzyScene, binarize
from FuzzyConnectedGPULib.contrast import contrast_connectedness
from FuzzyConnectedGPULib.contrast.kept_evidence import KeptEvidence
from FuzzyVesselCoreLib.errors import DeviceError


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
        self._kept = KeptEvidence(copies=True)

    def forget(self) -> None:
        self._kept.forget()

    def evidence(self, allowed: np.ndarray | None) -> Any:
        """The evidence of the last run, in host memory; paths stay in a mask (uint8)."""
        found = self._kept.on_host
        return found.within(None if allowed is None else np.ascontiguousarray(allowed[found.box]))

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
            evidence = self._kept.find(volume, spacing, first_seed, inside, progress, gpu)
            allowed = None if mask is None else np.ascontiguousarray(mask[evidence.box])
            return evidence.within(allowed)

        return find_evidence


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
    cached = cached or CachedEvidence()
    try:
        scene, _threshold = contrast_connectedness(
            volume,
            seeds,
            spacing=spacing,
            background_seeds=background_seeds,
            mask=both(area, in_range),
            device=device,
            progress=progress,
            find_evidence=cached.finder(area),
        )
    except DeviceError:
        cached.forget()  # a device that failed may have lost it
        raise
    return Vessel(scene)


def both(one: np.ndarray | None, other: np.ndarray | None) -> np.ndarray | None:
    """The voxels that two masks have in common; None stands for all of them."""
    if one is None or other is None:
        return one if other is None else other
    return one & other
