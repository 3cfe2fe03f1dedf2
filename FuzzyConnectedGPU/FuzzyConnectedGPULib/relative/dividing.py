"""Public entry point: relative connectedness of several groups of points."""

from time import perf_counter

import numpy as np
from numpy.typing import ArrayLike

from FuzzyVesselCoreLib.errors import InputError
from FuzzyVesselCoreLib.progress import Progress, ProgressCallback

from ..affinity.gaussian_affinity import GaussianAffinity
from ..affinity.levels import level_values
from ..input_validation import checked_mask, checked_spacing, checked_volume
from ..problem import level_of_cut, state_problem
from . import contrast_division
from .groups import DISPUTED, CheckedGroups, Groups, checked_groups
from .result import RelativeConnectedness
from .stages import Division, DivisionOptions, divide

MODELS = ("affinity", "contrast")
TIES = ("unlabelled", "nearest")


def relative_connectedness(
    volume: ArrayLike,
    groups: Groups,
    affinity: GaussianAffinity | None = None,
    *,
    spacing: ArrayLike | None = None,
    mask: ArrayLike | None = None,
    device: str = "auto",
    iterative: bool = False,
    ties: str = "unlabelled",
    model: str = "affinity",
    cut: float | None = None,
    progress: Progress | ProgressCallback | None = None,
) -> RelativeConnectedness:
    """Divide a volume among groups of points: each voxel to the one that reaches it strongest.

    The package's docstring (`relative`) holds the definitions, sources and proofs.

    Parameters
    ----------
    volume : ndarray, shape (K, J, I) or (J, I)
        Of the types that `connectedness` takes.
    groups : sequence, or mapping from names, of array_like, shape (n, 3), integers K, J, I
        The points of each object, at most 254 objects; background is one more group.
    affinity : GaussianAffinity, optional
        One for all groups, so that their strengths can be compared; by default
        `estimate_affinity` of the volume and the points of all groups. Where one group is
        background, give the affinity of the other groups' points.
    spacing : sequence of 3 float, optional
        Distance of voxels along K, J, I; by default 1, 1, 1. Only used by the model "contrast".
    mask : ndarray, optional
        Paths stay where it is not 0.
    device : str
        "auto", "cpu", "cuda" or "cuda:1", as in `connectedness`; the result is the same.
    iterative : bool
        Iterative relative connectedness: no path may cross the voxels of another group.
    ties : {"unlabelled", "nearest"}
        Disputed voxels have label 0; or they go to the group that is the fewest steps away, and
        have label 0 only where two groups are equally near.
    model : {"affinity", "contrast"}
        "affinity": paths of 6-neighbours, whose weakest affinity counts. "contrast": paths of
        26-neighbours, whose weakest contrast s to the local background counts, as strength
        ``s / (s + n)`` with the noise n; the first point tells bright vessels from dark ones. Its
        evidence is found on the device and equals the CPU's, bit for bit.
    cut : float, optional
        No path leads through what is weaker: what no group reaches with `cut` has label 0, all
        else is exact. By default 0, and 0.75 (three deviations of the noise) for "contrast".
    progress : callable, optional
        ``progress(share) -> bool``; returns False to cancel.

    Returns
    -------
    RelativeConnectedness

    Raises
    ------
    InputError
        Volume, groups, mask, cut or device is invalid, or two groups have a point on the same
        voxel.
    DeviceError
        The requested device is not usable or has too little memory.
    Cancelled
        `progress` returned False.

    Examples
    --------
    Two vessels that touch in their middle, as bright as each other:

    >>> import numpy as np
    >>> from FuzzyConnectedGPULib import GaussianAffinity, relative_connectedness
    >>> volume = np.array([[[100, 100, 100, 80, 60, 90, 100, 100]]], np.int16)
    >>> vessels = {"portal": [(0, 0, 0)], "hepatic": [(0, 0, 7)]}
    >>> divided = relative_connectedness(volume, vessels, GaussianAffinity(100, 20, 20))
    >>> divided.labels
    array([[[1, 1, 1, 1, 2, 2, 2, 2]]], dtype=uint8)
    """
    _check_words(model, ties, affinity)
    progress = Progress.of(progress)
    progress.advance(0.0)
    start = perf_counter()
    shape = np.shape(volume)
    voxels = checked_volume(volume)
    unit = checked_spacing(spacing, voxels.shape[0])
    inside = checked_mask(mask, voxels.shape)
    points = checked_groups(groups, voxels.shape, inside)
    seconds = {"prepare": perf_counter() - start}
    run = DivisionOptions(device, iterative, ties), progress, seconds
    if model == "contrast":
        division, strength = _by_contrast(voxels, unit, inside, points, cut, run)
    else:
        division, strength = _by_affinity(voxels, affinity, inside, points, cut, run)
    start = perf_counter()
    disputed = division.owners == DISPUTED
    labels = division.shared * (division.shared != DISPUTED)
    seconds["values"] = perf_counter() - start
    progress.advance(1.0)
    return RelativeConnectedness(
        labels.reshape(shape),
        strength.reshape(shape),
        disputed.reshape(shape),
        points.names,
        division.device_name,
        seconds,
        division.peak_bytes,
        division.notes,
    )


def _by_contrast(
    voxels: np.ndarray,
    unit: np.ndarray,
    inside: np.ndarray | None,
    points: CheckedGroups,
    cut: float | None,
    run: tuple,
) -> tuple[Division, np.ndarray]:
    """The division by the model "contrast", and its strengths."""
    lowest = contrast_division.DEFAULT_CUT if cut is None else cut
    level_of_cut(lowest)  # raises unless it is within 0..1
    division = contrast_division.divide(voxels, unit, inside, points, lowest, *run)
    return division, division.levels


def _by_affinity(
    voxels: np.ndarray,
    affinity: GaussianAffinity | None,
    inside: np.ndarray | None,
    points: CheckedGroups,
    cut: float | None,
    run: tuple,
) -> tuple[Division, np.ndarray]:
    """The division by the model "affinity", and its strengths."""
    problem = state_problem(voxels, points.seeds, affinity, 0.0 if cut is None else cut, inside)
    order = np.argsort(np.ravel_multi_index(points.seeds.T, voxels.shape))
    division = divide(problem, points.owners[order], *run)
    return division, level_values(division.levels)


def _check_words(model: str, ties: str, affinity: GaussianAffinity | None) -> None:
    """Raise `InputError` for an unknown model or rule for ties, or an affinity without use."""
    if ties not in TIES:
        raise InputError(f"Unknown rule for ties {ties!r}; one of {', '.join(TIES)}.")
    if model not in MODELS:
        raise InputError(f"Unknown model {model!r}; one of {', '.join(MODELS)}.")
    if model == "contrast" and affinity is not None:
        raise InputError("The model 'contrast' has no affinity; leave one of the two out.")
