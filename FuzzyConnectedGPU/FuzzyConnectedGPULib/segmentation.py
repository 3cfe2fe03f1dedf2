"""From voxels and seeds to labels: affinity, fuzzy scene and threshold in one go."""

from dataclasses import dataclass

import numpy as np

from FuzzyVesselCommon.progress import reporter

from . import gaps
from .affinity import GaussianAffinity, estimate_affinity
from .fuzzy_connectedness import connectedness
from .scene import FuzzyScene
from .threshold import binarize
from .threshold_choice import check_threshold, choose_threshold


@dataclass(frozen=True)
class Segmentation:
    """Labels (uint8, K, J, I) and the affinity, scene and threshold that they come from."""

    labels: np.ndarray
    affinity: GaussianAffinity
    scene: FuzzyScene
    threshold: float


def segment(
    volume,
    seeds,
    *,
    background_seeds=None,
    mask=None,
    affinity=None,
    radius=2,
    side="both",
    threshold=None,
    cut=0.0,
    solver="exact",
    device="auto",
    progress=None,
    kept=None,
    fill_gaps=0,
    **variant,
):
    """Segment what hangs together with the seeds.

    Parameters
    ----------
    volume, seeds, mask, cut, solver, device, progress
        As in `connectedness`.
    background_seeds : array_like, shape (n, 3), integers K, J, I, optional
        Voxels that must not belong to the object.
    affinity : GaussianAffinity, optional
        By default `estimate_affinity` with `radius` and `side`.
    threshold : float, optional
        Above 0, up to 1. By default as `choose_threshold` finds it.
    kept : KeptConnectedness, optional
        Of earlier runs: only what has changed since is computed.
    fill_gaps : int
        Rounds of `gaps.fill_gaps`: what noise leaves out of a wide vessel is added.
    **variant
        `corrections` and `directions` of `connectedness`.

    Returns
    -------
    Segmentation

    Raises
    ------
    InputError, DeviceError, Cancelled
        As `connectedness`, `check_threshold` and `background_threshold` do.
    """
    check_threshold(threshold, cut)
    gaps.check_rounds(fill_gaps)
    report = reporter(progress)
    if affinity is None:
        affinity = estimate_affinity(volume, seeds, radius=radius, side=side)
    report(0.0)
    compute = connectedness if kept is None else kept.connectedness
    scene = compute(
        volume,
        seeds,
        affinity,
        solver=solver,
        device=device,
        cut=cut,
        mask=mask,
        progress=progress,
        **variant,
    )
    if threshold is None:
        threshold = choose_threshold(scene, background_seeds, cut)
        report(1.0)
    labels = gaps.fill_gaps(binarize(scene, threshold), fill_gaps, mask, background_seeds)
    report(1.0)
    return Segmentation(labels, affinity, scene, threshold)
