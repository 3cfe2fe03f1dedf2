"""Public entry point: relative connectedness of several groups of points."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from FuzzyVesselCoreLib.compilation import needs_numba
from FuzzyVesselCoreLib.progress import Progress, ProgressCallback

from ..affinity import GaussianAffinity
from ..fuzzy_connectedness import SolverOptions, solve_problem
from ..input_validation import checked_mask, checked_volume
from ..problem import Problem, state_problem
from ..scene import level_values
from .vessels import DISPUTED, UNOWNED, Groups, checked_groups

POINT = 65536  # connectedness of a point to its own group, above every path
SOLVED = 0.8  # share of the progress


@dataclass(frozen=True)
class RelativeConnectedness:
    """The group of each voxel, and how strongly it is connected.

    Attributes
    ----------
    labels : ndarray, uint8, of the volume's shape (K, J, I)
        1 for the first group, and so on; 0 where there is no path, and in disputed voxels.
    strength : ndarray, float32, same shape
        Largest connectedness over all groups, 0..1: that of the voxel's own group; in a disputed
        voxel the value that the groups have in common.
    disputed : ndarray, bool, same shape
        Where two groups or more are equally strong.
    names : tuple of str
        The groups'.
    device : str
        "cpu", or the ordinal and name of the CUDA device that computed connectedness.
    notes : tuple of str
        Messages for the user, for example why the CPU was used.
    """

    labels: np.ndarray
    strength: np.ndarray
    disputed: np.ndarray
    names: tuple[str, ...]
    device: str
    notes: tuple[str, ...] = ()


def relative_connectedness(
    volume: Any,
    groups: Groups,
    affinity: GaussianAffinity | None = None,
    *,
    mask: Any = None,
    device: str = "auto",
    iterative: bool = False,
    cut: float = 0.0,
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
    mask : ndarray, optional
        Paths stay where it is not 0.
    device : str
        "auto", "cpu", "cuda" or "cuda:1": where connectedness is computed, with the same bits.
    iterative : bool
        Iterative relative connectedness: no path may cross the voxels of another group. It takes
        one run of connectedness, else there is one for each group.
    cut : float
        No path leads through what is weaker: what no group reaches with `cut` has label 0, all
        else is exact.
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
    progress, options = Progress.of(progress), SolverOptions(device=device)
    progress.advance(0.0)
    shape, voxels = np.shape(volume), checked_volume(volume)
    inside = checked_mask(mask, voxels.shape)
    points = checked_groups(groups, voxels.shape, inside)
    problem = state_problem(voxels, points.seeds, affinity, cut, inside)
    flat = np.ravel_multi_index(points.seeds.T, voxels.shape)
    part = progress.part(0.0, SOLVED)
    if iterative:
        with needs_numba():
            from .division import owners_by_affinity
        solution, name, notes = solve_problem(problem, options, part)
        levels = solution.levels
        owners = owners_by_affinity(problem, levels, flat, points.owners, progress)
    else:
        levels, owners, name, notes = _relative(problem, flat, points.owners, options, part)
    progress.advance(1.0)
    strength, owners = level_values(levels).reshape(shape), owners.reshape(shape)
    labels = np.where(owners == DISPUTED, UNOWNED, owners).astype(np.uint8)
    return RelativeConnectedness(labels, strength, owners == DISPUTED, points.names, name, notes)


def _relative(
    problem: Problem, points: np.ndarray, groups: np.ndarray, options: SolverOptions,
    progress: Progress,
) -> tuple[np.ndarray, np.ndarray, str, tuple[str, ...]]:  # fmt: skip
    """Levels of all groups together, owners, device and notes, by the definition."""
    best, second = np.zeros((2, *problem.voxels.shape), np.int32)
    owners, count = np.zeros(best.shape, np.uint8), int(groups.max())
    for group in range(1, count + 1):
        seeds = np.sort(points[groups == group])
        part = progress.part((group - 1) / count, group / count)
        solution, device, notes = solve_problem(replace(problem, seeds=seeds), options, part)
        own = solution.levels.astype(np.int32)
        own.reshape(-1)[seeds] = POINT
        second = np.maximum(second, np.minimum(best, own))
        owners[own > best] = group
        best = np.maximum(best, own)
    owners[(best == second) & (best > 0)] = DISPUTED
    return np.minimum(best, POINT - 1).astype(np.uint16), owners, device, notes
