"""This project's segmentation from clicks: its default, variants of it, and other affinities."""

from dataclasses import replace
from typing import Any

import numpy as np

from FuzzyConnectedGPULib import estimate_affinity
from FuzzyConnectedGPULib.cached_connectedness import CachedConnectedness
from FuzzyConnectedGPULib.contrast import contrast_connectedness
from FuzzyConnectedGPULib.segmentation import segment

from .kept_evidence import KeptEvidence
from .path_variants import variant_finder


class Ours:
    """`segment` with its defaults; lives as long as a case.

    Parameters
    ----------
    device : str
        As `segment` takes it.
    **options
        Fields of `SegmentOptions`.
    """

    def __init__(self, device: str, **options: Any) -> None:
        self._device, self._given = device, options
        self._kept = CachedConnectedness()

    def __call__(
        self,
        volume: np.ndarray,
        vessel: list[tuple[int, int, int]],
        background: list[tuple[int, int, int]],
        mask: np.ndarray | None,
        spacing: tuple[float, float, float],
    ) -> np.ndarray:
        """See `methods.ClickMethod`."""
        found = segment(
            volume,
            np.array(vessel),
            spacing=spacing,
            background_seeds=np.array(background) if background else None,
            mask=mask,
            device=self._device,
            cached=self._kept,
            **self._options(volume, vessel),
        )
        return found.labels > 0

    def _options(self, volume, vessel):
        return self._given


class PapersAffinity(Ours):
    """`segment` with the one Gaussian affinity of the papers, estimated from the vessel clicks."""

    def _options(self, volume, vessel):
        return {"affinity": estimate_affinity(volume, np.array(vessel))}


class WeightedAffinity(Ours):
    """`segment` with ITK's weighted form of the affinity, estimated from the vessel clicks."""

    def _options(self, volume, vessel):
        return {"affinity": replace(estimate_affinity(volume, np.array(vessel)), form="weighted")}


class PathVariant:
    """The contrast model with other paths, on the CPU; see `path_variants`."""

    def __init__(self, **variant: Any) -> None:
        self._find = KeptEvidence(variant_finder(**variant))

    def __call__(
        self,
        volume: np.ndarray,
        vessel: list[tuple[int, int, int]],
        background: list[tuple[int, int, int]],
        mask: np.ndarray | None,
        spacing: tuple[float, float, float],
    ) -> np.ndarray:
        """See `methods.ClickMethod`."""
        scene, threshold = contrast_connectedness(
            volume,
            np.array(vessel),
            spacing=spacing,
            background_seeds=np.array(background) if background else None,
            mask=mask,
            device="cpu",
            find_evidence=self._find,
        )
        return scene.values >= threshold
