"""Public entry point: relative connectedness of several groups of points."""

import warnings
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np

from FuzzyVesselCoreLib.compilation import needs_numba
from FuzzyVesselCoreLib.errors import CpuUsedNote, DeviceError, InputError
from FuzzyVesselCoreLib.gpu.selection import choose_device
from FuzzyVesselCoreLib.progress import Progress, ProgressCallback

from ..affinity import GaussianAffinity, level_values
from ..input_validation import checked_mask, checked_spacing, checked_volume
from ..problem import level_of_cut, state_problem
from .groups import DISPUTED, NOBODY, CheckedGroups, Groups, checked_groups

MODELS, TIES = ("affinity", "contrast"), ("unlabelled", "nearest")
STEPS = 256  # levels of a contrast of one deviation of the noise
DEFAULT_CUT = 0.75  # three deviations of the noise
EVIDENCE, RELATIVE = 0.5, 0.8  # shares of the progress
BYTES_PER_VOXEL = 50  # of a division by contrast, at most, in the mask's box


@dataclass(frozen=True)
class RelativeConnectedness:
    """The group of each voxel, and how strongly it is connected.

    Attributes
    ----------
    labels : ndarray, uint8, of the volume's shape (K, J, I)
        1 for the first group, and so on; 0 where there is no path, and in disputed voxels that no
        rule gives to a group.
    strength : ndarray, float32, same shape
        Largest connectedness over all groups, 0..1: that of the voxel's own group; in a disputed
        voxel the value that the groups have in common.
    disputed : ndarray, bool, same shape
        Where two groups or more are equally strong, before any rule for ties.
    names : tuple of str
        The groups'.
    device : str
        Of the contrast: "cpu", or the ordinal and name of the CUDA device.
    seconds : dict of str to float
        Time of each stage, in the order of the stages.
    peak_bytes : int
        As of `FuzzyScene`.
    notes : tuple of str
        Messages for the user, for example why the CPU was used.
    """

    labels: np.ndarray
    strength: np.ndarray
    disputed: np.ndarray
    names: tuple[str, ...]
    device: str
    seconds: dict[str, float]
    peak_bytes: int
    notes: tuple[str, ...] = ()


