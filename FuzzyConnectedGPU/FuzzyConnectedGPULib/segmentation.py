"""From voxels and seeds to labels: object model, fuzzy scene and threshold in one go."""

from dataclasses import dataclass

import numpy as np

from FuzzyVesselCoreLib.errors import InputError
from FuzzyVesselCoreLib.progress import reporter

from .affinity.gaussian_affinity import GaussianAffinity, estimate_affinity
from .contrast import ContrastThreshold, contrast_connectedness
from .fuzzy_connectedness import connectedness
from .scene import FuzzyScene
from .threshold import gaps
from .threshold.choice import check_threshold, choose_threshold
from .threshold.thresholds import binarize

MODELS = ("contrast", "affinity")


@dataclass(frozen=True)
class Segmentation:
    """Labels (uint8, K, J, I) and the scene and threshold that they come from.

    The affinity is None where the model is "contrast"; `contrast` is that model's own threshold
    and what it means, else None.
    """

    labels: np.ndarray
    affinity: GaussianAffinity | None
    scene: FuzzyScene
    threshold: float
    contrast: ContrastThreshold | None = None


def segment(
    volume,
    seeds,
    *,
    spacing=None,
    background_seeds=None,
    mask=None,
    model=None,
    border=None,
    affinity=None,
    radius=None,
    side=None,
    threshold=None,
    cut=None,
    solver=None,
    device="auto",
    progress=None,
    kept=None,
    fill_gaps=0,
    **variant,
):
    """Segment the vessels that the seeds were clicked into.

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
    model : {"contrast", "affinity"}, optional
        "contrast", the default: contrast to the local background, connected from the clicks (see
        `contrast`). "affinity": the papers' affinity with one threshold for the whole scene; taken
        where one of its own parameters, `affinity`, `radius`, `side`, `cut` or `solver`, is given.
    border : {"drawn", "half"}, optional
        Of the model "contrast": where experts draw it (the default; 20 to 30 % of the contrast in
        liver vessels), or where the contrast has fallen to a half, for vessels from about five
        voxels on.
    affinity : GaussianAffinity, optional
        Of the model "affinity"; by default `estimate_affinity` with `radius` (2) and `side`
        ("both").
    cut, solver
        Of the model "affinity"; as in `connectedness`.
    threshold : float, optional
        Above 0, up to 1. By default 0.5 in the model "contrast" (lower: more, higher: less), and
        as `choose_threshold` finds it in the model "affinity".
    device, progress
        As in `connectedness`.
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
        As `connectedness`, `check_threshold` and `background_threshold` do; `InputError` also
        where a seed and a background seed are the same voxel.

    Examples
    --------
    >>> from FuzzyVesselCoreLib.phantom.liver import liver_phantom
    >>> phantom = liver_phantom((48, 48, 48))
    >>> found = segment(phantom.volume, phantom.seeds, spacing=(1.5, 1.5, 1.5))
    >>> bool(found.labels[tuple(phantom.seeds.T)].all())
    True
    """
    own = dict(affinity=affinity, radius=radius, side=side, cut=cut, solver=solver)
    own = {name: value for name, value in own.items() if value is not None}
    model = model or ("affinity" if own or variant else "contrast")
    if model not in MODELS:
        raise InputError(f"Unknown model {model!r}; one of {', '.join(MODELS)}.")
    gaps.check_rounds(fill_gaps)
    report = reporter(progress)
    common = dict(mask=mask, device=device, progress=progress)
    if model == "contrast":
        check_threshold(threshold, 0.0)
        compute = contrast_connectedness if kept is None else kept.contrast_connectedness
        scene, own_threshold = compute(
            volume,
            seeds,
            spacing=spacing,
            background_seeds=background_seeds,
            border=border or "drawn",
            **common,
        )
        threshold = own_threshold if threshold is None else threshold
    else:
        own_threshold = None
        affinity, scene, threshold = _by_affinity(
            volume, seeds, own, background_seeds, threshold, kept, report, {**common, **variant}
        )
    labels = gaps.fill_gaps(binarize(scene, threshold), fill_gaps, mask, background_seeds)
    report(1.0)
    return Segmentation(labels, affinity, scene, threshold, own_threshold)


def _by_affinity(volume, seeds, own, background_seeds, threshold, kept, report, common):
    """Affinity, scene and threshold of the model "affinity"."""
    cut, solver = own.get("cut", 0.0), own.get("solver", "exact")
    check_threshold(threshold, cut)
    affinity = own.get("affinity")
    if affinity is None:
        neighbourhood = dict(radius=own.get("radius", 2), side=own.get("side", "both"))
        affinity = estimate_affinity(volume, seeds, **neighbourhood)
    report(0.0)
    compute = connectedness if kept is None else kept.connectedness
    scene = compute(volume, seeds, affinity, solver=solver, cut=cut, **common)
    if threshold is None:
        threshold = choose_threshold(scene, background_seeds, cut)
        report(1.0)
    return affinity, scene, threshold
