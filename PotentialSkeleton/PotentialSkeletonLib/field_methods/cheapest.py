"""Method "auto": band by band, the convolution or the direct sum, whichever should be faster.

The convolution costs as much for one point as for all; thin vessels, small components and the few
points deepest inside cost less by the direct sum.
"""

from importlib.util import find_spec

import numpy as np

from . import direct_cuda, fft_convolution
from .distance_bands import distance_bands

# How many pairs of point and charge take as long as one padded voxel of the convolution.
PAIRS_A_VOXEL_ON_CPU, PAIRS_A_VOXEL_ON_CUDA = 40, 15


def sum_forces(solid, strength, report, gpu=None):
    """Forces at the points of a solid; see `fft_convolution.sum_forces`.

    Returns
    -------
    forces : ndarray, float64, shape (n, 3)
    convolved : int
        For how many of the points the convolution was used.
    launch : Launch or None
        That of the direct sum on CUDA.
    """
    bands = list(distance_bands(solid, strength))
    report(0.0)
    bearable = np.prod(fft_convolution.padded_shape(solid.classes.shape), dtype=np.float64)
    bearable *= PAIRS_A_VOXEL_ON_CPU if gpu is None else PAIRS_A_VOXEL_ON_CUDA
    if gpu is None and not find_spec("numba"):
        bearable = 0  # the direct sum on the CPU is compiled by numba
    direct = [band for band in bands if band[1].size * len(solid.charges) <= bearable]
    convolved = [band for band in bands if band[1].size * len(solid.charges) > bearable]
    forces = np.empty((solid.points.size, 3))
    half = len(direct) / max(len(bands), 1)
    launch = None
    if direct:
        members = np.concatenate([members for _, members in direct])
        forces[members], launch = _sum_directly(
            solid, members, strength, lambda fraction: report(half * fraction), gpu
        )
    if convolved:
        fft_convolution.sum_bands(
            solid, strength, convolved, forces,
            lambda fraction: report(half + (1 - half) * fraction), gpu,
        )  # fmt: skip
    return forces, sum(members.size for _, members in convolved), launch


def _sum_directly(solid, members, strength, report, gpu):
    if gpu is None:
        from . import direct_serial

        positions = solid.positions(members)
        return direct_serial.sum_at(positions, solid.charges, strength, report), None
    return direct_cuda.sum_at(
        solid.positions(members), solid.charges, strength, report, gpu, "cuda-shared"
    )