def relative_connectedness(
    volume: Any,
    groups: Groups,
    affinity: GaussianAffinity | None = None,
    *,
    spacing: Any = None,
    mask: Any = None,
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
        "auto", "cpu", "cuda" or "cuda:1": where the contrast is found, with the same bits. The
        division is computed by the cores of the CPU.
    iterative : bool
        Iterative relative connectedness: no path may cross the voxels of another group.
    ties : {"unlabelled", "nearest"}
        Disputed voxels have label 0; or they go to the group that is the fewest steps away, and
        have label 0 only where two groups are equally near.
    model : {"affinity", "contrast"}
        "affinity": paths of 6-neighbours, whose weakest affinity counts. "contrast": paths of
        26-neighbours, whose weakest contrast s to the local background counts, as strength
        ``s / (s + n)`` with the noise n; the first point tells bright vessels from dark ones.
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

    >>> from FuzzyConnectedGPULib import GaussianAffinity, relative_connectedness
    >>> volume = np.array([[[100, 100, 100, 80, 60, 90, 100, 100]]], np.int16)
    >>> vessels = {"portal": [(0, 0, 0)], "hepatic": [(0, 0, 7)]}
    >>> divided = relative_connectedness(volume, vessels, GaussianAffinity(100, 20, 20))
    >>> divided.labels
    array([[[1, 1, 1, 1, 2, 2, 2, 2]]], dtype=uint8)
    """
    for name, value, known in (("rule for ties", ties, TIES), ("model", model, MODELS)):
        if value not in known:
            raise InputError(f"Unknown {name} {value!r}; one of {', '.join(known)}.")
    if model == "contrast" and affinity is not None:
        raise InputError("The model 'contrast' has no affinity; leave one of the two out.")
    progress = Progress.of(progress)
    progress.advance(0.0)
    times, shape = [perf_counter()], np.shape(volume)
    voxels = checked_volume(volume)
    unit, inside = checked_spacing(spacing, voxels.shape[0]), checked_mask(mask, voxels.shape)
    points = checked_groups(groups, voxels.shape, inside)
    with needs_numba():
        from . import disputed, forests
    name, notes, box = "cpu", (), tuple(slice(0, n) for n in voxels.shape)
    if model == "contrast":
        cut = DEFAULT_CUT if cut is None else cut
        level_of_cut(cut)  # raises unless it is within 0..1
        part = progress.part(0.0, EVIDENCE)
        evidence, name, notes = _evidence(voxels, unit, points, inside, device, part)
        box, capacities = evidence.box, levels_of_contrast(evidence, cut)
        seeds = points.seeds - evidence.origin
        notes = (*notes, *_without_paths(capacities, points, seeds))
    else:
        choose_device(device)  # raises where it is not usable
        problem = state_problem(voxels, points.seeds, affinity, cut or 0.0, inside)
    times.append(perf_counter())
    part = progress.part(EVIDENCE, RELATIVE)
    if model == "contrast":
        flat = np.ravel_multi_index(seeds.T, capacities.shape)
        levels, owners = forests.by_contrast(capacities, flat, points.owners, part)
        strength = strength_of(levels)
        strength.reshape(-1)[flat] = 1
        peak_bytes = BYTES_PER_VOXEL * capacities.size
    else:
        order = np.argsort(np.ravel_multi_index(points.seeds.T, voxels.shape))
        levels, owners, peak_bytes = forests.by_affinity(problem, points.owners[order], part)
        strength = level_values(levels)
        peak_bytes += 2 * owners.nbytes if iterative or ties == "nearest" else 0
    times.append(perf_counter())
    shared = owners
    if iterative or ties == "nearest":
        progress.advance(RELATIVE)
        if model == "contrast":
            edges = disputed.contrast_edges(capacities, levels, owners)
        else:
            edges = disputed.affinity_edges(problem, levels, owners)
        if iterative:
            edges = disputed.iterate(edges, owners, progress)
        shared = owners
        if ties == "nearest":
            shared = disputed.share_by_steps(edges, owners, progress)
    strength[owners == NOBODY] = 0
    times.append(perf_counter())
    labels = np.where(shared == DISPUTED, 0, shared).astype(np.uint8)
    whole = []
    for values in (labels, strength, owners == DISPUTED):
        found = values if values.shape == voxels.shape else np.zeros(voxels.shape, values.dtype)
        found[box] = values
        whole.append(found.reshape(shape))
    times.append(perf_counter())
    progress.advance(1.0)
    seconds = dict(zip(("prepare", "relative", "disputed", "values"), np.diff(times).tolist()))
    return RelativeConnectedness(*whole, points.names, name, seconds, peak_bytes, notes)


def _evidence(
    volume: np.ndarray, unit: np.ndarray, points: CheckedGroups, mask: Any, device: str,
    progress: Progress,
) -> tuple[Any, str, tuple[str, ...]]:  # fmt: skip
    """The contrast map in host memory, the name of its device, and notes."""
    from ..contrast.contrast_map import contrast_map

    chosen = choose_device(device)
    first, notes = points.seeds[0], ()
    if chosen != "cpu":
        try:
            with chosen as gpu:
                found = contrast_map(volume, unit, first, mask, progress, gpu).to_host()
                return found, chosen.name, ()
        except DeviceError as error:
            if device != "auto":
                raise
            notes = (CpuUsedNote(error),)
            warnings.warn(notes[0], stacklevel=3)
    return contrast_map(volume, unit, first, mask, progress), "cpu", notes


def levels_of_contrast(evidence: Any, cut: float) -> np.ndarray:
    """Levels of the contrast; 0 below the cut (a strength) and outside the mask."""
    levels = steps_of_noise(evidence.contrast, evidence.noise)
    levels[strength_of(levels) < np.float32(cut)] = 0
    if evidence.inside is not None:
        levels[evidence.inside == 0] = 0
    return levels


def _without_paths(
    capacities: np.ndarray, points: CheckedGroups, seeds: np.ndarray
) -> tuple[str, ...]:
    """A note for each group without contrast at any of its points: it has only the points."""
    has_contrast = capacities[tuple(seeds.T)] > 0
    return tuple(
        f"No point of {name!r} differs from its surroundings by the cut, so no path leads "
        "from it: place one where the vessel is thinner or brighter, or lower the cut."
        for label, name in enumerate(points.names, start=1)
        if not has_contrast[points.owners == label].any()
    )


def steps_of_noise(contrast: np.ndarray, noise: float) -> np.ndarray:
    """Levels (uint16) of contrasts in steps of the noise."""
    steps = np.floor(contrast / np.float32(noise) * np.float32(STEPS))
    return np.clip(steps, 0, np.iinfo(np.uint16).max).astype(np.uint16)


def strength_of(levels: np.ndarray) -> np.ndarray:
    """Strength (float32, 0..1) of levels of contrast."""
    values = levels.astype(np.float32)
    return values / (values + np.float32(STEPS))
