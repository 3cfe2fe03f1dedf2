"""A vessel beside those of other segments: what the points of all reach is divided among them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from FuzzyConnectedGPULib.relative.groups import background_inside
from FuzzyConnectedGPULib.relative.vessels import divide_by_contrast
from FuzzyVesselCoreLib.progress import Progress

from .growing import CachedEvidence, Vessel, both, grow


@dataclass(frozen=True)
class SharedVessel(Vessel):
    """A vessel of a scene that several share.

    Attributes
    ----------
    owners : ndarray, uint8, shape (K, J, I)
        The vessel of each voxel, from 1 on.
    number : int
        Of this one.
    """

    owners: np.ndarray
    number: int

    def labels(self, more: float = 0.0) -> np.ndarray:
        found = super().labels(more)
        found[self.owners != self.number] = 0
        return found


def grow_among(
    volume: np.ndarray,
    spacing: tuple,
    vessels: Mapping[str, np.ndarray],
    own: str,
    background_seeds: np.ndarray,
    area: np.ndarray | None = None,
    in_range: np.ndarray | None = None,
    *,
    cached: CachedEvidence | None = None,
    progress: Any = None,
    **options: Any,
) -> Vessel:
    """Segment one of several vessels; see `FuzzyConnectedGPULib.relative`.

    Parameters
    ----------
    volume, spacing, background_seeds, area, in_range, cached, progress
        As of `growing.grow`.
    vessels : dict of str to ndarray, shape (n, 3), int
        The points of each, where editing is allowed. With one alone it is the vessel of `grow`.
    own : str
        Which of them.
    **options
        `device`, as of `growing.grow`.

    Returns
    -------
    Vessel

    Raises
    ------
    InputError, DeviceError, Cancelled
        As of `growing.grow`.

    Examples
    --------
    >>> volume = np.random.default_rng(1).normal(100, 5, (9, 9, 30))
    >>> volume[3:6, 3:6] += 90
    >>> volume[3:6, 3:6, 14:16] -= 20
    >>> vessels = {"one": np.array([[4, 4, 3]]), "other": np.array([[4, 4, 26]])}
    >>> one = grow_among(volume, (1.0, 1.0, 1.0), vessels, "one", [], device="cpu").labels()
    >>> one[4, 4, [3, 26]].tolist()
    [1, 0]
    """
    cached = cached or CachedEvidence()
    seeds = np.concatenate(list(vessels.values()))
    progress = Progress.of(progress)
    more: dict = dict(cached=cached, progress=progress.part(0.0, 0.8), **options)
    vessel = grow(volume, spacing, seeds, background_seeds, area, in_range, **more)
    if len(vessels) == 1:
        return vessel
    mask = both(area, in_range)
    evidence = cached.evidence(None if mask is None else mask.astype(np.uint8))
    background = background_inside(background_seeds, volume.shape, mask)
    scene, part = vessel.scene.values, progress.part(0.8, 1.0)
    owners = divide_by_contrast(evidence, scene, vessels, part, background)
    return SharedVessel(vessel.scene, owners, 1 + list(vessels).index(own))
