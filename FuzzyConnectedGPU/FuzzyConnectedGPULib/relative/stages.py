"""The stages of relative connectedness on the CPU and on CUDA."""

import warnings
from time import perf_counter

from FuzzyVesselCoreLib.compilation import quiet_numba
from FuzzyVesselCoreLib.errors import DeviceError
from FuzzyVesselCoreLib.gpu.device import choose_device

# Shares of the progress when relative connectedness is known, and when its rounds have ended.
RELATIVE, ITERATED = 0.8, 0.9


def divide(problem, seed_owners, device, *options):
    """Divide the voxels among the groups.

    Parameters
    ----------
    problem : Problem
        Its seeds are the points of all groups.
    seed_owners : ndarray, uint8
        Group of each of its seeds.
    device, iterative, ties
        As of `relative_connectedness`.
    report : callable
    seconds : dict
        Receives the time of each stage.

    Returns
    -------
    levels, owners, shared : ndarray, shape (K, J, I), uint16, uint8, uint8
        Owners before and after the rule for ties.
    device_name : str
    peak_bytes : int
    notes : tuple of str
    """
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
    clock = Clock(seconds)
    levels, owners, peak_bytes = owners_by_blocks.solve(
        problem, seed_owners, lambda share: report(RELATIVE * share)
    )
    clock.stop("relative")
    if iterative or ties != "unlabelled":
        edges = optimal_edges.optimal_edges(problem, levels, owners, lambda: report(RELATIVE))
        held = levels.nbytes + owners.nbytes + edges.nbytes
    if iterative:
        more = disputed.iterate(edges, optimal_edges.SIDES, owners, lambda: report(RELATIVE))
        peak_bytes = max(peak_bytes, held + more)
        clock.stop("iterative")
    if ties == "unlabelled":
        return levels, owners, owners, "cpu", peak_bytes
    sides, look = optimal_edges.SIDES, lambda: report(ITERATED)
    shared, more = disputed.share_by_steps(edges, sides, owners, look)
    clock.stop("ties")
    return levels, owners, shared, "cpu", max(peak_bytes, held + more)


def _divide_on_cuda(problem, seed_owners, gpu, iterative, ties, report, seconds):
    from .cuda.disputed import Disputed
    from .cuda.owners import propagate

    with gpu:
        clock = Clock(seconds)
        voxels = gpu.put(problem.voxels)
        mask = None if problem.mask is None else gpu.put(problem.mask)
        levels, owners = propagate(
            problem, seed_owners, voxels, mask, lambda share: report(RELATIVE * share), gpu
        )
        gpu.synchronize()
        clock.stop("relative")
        if iterative or ties != "unlabelled":
            disputed = Disputed(problem, voxels, levels, owners, lambda: report(RELATIVE), gpu)
        if iterative:
            disputed.iterate()
            gpu.synchronize()
            clock.stop("iterative")
        shared = None
        if ties != "unlabelled":
            shared = gpu.get(disputed.share_by_steps())
            clock.stop("ties")
        levels, owners = gpu.get(levels), gpu.get(owners)
        clock.stop("download")
        return levels, owners, owners if shared is None else shared, gpu.name, gpu.peak_bytes


class Clock:
    """Writes the seconds of one stage after the other."""

    def __init__(self, seconds):
        self._seconds, self._last = seconds, perf_counter()

    def stop(self, stage):
        now = perf_counter()
        self._seconds[stage], self._last = now - self._last, now
