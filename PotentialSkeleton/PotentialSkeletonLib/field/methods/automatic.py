"""Method "auto": band by band, the convolution or the direct sum, whichever should be faster.

The convolution costs as much for one point as for all; thin vessels, small components and the few
points deepest inside cost less by the direct sum.
"""

from math import prod

from ..convolution.fft_padding import Sizes
from . import direct_cuda, direct_serial, fft_convolution
from .distance_bands import distance_bands

# How many pairs of point and charge take as long as one padded voxel of the convolution.
PAIRS_A_VOXEL_ON_CPU, PAIRS_A_VOXEL_ON_CUDA = 25, 15


def sum_forces(solid, strength, vectors, report, gpu=None):
    """Write the forces at the wanted voxels of a solid; see `fft_convolution.sum_forces`.

    Returns
    -------
    counts : tuple of int
        For how many voxels the convolution was used, and the direct sum.
    on_host : bool
        Of `fft_convolution.sum_bands`.
    launch : Launch or None
        That of the direct sum on CUDA.
    """
    bands = [(cut, members, int(members.sum())) for cut, members in distance_bands(solid, strength)]
    report(0.0)
    bearable = prod(Sizes(solid.classes.shape, on_card=gpu is not None).padded)
    bearable *= PAIRS_A_VOXEL_ON_CPU if gpu is None else PAIRS_A_VOXEL_ON_CUDA
    charges = solid.charge_count
    direct = [band for band in bands if band[2] * charges <= bearable]
    convolved = [band for band in bands if band[2] * charges > bearable]
    part, launch, on_host = len(direct) / max(len(bands), 1), None, False
    for n, (_, members, _) in enumerate(direct):
        launch = _sum_directly(
            solid, members, strength, vectors,
            lambda share, n=n: report((n + share) / len(bands)), gpu,
        )  # fmt: skip
    if convolved:
        on_host = fft_convolution.sum_bands(
            solid, strength, [band[:2] for band in convolved], vectors,
            lambda share: report(part + (1 - part) * share), gpu,
        )  # fmt: skip
    counts = tuple(sum(count for *_, count in some) for some in (convolved, direct))
    return counts, on_host, launch


def _sum_directly(solid, members, strength, vectors, report, gpu):
    if gpu is None:
        direct_serial.sum_members(solid, members, strength, vectors, report, workers=None)
        return None
    return direct_cuda.sum_members(solid, members, strength, vectors, report, gpu, "cuda-shared")
