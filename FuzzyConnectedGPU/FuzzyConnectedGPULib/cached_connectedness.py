"""Cached connectedness: from run to run only what a change of the seeds affects is computed."""

from dataclasses import replace
from typing import Any

import numpy as np

from FuzzyVesselCoreLib.errors import DeviceError
from FuzzyVesselCoreLib.progress import Progress, ProgressCallback
from FuzzyVesselCoreLib.voxels.masks import same_values

from .affinity import GaussianAffinity, estimate_affinity
from .contrast import ContrastThreshold, contrast_connectedness
from .contrast.automatic_seeds import automatic_seeds
from .contrast.cached_map import CachedMap
from .fuzzy_connectedness import connectedness
from .input_validation import checked_seeds
from .scene import FuzzyScene

# What a run had to compute.
NOTHING, NEW_SEEDS, EVERYTHING = "nothing", "new seeds", "everything"


class CachedConnectedness:
    """Computes fuzzy scenes and caches what the next run can use, as long as only seeds change.

    The scene of several seeds is the voxelwise maximum of each seed's own scene. So added seeds
    only raise it, and the paths of the others need not be computed again. In the contrast model the
    contrast map is cached, on the device where it was found. Any other change computes everything.
    Inputs are compared by value, so no outdated result is returned; volume and mask are referenced
    until `forget` and must not be changed in place.

    Attributes
    ----------
    work : str
        What the last run computed: "nothing", "new seeds" or "everything".
    """

    def __init__(self) -> None:
        self.work = EVERYTHING
        self.forget()

    def forget(self) -> None:
        """Free the memory of volume, scene and contrast map."""
        self._inputs: tuple | None = None  # volume, affinity, options
        self._seeds: frozenset = frozenset()
        self._scene: FuzzyScene | None = None
        self._clicks: tuple = ()
        self._map = CachedMap()

    def connectedness(
        self,
        volume: np.ndarray,
        seeds: Any,
        affinity: GaussianAffinity | None = None,
        *,
        progress: Progress | ProgressCallback | None = None,
        **options: Any,
    ) -> FuzzyScene:
        """The same scene as `fuzzy_connectedness.connectedness`, with the same parameters."""
        if affinity is None:
            affinity = estimate_affinity(volume, seeds)
        inputs = (volume, affinity, *sorted(options.items()))
        shape = (1,) * (3 - np.ndim(volume)) + np.shape(volume)
        wanted = frozenset(map(tuple, checked_seeds(seeds, shape).tolist()))
        start, common = None, self._inputs is not None and _same(self._inputs, inputs)
        if common and self._seeds <= wanted:
            start = self._scene
        if start is not None and self._seeds == wanted:
            self.work = NOTHING
            return replace(start, seconds=dict.fromkeys(start.seconds, 0.0))
        if not common:
            self.forget()
        voxels = np.array(sorted(wanted), np.int64)
        scene = connectedness(volume, voxels, affinity, progress=progress, start=start, **options)
        self.work = EVERYTHING if start is None else NEW_SEEDS
        self._inputs, self._seeds, self._scene = inputs, wanted, scene
        return scene

    def contrast_connectedness(
        self, volume: np.ndarray, seeds: Any, **options: Any
    ) -> tuple[FuzzyScene, ContrastThreshold]:
        """The same as `contrast.contrast_connectedness`; the contrast map is cached."""
        chosen = {"border", "background_seeds", "device"} & options.keys()
        clicks = (np.array(seeds), *((name, options[name]) for name in sorted(chosen)))
        try:
            found = contrast_connectedness(volume, seeds, find_map=self._find_map, **options)
        except DeviceError:
            self._map.forget()  # a device that failed may have lost it
            raise
        if self.work == NEW_SEEDS and _same(self._clicks, clicks):
            self.work = NOTHING
        self._clicks = clicks
        return found

    @property
    def contrast_map(self) -> Any:
        """The contrast map of the last run, in host memory; None without one."""
        return self._map.on_host

    def automatic_seeds(self, volume: np.ndarray, **options: Any) -> np.ndarray:
        """The same as `contrast.automatic_seeds`; the contrast map is cached for the next run."""
        return automatic_seeds(volume, find_map=self._find_map, **options)

    def _find_map(self, *arguments: Any) -> Any:
        found = self._map.find(*arguments)
        self.work = NEW_SEEDS if self._map.reused else EVERYTHING
        return found


def _same(one: Any, other: Any) -> bool:
    """Whether arrays, or tuples of them and other values, are equal."""
    if isinstance(one, tuple) and isinstance(other, tuple):
        return len(one) == len(other) and all(map(_same, one, other))
    if isinstance(one, np.ndarray) and isinstance(other, np.ndarray):
        return same_values(one, other)
    return type(one) is type(other) and bool(one == other)
