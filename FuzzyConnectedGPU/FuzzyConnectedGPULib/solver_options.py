"""Options of `connectedness`, validated once."""

from dataclasses import dataclass

from FuzzyVesselCoreLib.errors import InputError

from .input_errors import SolverDeviceError
from .solvers import CPU_MODULES, CUDA_MODULES, SOLVERS


@dataclass(frozen=True)
class SolverOptions:
    """How to compute connectedness.

    Attributes
    ----------
    solver : str
        One of `SOLVERS`.
    device : str
        "auto" (CUDA where it is usable and the volume fits, else the CPU), "cpu", "cuda" or
        "cuda:1".
    cut : float
        Affinities below it count as 0: exact for all values from the cut on, and faster.
    corrections, directions : int
        Only used by "cuda-kfoe-corrected": correction iterations on the blocks' edges (2 in both
        papers' experiments, 3 in the Chinese paper's theory), and to how many of the 6 neighbours
        they lead (English paper, table 2).
    device_memory : int or None
        Bytes of a CUDA device that a run may hold; None: all that are free. "exact" solves a volume
        that needs more block by block.

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
    device_memory: int | None = None

    def __post_init__(self) -> None:
        if self.solver not in SOLVERS:
            raise InputError(f"Unknown solver {self.solver!r}; one of {', '.join(SOLVERS)}.")
        if self.device_memory is not None and self.device_memory <= 0:
            raise InputError(f"device_memory is {self.device_memory}, but must be bytes > 0.")

    def solver_device(self) -> str:
        """The device, narrowed to what the solver runs on.

        Raises
        ------
        InputError
            The solver does not run on the device that was asked for.
        """
        if self.solver not in CUDA_MODULES:
            if self.device not in ("auto", "cpu"):
                raise SolverDeviceError(self.solver, self.device, on_cpu=True)
            return "cpu"
        if self.solver not in CPU_MODULES:
            if self.device == "cpu":
                raise SolverDeviceError(self.solver, self.device, on_cpu=False)
            return "cuda" if self.device == "auto" else self.device
        return self.device
