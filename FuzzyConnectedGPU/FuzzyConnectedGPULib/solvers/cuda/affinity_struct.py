"""The affinity as kernels take it: the struct `Affinity` of affinity.cuh."""

from pathlib import Path

from FuzzyVesselCoreLib.gpu.device import CudaDevice
from FuzzyVesselCoreLib.gpu.kernel_structs import KernelStruct

from ...affinity import GaussianAffinity

_FIELDS = (  # in the order of `GaussianAffinity.coefficients`
    "mean",
    "sum_factor",
    "difference_factor",
    "sum_scale",
    "difference_scale",
    "weighted",
    "bright",
    "dark",
)


def affinity_struct(
    gpu: CudaDevice, kernels: Path, affinity: GaussianAffinity, cut_level: int = 0
) -> KernelStruct:
    """An affinity and the cut for the kernels of a file that includes affinity.cuh."""
    values = dict(zip(_FIELDS, affinity.coefficients().tolist()))
    return gpu.struct(kernels, "Affinity", **values, cut_level=cut_level)
