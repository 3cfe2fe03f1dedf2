"""What every solver takes and returns, on the CPU and on CUDA."""

from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from FuzzyVesselCoreLib.progress import Progress

if TYPE_CHECKING:
    from FuzzyVesselCoreLib.gpu.device import CudaDevice

    from ..problem import Problem


class Solution(NamedTuple):
    """Result of a solver.

    Attributes
    ----------
    levels : ndarray or device array, shape (K, J, I), uint16
        Connectedness of each voxel, 65535 for the seeds. Solvers on CUDA may leave it there. Where
        the caller gave memory for values, these may be there instead: ndarray of float32.
    rounds : int
        Kernel rounds; 0 for the queues of the CPU.
    peak_bytes : int
        Most memory held at a time, in host memory or on the device.
    """

    levels: Any
    rounds: int
    peak_bytes: int


class Solver(Protocol):
    """A module of `CPU_MODULES`."""

    def solve(self, problem: "Problem", progress: Progress) -> Solution:
        """Levels of the fuzzy scene; raises `Cancelled` if the progress callback says so."""


class CudaSolver(Protocol):
    """A module of `CUDA_MODULES`."""

    def solve(
        self, problem: "Problem", progress: Progress, gpu: "CudaDevice", **options: Any
    ) -> Solution:
        """Levels of the fuzzy scene, computed on a device inside its ``with`` block.

        ``options`` are `corrections` and `directions` of "cuda-kfoe-corrected", and `values`
        (`MemorySoon` of float32, which the solver lets begin) of "exact", else none.
        """

    def propagate(
        self,
        problem: "Problem",
        voxels: Any,
        mask: Any,
        progress: Progress,
        gpu: "CudaDevice",
        **options: Any,
    ) -> tuple[Any, int]:
        """Levels or values on the device and rounds, from voxels and mask (or None) there."""
