"""Public entry point: relative connectedness of several groups of points."""

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

from FuzzyVesselCoreLib.compilation import needs_numba
from FuzzyVesselCoreLib.errors import CpuUsedNote, DeviceError, InputError
from FuzzyVesselCoreLib.gpu.selection import choose_device
from FuzzyVesselCoreLib.progress import Progress, ProgressCallback

from ..affinity import GaussianAffinity, level_values
from ..input_validation import checked_mask, checked_spacing, checked_volume
from ..problem import Problem, level_of_cut, state_problem
from .groups import DISPUTED, NOBODY, CheckedGroups, Groups, checked_groups

MODELS, TIES = ("affinity", "contrast"), ("unlabelled", "nearest")
STEPS = 256  # levels of a contrast of one deviation of the noise
DEFAULT_CUT = 0.75  # three deviations of the noise
CONTRAST, RELATIVE = 0.5, 0.8  # shares of the progress
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
    started, shape = perf_counter(), np.shape(volume)
    voxels = checked_volume(volume)
    unit, inside = checked_spacing(spacing, voxels.shape[0]), checked_mask(mask, voxels.shape)
    points = checked_groups(groups, voxels.shape, inside)
    with needs_numba():
        from . import disputed
    if model == "contrast":
        lowest = DEFAULT_CUT if cut is None else cut
        level_of_cut(lowest)  # raises unless it is within 0..1
        found = _by_contrast(voxels, unit, inside, points, lowest, device, progress)
    else:
        problem = state_problem(voxels, points.seeds, affinity, cut or 0.0, inside)
        found = _by_affinity(problem, points, device, progress)
    owners = shared = found.owners
    if iterative or ties == "nearest":
        progress.advance(RELATIVE)
        edges = found.edges()
        if iterative:
            edges = disputed.iterate(edges, owners, progress)
        shared = disputed.share_by_steps(edges, owners, progress) if ties == "nearest" else owners
    found.strength[owners == NOBODY] = 0

    def whole(values: np.ndarray) -> np.ndarray:
        result = np.zeros(voxels.shape, values.dtype)
        result[found.box] = values
        return result.reshape(shape)

    labels = whole(np.where(shared == DISPUTED, 0, shared).astype(np.uint8))
    tied, strength = whole(owners == DISPUTED), whole(found.strength)
    progress.advance(1.0)
    seconds = {**found.seconds, "division": perf_counter() - started - sum(found.seconds.values())}
    run = found.device, seconds, found.peak_bytes, found.notes
    return RelativeConnectedness(labels, strength, tied, points.names, *run)


class _Relative(NamedTuple):
    """Relative connectedness in a box of the volume, and the function that finds optimal edges."""

    box: tuple[slice, ...]
    strength: np.ndarray
    owners: np.ndarray
    edges: Callable[[], Any]
    device: str
    seconds: dict[str, float]
    peak_bytes: int
    notes: tuple[str, ...] = ()


def _by_affinity(
    problem: Problem, points: CheckedGroups, device: str, progress: Progress
) -> _Relative:
    from . import disputed, forests

    choose_device(device)  # raises where it is not usable
    shape = problem.voxels.shape
    order = np.argsort(np.ravel_multi_index(points.seeds.T, shape))
    part = progress.part(0.0, RELATIVE)
    levels, owners, peak_bytes = forests.by_affinity(problem, points.owners[order], part)

    def edges() -> Any:
        return disputed.affinity_edges(problem, levels, owners)

    box = tuple(slice(0, n) for n in shape)
    peak_bytes += 2 * owners.nbytes  # of disputed voxels
    return _Relative(box, level_values(levels), owners, edges, "cpu", {}, peak_bytes)


def _by_contrast(
    volume: np.ndarray, unit: np.ndarray, mask: Any, points: CheckedGroups, cut: float,
    device: str, progress: Progress,
) -> _Relative:  # fmt: skip
    from ..contrast.contrast_map import contrast_map
    from . import disputed, forests

    started, chosen = perf_counter(), choose_device(device)
    notes: tuple[str, ...] = ()
    part = progress.part(0.0, CONTRAST)
    inputs: tuple[Any, Any, Any, Any] = volume, unit.tolist(), points.seeds[0], mask
    mapped = None
    if chosen != "cpu":
        try:
            with chosen as gpu:
                mapped = contrast_map(*inputs, part, gpu).to_host()
        except DeviceError as error:
            if device != "auto":
                raise
            notes = (CpuUsedNote(error),)
            warnings.warn(notes[0], stacklevel=3)
    name = "cpu" if chosen == "cpu" or mapped is None else chosen.name
    mapped = contrast_map(*inputs, part) if mapped is None else mapped
    seconds = {"contrast": perf_counter() - started}
    capacities = levels_of_contrast(mapped, cut)
    flat = np.ravel_multi_index((points.seeds - mapped.origin).T, capacities.shape)
    for label, group in enumerate(points.names, start=1):
        if not capacities.reshape(-1)[flat[points.owners == label]].any():  # it has only the points
            note = (
                f"No point of {group!r} differs from its surroundings by the cut, so no path leads "
                "from it: place one where the vessel is thinner or brighter, or lower the cut."
            )
            notes = (*notes, note)
    part = progress.part(CONTRAST, RELATIVE)
    levels, owners = forests.by_contrast(capacities, flat, points.owners, part)
    strength = strength_of(levels)
    strength.reshape(-1)[flat] = 1

    def edges() -> Any:
        return disputed.contrast_edges(capacities, levels, owners)

    size = BYTES_PER_VOXEL * capacities.size
    return _Relative(mapped.box, strength, owners, edges, name, seconds, size, notes)


def levels_of_contrast(mapped: Any, cut: float) -> np.ndarray:
    """Levels of the contrast; 0 below the cut (a strength) and outside the mask."""
    levels = steps_of_noise(mapped.contrast, mapped.noise)
    levels[strength_of(levels) < np.float32(cut)] = 0
    if mapped.inside is not None:
        levels[mapped.inside == 0] = 0
    return levels


def steps_of_noise(contrast: np.ndarray, noise: float) -> np.ndarray:
    """Levels (uint16) of contrasts in steps of the noise."""
    steps = np.floor(contrast / np.float32(noise) * np.float32(STEPS))
    return np.clip(steps, 0, np.iinfo(np.uint16).max).astype(np.uint16)


def strength_of(levels: np.ndarray) -> np.ndarray:
    """Strength (float32, 0..1) of levels of contrast."""
    values = levels.astype(np.float32)
    return values / (values + np.float32(STEPS))
