"""Relative connectedness of several groups of points: the entry."""

import warnings
from dataclasses import dataclass, field
from time import perf_counter

import numpy as np
from numpy.typing import ArrayLike

from FuzzyVesselCoreLib.errors import DeviceError, InputError
from FuzzyVesselCoreLib.gpu.device import choose_device
from FuzzyVesselCoreLib.numba_log import quiet_numba
from FuzzyVesselCoreLib.progress import ProgressCallback, reporter

from ..affinity.gaussian_affinity import GaussianAffinity, level_values
from ..input_validation import checked_mask, checked_spacing, checked_volume
from ..problem import state_problem
from .groups import DISPUTED, NOBODY, Groups, checked_groups

TIES = ("unlabelled", "nearest")
# Shares of the progress when relative connectedness is known, and when its rounds have ended.
RELATIVE, ITERATED = 0.8, 0.9


@dataclass(frozen=True)
class RelativeConnectedness:
    """Which group has each voxel, and how strongly.

    Attributes
    ----------
    labels : ndarray, uint8, of the volume's shape (K, J, I)
        1 for the first group, and so on; 0 where no path leads, and in disputed voxels that no
        rule gives to a group.
    strength : ndarray, float32, same shape
        Largest connectedness over all groups, 0..1: that of the voxel's own group; in a disputed
        voxel the value that the groups have in common.
    disputed : ndarray, bool, same shape
        Where two groups or more are equally strong, before any rule for ties.
    names : tuple of str
        The groups'.
    device : str
        "cpu", or the ordinal and name of the CUDA card.
    seconds : dict of str to float
        Time of each stage, in the order of the stages.
    peak_bytes : int
        As of `FuzzyScene`.
    notes : tuple of str
        What the user should know, for example why the CPU was used.
    """

    labels: np.ndarray
    strength: np.ndarray
    disputed: np.ndarray
    names: tuple[str, ...]
    device: str
    seconds: dict[str, float]
    peak_bytes: int
    notes: tuple[str, ...] = field(default=())


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
    cut: float = 0.0,
    progress: ProgressCallback | None = None,
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
        Distance of voxels along K, J, I. Connectedness by affinity does not depend on it.
    mask : ndarray, optional
        Paths stay where it is not 0.
    device : str
        "auto", "cpu", "cuda" or "cuda:1", as in `connectedness`; the result is the same.
    iterative : bool
        Iterative relative connectedness: what a group has, no other group's path may cross.
    ties : {"unlabelled", "nearest"}
        Disputed voxels have label 0; or they go to the group that is the fewest steps away, and
        have label 0 only where two groups are equally near.
    cut : float
        Affinities below it count as 0: what no group reaches with `cut` has label 0, all else is
        exact, and it is faster.
    progress : callable, optional
        ``progress(fraction) -> bool``; the run is cancelled where it returns False.

    Returns
    -------
    RelativeConnectedness

    Raises
    ------
    InputError
        Volume, groups, mask, cut or device cannot be worked with; a point of two groups is on one
        voxel.
    DeviceError
        The device that was asked for is not usable or has too little memory.
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
    if ties not in TIES:
        raise InputError(f"Unknown rule for ties {ties!r}; one of {', '.join(TIES)}.")
    report = reporter(progress)
    report(0.0)
    start = perf_counter()
    shape = np.shape(volume)
    voxels = checked_volume(volume)
    checked_spacing(spacing, voxels.shape[0])
    inside = checked_mask(mask, voxels.shape)
    points = checked_groups(groups, voxels.shape, inside)
    problem = state_problem(voxels, points.seeds, affinity, cut, inside)
    order = np.argsort(np.ravel_multi_index(points.seeds.T, voxels.shape))
    seconds = {"prepare": perf_counter() - start}
    options = iterative, ties, report, seconds
    levels, owners, labels, *run = _divide(problem, points.owners[order], device, *options)
    start = perf_counter()
    disputed = owners == DISPUTED
    labels[labels == DISPUTED] = NOBODY
    strength = level_values(levels)
    seconds["values"] = perf_counter() - start
    report(1.0)
    device_name, peak_bytes, notes = run
    return RelativeConnectedness(
        labels.reshape(shape),
        strength.reshape(shape),
        disputed.reshape(shape),
        points.names,
        device_name,
        seconds,
        peak_bytes,
        notes,
    )


def _divide(problem, seed_owners, device, *options):
    """Levels, owners, shared owners, name of the device, peak bytes and notes."""
    chosen = choose_device(device)
    if chosen == "cpu":
        return *_divide_on_cpu(problem, seed_owners, *options), ()
    try:
        return *_divide_on_cuda(problem, seed_owners, chosen, *options), ()
    except DeviceError as error:
        if device != "auto":
            raise
        note = f"The CPU was used: {error}"
        warnings.warn(note, stacklevel=3)
    return *_divide_on_cpu(problem, seed_owners, *options), (note,)


def _divide_on_cpu(problem, seed_owners, iterative, ties, report, seconds):
    quiet_numba()
    try:
        from . import disputed, optimal_edges, owners_by_blocks
    except ModuleNotFoundError as error:
        if error.name != "numba":
            raise
        raise DeviceError(
            "The CPU solvers are compiled by numba, which is not installed: pip install numba "
            "(in Slicer's Python console: slicer.util.pip_install('numba'))."
        ) from error
    clock = _Clock(seconds)
    levels, owners, peak_bytes = owners_by_blocks.solve(
        problem, seed_owners, lambda share: report(RELATIVE * share)
    )
    clock.stop("relative")
    if iterative or ties != "unlabelled":
        edges = optimal_edges.optimal_edges(problem, levels, owners, lambda: report(RELATIVE))
        held = levels.nbytes + owners.nbytes + edges.nbytes
    if iterative:
        more = disputed.iterate(edges, owners, lambda: report(RELATIVE))
        peak_bytes = max(peak_bytes, held + more)
        clock.stop("iterative")
    if ties == "unlabelled":
        return levels, owners, owners.copy(), "cpu", peak_bytes
    shared, more = disputed.share_by_steps(edges, owners, lambda: report(ITERATED))
    clock.stop("ties")
    return levels, owners, shared, "cpu", max(peak_bytes, held + more)


def _divide_on_cuda(problem, seed_owners, gpu, iterative, ties, report, seconds):
    from .cuda_disputed import Disputed
    from .cuda_owners import propagate

    with gpu:
        clock = _Clock(seconds)
        voxels = gpu.put(problem.voxels)
        mask = None if problem.mask is None else gpu.put(problem.mask)
        levels, owners = propagate(
            problem, seed_owners, voxels, mask, lambda share: report(RELATIVE * share), gpu
        )
        gpu.synchronize()
        clock.stop("relative")
        if iterative or ties != "unlabelled":
            look = lambda: report(RELATIVE)  # noqa: E731
            disputed = Disputed(problem, voxels, levels, owners, look, gpu)
        if iterative:
            disputed.iterate()
            gpu.synchronize()
            clock.stop("iterative")
        shared = disputed.share_by_steps() if ties != "unlabelled" else owners
        arrays = [gpu.get(array) for array in (levels, owners, shared)]
        clock.stop("ties")
        return *arrays, gpu.name, gpu.peak_bytes


class _Clock:
    """Writes the seconds of one stage after the other."""

    def __init__(self, seconds):
        self._seconds, self._last = seconds, perf_counter()

    def stop(self, stage):
        now = perf_counter()
        self._seconds[stage], self._last = now - self._last, now
