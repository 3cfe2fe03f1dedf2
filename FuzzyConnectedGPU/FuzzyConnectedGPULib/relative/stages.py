"""The stages of relative connectedness on the CPU and on CUDA."""

import warnings
from dataclasses import dataclass
from time import perf_counter
from typing import NamedTuple

import numpy as np

from FuzzyVesselCoreLib.compilation import needs_numba
from FuzzyVesselCoreLib.errors import CpuUsedNote, DeviceError
from FuzzyVesselCoreLib.gpu.device import CudaDevice
from FuzzyVesselCoreLib.gpu.selection import choose_device
from FuzzyVesselCoreLib.progress import Progress

from ..problem import Problem

# Shares of the progress when relative connectedness is known, and when its rounds have ended.
RELATIVE, ITERATED = 0.8, 0.9


@dataclass(frozen=True)
class DivisionOptions:
    """Device, iterations and the rule for ties; as of `relative_connectedness`."""

    device: str
    iterative: bool
    ties: str

    @property
    def needs_edges(self) -> bool:
        """Whether disputed voxels are processed further."""
        return self.iterative or self.ties != "unlabelled"


class Division(NamedTuple):
    """The voxels divided among the groups.

    Attributes
    ----------
    levels : ndarray, shape (K, J, I), uint16; or strength, float32
    owners, shared : ndarray, shape (K, J, I), uint8
        Owners before and after the rule for ties.
    device_name : str
    peak_bytes : int
    notes : tuple of str
    """

    levels: np.ndarray
    owners: np.ndarray
    shared: np.ndarray
    device_name: str
    peak_bytes: int
    notes: tuple[str, ...] = ()


class Clock:
    """Writes the seconds of one stage after the other."""

    def __init__(self, seconds: dict[str, float]) -> None:
        self._seconds, self._last = seconds, perf_counter()

    def stop(self, stage: str) -> None:
        """Write the seconds since the last call, or since the clock was made."""
        now = perf_counter()
        self._seconds[stage], self._last = now - self._last, now


def divide(
    problem: Problem,
    seed_owners: np.ndarray,
    options: DivisionOptions,
    progress: Progress,
    seconds: dict[str, float],
) -> Division:
    """Divide the voxels among the groups.

    Parameters
    ----------
    problem : Problem
        Its seeds are the points of all groups.
    seed_owners : ndarray, uint8
        Group of each of its seeds.
    options : DivisionOptions
    progress : Progress
    seconds : dict
        Receives the time of each stage.

    Returns
    -------
    Division
    """
    clock = Clock(seconds)
    chosen = choose_device(options.device)
    if chosen == "cpu":
        return _divide_on_cpu(problem, seed_owners, options, progress, clock)
    try:
        return _divide_on_cuda(problem, seed_owners, options, progress, clock, chosen)
    except DeviceError as error:
        if options.device != "auto":
            raise
        note = CpuUsedNote(error)
        warnings.warn(note, stacklevel=3)
    division = _divide_on_cpu(problem, seed_owners, options, progress, Clock(seconds))
    return division._replace(notes=(note,))


def _divide_on_cpu(
    problem: Problem,
    seed_owners: np.ndarray,
    options: DivisionOptions,
    progress: Progress,
    clock: Clock,
) -> Division:
    with needs_numba():
        from . import disputed, optimal_edges, owners_by_blocks
    part = progress.part(0.0, RELATIVE)
    levels, owners, peak_bytes = owners_by_blocks.solve(problem, seed_owners, part)
    clock.stop("relative")
    shared = owners
    if options.needs_edges:
        progress.advance(RELATIVE)
        edges = optimal_edges.optimal_edges(problem, levels, owners, progress)
        held, sides = levels.nbytes + owners.nbytes + edges.nbytes, optimal_edges.SIDES
    if options.iterative:
        own_bytes = disputed.iterate(edges, sides, owners, progress)
        peak_bytes = max(peak_bytes, held + own_bytes)
        clock.stop("iterative")
    if options.ties != "unlabelled":
        progress.advance(ITERATED)
        shared, own_bytes = disputed.share_by_steps(edges, sides, owners, progress)
        peak_bytes = max(peak_bytes, held + own_bytes)
        clock.stop("ties")
    return Division(levels, owners, shared, "cpu", peak_bytes)


def _divide_on_cuda(
    problem: Problem,
    seed_owners: np.ndarray,
    options: DivisionOptions,
    progress: Progress,
    clock: Clock,
    gpu: CudaDevice,
) -> Division:
    from .cuda.disputed import Disputed
    from .cuda.owners import propagate

    with gpu:
        voxels = gpu.put(problem.voxels)
        mask = None if problem.mask is None else gpu.put(problem.mask)
        part = progress.part(0.0, RELATIVE)
        levels, owners = propagate(problem, seed_owners, voxels, mask, part, gpu)
        gpu.synchronize()
        clock.stop("relative")
        if options.needs_edges:
            progress.advance(RELATIVE)
            disputed = Disputed(problem, voxels, levels, owners, progress, gpu)
        if options.iterative:
            disputed.iterate()
            gpu.synchronize()
            clock.stop("iterative")
        shared = None
        if options.ties != "unlabelled":
            shared = gpu.get(disputed.share_by_steps())
            clock.stop("ties")
        levels, owners = gpu.get(levels), gpu.get(owners)
        clock.stop("download")
        shared = owners if shared is None else shared
        return Division(levels, owners, shared, gpu.name, gpu.peak_bytes)
