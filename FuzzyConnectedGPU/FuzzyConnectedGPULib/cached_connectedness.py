"""Cached connectedness: from run to run only what a change of the seeds affects is computed."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from FuzzyVesselCoreLib.errors import DeviceError
from FuzzyVesselCoreLib.progress import Progress, ProgressCallback
from FuzzyVesselCoreLib.voxels.large_arrays import same_values

from .affinity.estimation import estimate_affinity
from .affinity.gaussian_affinity import GaussianAffinity
from .contrast import ContrastThreshold, contrast_connectedness
from .contrast.automatic.automatic_seeds import automatic_seeds
from .contrast.kept_evidence import KeptEvidence
from .fuzzy_connectedness import connectedness
from .scene import FuzzyScene

# What a run had to compute.
NOTHING, NEW_SEEDS, EVERYTHING = "nothing", "new seeds", "everything"

# Share of the progress of a run that first computes the unchanged seeds.
UNCHANGED_SHARE = 0.9


@dataclass(frozen=True)
class _Run:
    """A scene and the seeds that it comes from."""

    seeds: frozenset
    scene: FuzzyScene


class CachedConnectedness:
    """Computes fuzzy scenes and caches the last one, as long as only the seeds change.

    The scene of several seeds is the voxelwise maximum of each seed's own scene. So added seeds
    only raise it, and the paths of the others need not be computed again. When one seed is moved,
    the scene of all others is cached as well: each further step of a drag then costs only what the
    one seed reaches. Any other change, of volume, mask, affinity, cut or solver, and a removed
    seed, computes everything. Inputs are compared by value, so no outdated result is returned;
    volume and mask are referenced until `forget` and must not be changed in place. Evidence of the
    contrast model stays on the device: see `KeptEvidence`.

    Attributes
    ----------
    work : str
        What the last run computed: "nothing", "new seeds" or "everything".
    """

    def __init__(self) -> None:
        self.work = EVERYTHING
        self.forget()

    def forget(self) -> None:
        """Free the memory of volume and scenes."""
        self._inputs: tuple | None = None
        self._last: _Run | None = None
        self._unchanged: _Run | None = None
        self._evidence = KeptEvidence()

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
        progress = Progress.of(progress)
        if affinity is None:
            affinity = estimate_affinity(volume, seeds)
        inputs = (volume, affinity, options)
        if self._inputs is None or not _same(self._inputs, inputs):
            self.forget()
        wanted = frozenset(map(tuple, np.atleast_2d(seeds).tolist()))
        start, unchanged = self._subset_run(wanted), self._unchanged
        if start is not None and start.seeds == wanted:
            self.work = NOTHING
            self._last = start
            return replace(start.scene, seconds=dict.fromkeys(start.scene.seconds, 0.0))
        if start is None and self._last is not None:
            common = self._last.seeds & wanted
            if common and len(wanted) == len(self._last.seeds) == len(common) + 1:
                part = progress.part(0.0, UNCHANGED_SHARE)
                self._unchanged = _run(inputs, common, part)
                part = progress.part(UNCHANGED_SHARE, 1.0)
                self._last = _run(inputs, wanted, part, self._unchanged)
                self.work = EVERYTHING
                return self._last.scene
        result = _run(inputs, wanted, progress, start)
        self.work = EVERYTHING if start is None else NEW_SEEDS
        self._inputs, self._last = inputs, result
        self._unchanged = unchanged if start is unchanged else None
        return result.scene

    def contrast_connectedness(
        self, volume: np.ndarray, seeds: Any, **options: Any
    ) -> tuple[FuzzyScene, ContrastThreshold]:
        """The same as `contrast.contrast_connectedness`; the evidence is cached."""
        try:
            return contrast_connectedness(
                volume, seeds, find_evidence=self._find_evidence, **options
            )
        except DeviceError:
            self._evidence.forget()  # a device that failed may have lost it
            raise

    @property
    def evidence(self) -> Any:
        """The evidence of the last run of the contrast model, in host memory; None without one."""
        return self._evidence.on_host

    @property
    def on_device(self) -> bool:
        """Whether the evidence of the last run is in the memory of a device."""
        return self._evidence.on_device

    def evidence_for(self, gpu: Any) -> Any:
        """The evidence of the last run, inside a device's ``with`` block; None where it is not."""
        return self._evidence.serving(gpu)

    def live_labels(self, volume: np.ndarray, spacing: Any, **options: Any) -> Any:
        """Labels for clicks that are dragged; see `KeptEvidence.live_labels`."""
        return self._evidence.live_labels(volume, spacing, **options)

    def automatic_seeds(self, volume: np.ndarray, **options: Any) -> np.ndarray:
        """The same as `contrast.automatic_seeds`; the evidence is cached for the next run."""
        return automatic_seeds(volume, find_evidence=self._find_evidence, **options)

    def _find_evidence(self, *arguments: Any) -> Any:
        evidence = self._evidence.find(*arguments)
        self.work = NEW_SEEDS if self._evidence.reused else EVERYTHING
        return evidence

    def _subset_run(self, wanted: frozenset) -> _Run | None:
        """The cached run with most of the wanted seeds and no other; None if there is none."""
        usable = [run for run in (self._last, self._unchanged) if run and run.seeds <= wanted]
        return max(usable, key=lambda run: len(run.seeds), default=None)


def _run(inputs: tuple, seeds: frozenset, progress: Progress, start: _Run | None = None) -> _Run:
    volume, affinity, options = inputs
    voxels = np.array(sorted(seeds), np.int64)
    first = None if start is None else start.scene
    scene = connectedness(volume, voxels, affinity, progress=progress, start=first, **options)
    return _Run(seeds, scene)


def _same(one: tuple, other: tuple) -> bool:
    """Whether volume, affinity and options of two runs are the same."""
    options, others = one[2], other[2]
    return (
        one[1] == other[1]
        and options.keys() == others.keys()
        and all(_equal(options[name], others[name]) for name in options)
        and _equal(one[0], other[0])
    )


def _equal(one: Any, other: Any) -> bool:
    if isinstance(one, np.ndarray) and isinstance(other, np.ndarray):
        return same_values(one, other)
    return type(one) is type(other) and one == other
