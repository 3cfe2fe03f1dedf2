"""Segmentation in one call: object model, fuzzy scene, threshold and labels."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from FuzzyVesselCoreLib.progress import Progress, ProgressCallback
from FuzzyVesselCoreLib.voxels.large_arrays import Allocate

from .affinity.estimation import estimate_affinity
from .affinity.gaussian_affinity import GaussianAffinity
from .cached_connectedness import CachedConnectedness
from .contrast import ContrastThreshold, contrast_connectedness
from .fuzzy_connectedness import connectedness
from .scene import FuzzyScene
from .segment_options import SegmentOptions
from .threshold.choice import choose_threshold
from .threshold.gaps import fill_gaps
from .threshold.thresholds import binarize


@dataclass(frozen=True)
class Segmentation:
    """Labels (uint8, K, J, I), and the fuzzy scene and threshold that they come from.

    The affinity is None for the model "contrast"; `contrast` is that model's own threshold, else
    None.
    """

    labels: np.ndarray
    affinity: GaussianAffinity | None
    scene: FuzzyScene
    threshold: float
    contrast: ContrastThreshold | None = None


@dataclass(frozen=True)
class _Inputs:
    volume: np.ndarray
    seeds: Any
    background_seeds: Any
    mask: np.ndarray | None
    spacing: Any
    cached: CachedConnectedness | None
    allocate: Allocate


def segment(
    volume: np.ndarray,
    seeds: np.ndarray | Sequence,
    *,
    spacing: Sequence[float] | None = None,
    background_seeds: np.ndarray | Sequence | None = None,
    mask: np.ndarray | None = None,
    options: SegmentOptions | None = None,
    progress: Progress | ProgressCallback | None = None,
    cached: CachedConnectedness | None = None,
    allocate: Allocate = np.empty,
    **keywords: Any,
) -> Segmentation:
    """Segment the vessels that contain the seeds.

    Parameters
    ----------
    volume : ndarray, shape (K, J, I) or (J, I)
        Of the types that `connectedness` takes.
    seeds : array_like, shape (n, 3), integers K, J, I
        Voxels of the vessels. Each is in the result.
    spacing : sequence of 3 float, optional
        Distance of voxels along K, J, I; by default 1, 1, 1.
    background_seeds : array_like, shape (n, 3), integers K, J, I, optional
        Voxels that do not belong to the vessels. None is in the result.
    mask : ndarray, optional
        Vessels and paths stay where it is not 0.
    options : SegmentOptions, optional
        Model, border, threshold, device and so on.
    progress : callable, optional
        ``progress(share) -> bool``; returns False to cancel.
    cached : CachedConnectedness, optional
        Results of earlier runs: only what has changed since is computed.
    allocate : callable, optional
        ``allocate(shape, dtype) -> ndarray``: the memory of labels and scene, as far as nothing
        else keeps them.
    **keywords
        Fields of `SegmentOptions`, instead of `options` or to replace some of its fields; for
        example ``device="cpu", threshold=0.4``.

    Returns
    -------
    Segmentation

    Raises
    ------
    InputError, DeviceError, Cancelled
        As `SegmentOptions`, `connectedness` and `background_threshold` do; `InputError` also if a
        seed and a background seed are the same voxel.

    Examples
    --------
    >>> from FuzzyVesselCoreLib.phantom.liver import liver_phantom
    >>> phantom = liver_phantom((48, 48, 48))
    >>> found = segment(phantom.volume, phantom.seeds, spacing=(1.5, 1.5, 1.5))
    >>> bool(found.labels[tuple(phantom.seeds.T)].all())
    True
    """
    options = SegmentOptions(**keywords) if options is None else replace(options, **keywords)
    progress = Progress.of(progress)
    inputs = _Inputs(volume, seeds, background_seeds, mask, spacing, cached, allocate)
    by_model = _by_contrast if options.object_model == "contrast" else _by_affinity
    found = by_model(inputs, options, progress)
    labels = fill_gaps(found.labels, options.fill_gaps, mask, background_seeds)
    progress.advance(1.0)
    return replace(found, labels=labels)


def _by_contrast(inputs: _Inputs, options: SegmentOptions, progress: Progress) -> Segmentation:
    """The model "contrast", without filled gaps."""
    cached = inputs.cached
    compute = cached.contrast_connectedness if cached else contrast_connectedness
    scene, own_threshold = compute(
        inputs.volume,
        inputs.seeds,
        spacing=inputs.spacing,
        background_seeds=inputs.background_seeds,
        mask=inputs.mask,
        border=options.border or "drawn",
        device=options.device,
        progress=progress,
        allocate=inputs.allocate,
    )
    threshold = own_threshold if options.threshold is None else options.threshold
    labels = binarize(scene, threshold, inputs.allocate)
    return Segmentation(labels, None, scene, threshold, own_threshold)


def _by_affinity(inputs: _Inputs, options: SegmentOptions, progress: Progress) -> Segmentation:
    """The model "affinity", without filled gaps."""
    cached, volume, affinity = inputs.cached, inputs.volume, options.affinity
    neighbourhood = options.given("radius", "side")
    progress.advance(0.0)
    if affinity is None:
        affinity = estimate_affinity(volume, inputs.seeds, **neighbourhood)
    compute = cached.connectedness if cached else connectedness
    scene = compute(
        volume,
        inputs.seeds,
        affinity,
        device=options.device,
        mask=inputs.mask,
        progress=progress,
        **options.given("solver", "cut", "corrections", "directions"),
    )
    threshold = options.threshold
    if threshold is None:
        threshold = choose_threshold(scene, inputs.background_seeds, options.cut or 0.0)
        progress.advance(1.0)
    labels = binarize(scene, threshold, inputs.allocate)
    return Segmentation(labels, affinity, scene, threshold)
