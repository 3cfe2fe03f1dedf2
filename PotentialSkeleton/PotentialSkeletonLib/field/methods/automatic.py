"""Method "auto": for each distance band the convolution or the direct sum, by estimated time.

The convolution costs as much for one target as for all; thin vessels, small components and the few
targets deepest inside cost less by the direct sum. On the CPU most vessels cost least by both: by
a `split_convolution`.
"""

from math import prod
from typing import Any

from FuzzyVesselCoreLib.progress import Progress

from ..convolution.fft_padding import Sizes
from ..solid import ChargedSolid
from . import direct_cuda, direct_serial, fft_convolution, split_convolution
from .direct_cuda import Launch
from .distance_bands import distance_bands
from .interface import SumResult

# How many pairs of target and charge take as long as one padded voxel of the convolution.
PAIRS_PER_VOXEL_ON_CPU, PAIRS_PER_VOXEL_ON_CUDA = 25, 15


def sum_forces(
    solid: ChargedSolid, strength: int, vectors: Any, progress: Progress, gpu: Any = None
) -> SumResult:
    """Write the forces at the targets of a solid; see `interface.ForceMethod`."""
    bands = [(cut, members, int(members.sum())) for cut, members in distance_bands(solid, strength)]
    progress.advance(0.0)
    max_pairs = prod(Sizes(solid.classes.shape, on_device=gpu is not None).padded)
    max_pairs *= PAIRS_PER_VOXEL_ON_CPU if gpu is None else PAIRS_PER_VOXEL_ON_CUDA
    charges = solid.charge_count
    direct = [band for band in bands if band[2] * charges <= max_pairs]
    convolved = [band for band in bands if band[2] * charges > max_pairs]
    whole = max_pairs * len(convolved)
    if gpu is None and whole and split_convolution.is_better(solid, strength, whole):
        split_convolution.sum_forces(solid, strength, vectors, progress.part(0.0, 0.95))
        if split_convolution.is_exact(solid, strength, vectors, progress.part(0.95, 1.0)):
            return SumResult(convolved=sum(count for *_, count in bands))
    launch, on_host, total = None, False, max(len(bands), 1)
    for n, (_, members, _) in enumerate(direct):
        part = progress.part(n / total, (n + 1) / total)
        launch = _sum_directly(solid, members, strength, vectors, part, gpu)
    if convolved:
        part = progress.part(len(direct) / total, 1.0)
        some = [band[:2] for band in convolved]
        on_host = fft_convolution.sum_bands(solid, strength, some, vectors, part, gpu)
    counts = [sum(count for *_, count in some) for some in (convolved, direct)]
    return SumResult(counts[0], counts[1], on_host, launch)


def _sum_directly(
    solid: ChargedSolid, members: Any, strength: int, vectors: Any, progress: Progress, gpu: Any
) -> Launch | None:
    if gpu is None:
        direct_serial.sum_members(solid, members, strength, vectors, progress, workers=None)
        return None
    return direct_cuda.sum_members(solid, members, strength, vectors, progress, gpu, "cuda-shared")
