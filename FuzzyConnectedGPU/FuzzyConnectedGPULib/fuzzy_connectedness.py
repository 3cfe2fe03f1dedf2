"""Fuzzy connectedness: the face that a person meets first."""

import warnings
from importlib import import_module
from time import perf_counter

import numpy as np

from FuzzyVesselCoreLib.compilation import quiet_numba
from FuzzyVesselCoreLib.errors import DeviceError, InputError
from FuzzyVesselCoreLib.gpu.device import choose_device
from FuzzyVesselCoreLib.progress import reporter

from .affinity.gaussian_affinity import level_values
from .problem import state_problem
from .scene import FuzzyScene
from .solvers import CPU_MODULES, CUDA_MODULES, SOLVERS


def connectedness(
    volume,
    seeds,
    affinity=None,
    *,
    solver="exact",
    device="auto",
    cut=0.0,
    mask=None,
    progress=None,
    corrections=2,
    directions=6,
    start=None,
):
    """Connectedness of every voxel to the seeds: the fuzzy scene.

    ``C(c)`` is the largest, over all paths of 6-neighbours from a seed to c, of the smallest
    affinity along the path (Udupa and Samarasekera 1996; papers, section 1.3). The solvers
    "exact", "blocks", "dial" and "kfoe" give the same float32 values, bit for bit, on every device.

    Parameters
    ----------
    volume : ndarray, shape (K, J, I) or (J, I)
        uint8, int16, uint16, int32, float32 or float64.
    seeds : array_like, shape (n, 3), integers K, J, I
    affinity : GaussianAffinity, optional
        By default `estimate_affinity` of the volume and the seeds.
    solver : str
        One of `SOLVERS`.
    device : str
        "auto" (CUDA where it is usable and the volume fits, else the CPU), "cpu", "cuda" or
        "cuda:1".
    cut : float
        Affinities below it count as 0: exact for all values from the cut on, and faster.
    mask : ndarray, optional
        Paths stay where it is not 0; the rest of the scene is 0.
    progress : callable, optional
        ``progress(fraction) -> bool``; the run is cancelled where it returns False.
    corrections, directions : int
        Of "cuda-kfoe-corrected" alone: correction iterations on the blocks' edges (2 in both
        papers' experiments, 3 in the Chinese paper's theory) and to how many of the 6 neighbours
        they lead (English paper, table 2).
    start : FuzzyScene or ndarray, optional
        The scene of the same volume, affinity, cut and mask from some of the same seeds. "exact"
        and "dial" on the CPU then compute only what the other seeds raise, with the same result;
        all else computes everything.

    Returns
    -------
    FuzzyScene

    Raises
    ------
    InputError
        If volume, seeds, mask, cut, solver or device cannot be worked with.
    DeviceError
        If the device that was asked for is not usable or has too little memory.
    Cancelled
        If `progress` returned False.
    """
    if solver not in SOLVERS:
        raise InputError(f"Unknown solver {solver!r}; one of {', '.join(SOLVERS)}.")
    report = reporter(progress)
    report(0.0)
    times = [perf_counter()]
    problem = state_problem(volume, seeds, affinity, cut, mask, start)
    options = {}
    if solver == "cuda-kfoe-corrected":
        options = {"corrections": corrections, "directions": directions}
    times.append(perf_counter())
    report(0.0)
    levels, rounds, peak_bytes, device_name, notes = _solve(
        problem, solver, device, options, report
    )
    times.append(perf_counter())
    values = level_values(levels).reshape(np.shape(volume))
    times.append(perf_counter())
    report(1.0)
    seconds = dict(zip(("prepare", "propagate", "values"), np.diff(times).tolist()))
    return FuzzyScene(values, solver, device_name, rounds, seconds, peak_bytes, notes)


def _solve(problem, solver, device, options, report):
    """Levels, rounds, peak bytes, name of the device and notes."""
    if solver not in CUDA_MODULES:
        if device not in ("auto", "cpu"):
            raise InputError(
                f"Solver {solver!r} runs on the CPU only; leave the device {device!r} out, "
                "or choose solver 'exact'."
            )
        return _solve_on_cpu(problem, solver, report)
    if solver not in CPU_MODULES:
        if device == "cpu":
            raise InputError(
                f"Solver {solver!r} runs on CUDA only; leave the device 'cpu' out, "
                "or choose solver 'exact'."
            )
        device = "cuda" if device == "auto" else device
    chosen = choose_device(device)
    if chosen == "cpu":
        return _solve_on_cpu(problem, solver, report)
    try:
        return _solve_on_cuda(problem, solver, chosen, options, report)
    except DeviceError as error:
        if device != "auto":
            raise
        note = f"The CPU was used: {error}"
        warnings.warn(note, stacklevel=3)
    return *_solve_on_cpu(problem, solver, report)[:-1], (note,)


def _solve_on_cpu(problem, solver, report):
    quiet_numba()
    try:
        module = import_module(f".solvers.{CPU_MODULES[solver]}", __package__)
    except ModuleNotFoundError as error:
        if error.name != "numba":
            raise
        raise DeviceError(
            "The CPU solvers are compiled by numba, which is not installed: pip install numba "
            "(in Slicer's Python console: slicer.util.pip_install('numba'))."
        ) from error
    return *module.solve(problem, report), "cpu", ()


def _solve_on_cuda(problem, solver, gpu, options, report):
    module = import_module(f".solvers.{CUDA_MODULES[solver]}", __package__)
    with gpu:
        levels, rounds = module.solve(problem, report, gpu, **options)
        return levels, rounds, gpu.peak_bytes, gpu.name, ()
