"""What every method that sums the forces takes and returns."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from FuzzyVesselCoreLib.progress import Progress

from ..solid import ChargedSolid

if TYPE_CHECKING:
    from .direct_cuda import Launch


@dataclass(frozen=True)
class SumResult:
    """How the forces of one solid were summed.

    Attributes
    ----------
    convolved, direct : int
        Number of targets whose force was summed by the convolution, and directly.
    on_host : bool
        Whether intermediate results waited in host memory, as that of the device did not suffice.
    launch : Launch or None
        Of the direct sum on CUDA.
    """

    convolved: int = 0
    direct: int = 0
    on_host: bool = False
    launch: "Launch | None" = None


class ForceMethod(Protocol):
    """Writes the forces at the targets of a solid."""

    def __call__(
        self,
        solid: ChargedSolid,
        strength: int,
        vectors: Any,
        progress: Progress,
        gpu: Any = None,
    ) -> SumResult:
        """Sum the forces.

        Parameters
        ----------
        solid : ChargedSolid
            A `CudaSolid` if a device is given.
        strength : int
        vectors : ndarray, shape (K, J, I, 3) of the solid's box
            Only the targets are written. On a device CuPy's float32.
        progress : Progress
        gpu : CudaDevice, optional
            By default the CPU is used.

        Raises
        ------
        Cancelled
            The progress callback returned False.
        """
