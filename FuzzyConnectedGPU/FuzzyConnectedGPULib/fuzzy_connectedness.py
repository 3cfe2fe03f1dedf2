"""Public entry point: fuzzy connectedness of a volume to seeds."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from time import perf_counter
from typing import Any

import numpy as np

from FuzzyVesselCoreLib.compilation import needs_numba
from FuzzyVesselCoreLib.errors import CpuUsedNote, DeviceError, DeviceMemoryError, InputError
from FuzzyVesselCoreLib.gpu.device import CudaDevice, choose_device
from FuzzyVesselCoreLib.progress import Progress, ProgressCallback

from .affinity import GaussianAffinity
from .input_validation import SolverDeviceError
from .problem import Problem, state_problem
from .scene import FuzzyScene, level_values
from .solvers import CPU_MODULES, CUDA_MODULES, SOLVERS, Solution


@dataclass(frozen=True)
class SolverOptions:
    """How to compute connectedness.

    Attributes
    ----------
    solver : str
        One of `SOLVERS`.
    device : str
        "auto" (CUDA where it is usable and the volume fits, else the CPU), "cpu", "cuda" or
        "cuda:1"; "exact" solves a volume that does not fit on the CPU.
    cut : float
        Affinities below it count as 0: exact for all values from the cut on, and faster.
    corrections, directions : int
        Only used by "cuda-kfoe-corrected": correction iterations on the blocks' edges (2 in both
        papers' experiments, 3 in the Chinese paper's theory), and to how many of the 6 neighbours
        they lead (English paper, table 2).

    Raises
    ------
    InputError
        The solver is unknown.

    Examples
    --------
    >>> SolverOptions("dial", cut=0.3).device
    'auto'
    """

    solver: str = "exact"
    device: str = "auto"
    cut: float = 0.0
    corrections: int = 2
    directions: int = 6

    def __post_init__(self) -> None:
        if self.solver not in SOLVERS:
            raise InputError(f"Unknown solver {self.solver!r}; one of {', '.join(SOLVERS)}.")

    def solver_device(self) -> str:
        """The device, narrowed to what the solver runs on, or `InputError`."""
        if self.solver not in CUDA_MODULES:
            if self.device not in ("auto", "cpu"):
                raise SolverDeviceError(self.solver, self.device, on_cpu=True)
            return "cpu"
        if self.solver not in CPU_MODULES:
            if self.device == "cpu":
                raise SolverDeviceError(self.solver, self.device, on_cpu=False)
            return "cuda" if self.device == "auto" else self.device
        return self.device


def connectedness(
    volume: np.ndarray,
    seeds: np.ndarray | Sequence,
    affinity: GaussianAffinity | None = None,
    *,
    mask: np.ndarray | None = None,
    options: SolverOptions | None = None,
    progress: Progress | ProgressCallback | None = None,
    **keywords: Any,
) -> FuzzyScene:
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
    mask : ndarray, optional
        Paths stay where it is not 0; elsewhere the scene is 0.
    options : SolverOptions, optional
        Solver, device, cut and so on.
    progress : callable, optional
        ``progress(share) -> bool``; returns False to cancel.
    **keywords
        Fields of `SolverOptions`, instead of `options` or to replace some of its fields; for
        example ``solver="dial", device="cpu", cut=0.3``.

    Returns
    -------
    FuzzyScene

    Raises
    ------
    InputError
        If volume, seeds, mask, cut, solver or device is invalid.
    DeviceError
        If the requested device is not usable or has too little memory.
    Cancelled
        If `progress` returned False.

    Examples
    --------
    >>> import numpy as np
    >>> volume = np.array([[[100, 100, 0, 100]]], np.int16)
    >>> affinity = GaussianAffinity(mean=100, sigma=10, gradient_sigma=10)
    >>> connectedness(volume, [[0, 0, 0]], affinity, device="cpu").values.round(3)
    array([[[1., 1., 0., 0.]]], dtype=float32)
    """
    options = SolverOptions(**keywords) if options is None else replace(options, **keywords)
    progress = Progress.of(progress)
    progress.advance(0.0)
    times = [perf_counter()]
    options.solver_device()  # raises where the solver does not run on the device
    problem = state_problem(volume, seeds, affinity, options.cut, mask)
    times.append(perf_counter())
    progress.advance(0.0)

    solution, device, notes = solve_problem(problem, options, progress)
    times.append(perf_counter())
    values = level_values(solution.levels)
    times.append(perf_counter())
    progress.advance(1.0)
    seconds = dict(zip(("prepare", "propagate", "values"), np.diff(times).tolist()))
    if solution.on_device:
        seconds["on_device"] = solution.on_device
    return FuzzyScene(
        values.reshape(np.shape(volume)), options.solver, device,
        solution.rounds, seconds, solution.peak_bytes, notes,
    )  # fmt: skip


def solve_problem(
    problem: Problem, options: SolverOptions, progress: Progress
) -> tuple[Solution, str, tuple[str, ...]]:
    """The solution of a `Problem` in host memory, name of the device, and notes."""
    device = options.solver_device()
    notes: tuple[str, ...] = ()
    chosen = choose_device(device)
    if chosen != "cpu":
        try:
            return _solve_on_cuda(problem, options, progress, chosen), chosen.name, ()
        except DeviceError as error:
            # What does not fit on the card is solved by the CPU.
            too_large = isinstance(error, DeviceMemoryError) and options.solver == "exact"
            if device != "auto" and not too_large:
                raise
            notes = (CpuUsedNote(error),)
            warnings.warn(notes[0], stacklevel=3)
    with needs_numba():
        module, name = CPU_MODULES[options.solver]
        solver = getattr(import_module(module, __package__), name)
    return solver(problem, progress), "cpu", notes


def _solve_on_cuda(
    problem: Problem, options: SolverOptions, progress: Progress, gpu: CudaDevice
) -> Solution:
    module, name = CUDA_MODULES[options.solver]
    solver = getattr(import_module(module, __package__), name)
    own: dict[str, Any] = {}
    if options.solver == "cuda-kfoe-corrected":
        own = {"corrections": options.corrections, "directions": options.directions}
    with gpu:
        solution = solver(problem, progress, gpu, **own)
        return solution._replace(levels=gpu.get(solution.levels))
