"""This project's segmentation from clicks, as it is by default and with the papers' affinity."""

import numpy as np

from FuzzyConnectedGPULib import estimate_affinity
from FuzzyConnectedGPULib.cached_connectedness import CachedConnectedness
from FuzzyConnectedGPULib.segmentation import segment


class Ours:
    """`segment` with its defaults; lives as long as a case.

    Parameters
    ----------
    device : str
        As `segment` takes it.
    """

    def __init__(self, device: str) -> None:
        self._device = device
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
        return {}


class PapersAffinity(Ours):
    """`segment` with the one Gaussian affinity of the papers, estimated from the vessel clicks."""

    def _options(self, volume, vessel):
        return {"affinity": estimate_affinity(volume, np.array(vessel))}
