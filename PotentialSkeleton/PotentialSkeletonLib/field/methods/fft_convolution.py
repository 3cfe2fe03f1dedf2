"""Method "fft": the sum over all charges as a zero-padded convolution, on the CPU or on CUDA.

``F(P) = sum over C of (P - C) / |P - C|^(m + 1)`` is the convolution of the charges with a kernel
of three components, in float64. It is transformed along I row by row, and then worked in groups of
columns, each of one frequency along I: only these are ever padded along J and K. So what waits
between the passes is a quarter of the padded size for the charges and for each component, and a run
can be cancelled between any two groups.
"""

from typing import Any

from FuzzyVesselCoreLib.progress import Progress

from ..convolution.convolution import Convolution
from ..convolution.fft_padding import Sizes
from ..convolution.transforms import Transforms
from ..solid import ChargedSolid
from .distance_bands import distance_bands
from .interface import SumResult


def sum_forces(
    solid: ChargedSolid, strength: int, vectors: Any, progress: Progress, gpu: Any = None
) -> SumResult:
    """Write the forces at the targets of a solid; see `interface.ForceMethod`."""
    bands = list(distance_bands(solid, strength))
    progress.advance(0.0)
    on_host = sum_bands(solid, strength, bands, vectors, progress, gpu)
    return SumResult(convolved=int(solid.targets.sum()), on_host=on_host)


def sum_bands(
    solid: ChargedSolid,
    strength: int,
    bands: list[tuple[int, Any]],
    vectors: Any,
    progress: Progress,
    gpu: Any = None,
) -> bool:
    """Write the forces in some `distance_bands`; return whether host memory was used for CUDA."""
    sizes = Sizes(solid.classes.shape, on_device=gpu is not None)
    transforms = transforms_for(sizes, strength, gpu)
    convolution = Convolution(solid.classes, sizes, transforms)
    convolution.run(bands, vectors, progress)
    if gpu is not None:
        gpu.free_fourier_plans()  # the next solid has another size
    return transforms.on_host


def transforms_for(sizes: Sizes, strength: int, gpu: Any) -> Transforms:
    """Return the `Transforms` of a device, or of the CPU."""
    if gpu is None:
        from ..convolution.cpu_transforms import CpuTransforms

        return CpuTransforms(sizes, strength)
    from ..convolution.cuda_transforms import CudaTransforms

    return CudaTransforms(sizes, strength, gpu)
