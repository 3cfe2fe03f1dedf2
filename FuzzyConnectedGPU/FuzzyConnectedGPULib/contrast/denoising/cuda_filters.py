"""Denoising filters on CUDA, with the same bits as `filters`."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from FuzzyVesselCoreLib.gpu.device import CudaDevice, DeviceArray
from FuzzyVesselCoreLib.gpu.launches import launch_per_item

CONVOLUTION = Path(__file__).with_name("convolution.cu")
GUIDED = Path(__file__).with_name("guided.cu")

TILE = 32, 8, 32  # voxels along K, J, I of a block, as in guided.cu
TILE_THREADS = 256
MAX_RADIUS = 2  # of a box, as in guided.cu


def separable(
    volume: DeviceArray, weights: Sequence[np.ndarray], gpu: CudaDevice, lowest: float = -np.inf
) -> DeviceArray:
    """Convolve along the three axes; the border voxels are replicated outside the volume.

    Parameters
    ----------
    volume : device array, shape (.., K, J, I)
        With more than three axes, several volumes.
    weights : sequence of 3 ndarray, float32, odd lengths
        For K, J and I; one of them at least is longer than 1.
    gpu : CudaDevice
    lowest : float
        Values are clipped to it from below.

    Returns
    -------
    device array, float32
    """
    shape, raw = volume.shape, True
    for axis, taps in enumerate(weights, start=volume.ndim - 3):
        if len(taps) == 1:
            continue
        result = gpu.xp.empty(shape, np.float32)
        inner = int(np.prod(shape[axis + 1 :]))
        place = *(np.uint32(n) for n in (volume.size, shape[axis], inner)), gpu.put(taps)
        place = *place, np.int32(len(taps) // 2), result
        if raw:
            first = volume, np.float32(lowest), *place
            launch_per_item(gpu, CONVOLUTION, "convolve_voxels", volume.size, first, volume)
        else:
            # The macro does not matter: the float kernel is compiled with any.
            args = (volume, *place)
            launch_per_item(gpu, CONVOLUTION, "convolve_floats", volume.size, args, volume)
        volume, raw = result, False
    return volume


def self_guided(smooth: DeviceArray, radii: Sequence[int], noise: float, gpu: CudaDevice) -> None:
    """Guided filter with the volume as its own guide, in place; see `filters.self_guided`.

    Parameters
    ----------
    smooth : device array, float32
    radii : sequence of 3 int
        Of the boxes, up to `MAX_RADIUS`.
    noise : float
    gpu : CudaDevice
    """
    gain, offset = gpu.xp.empty_like(smooth), gpu.xp.empty_like(smooth)
    sizes = dict(zip(("nk", "nj", "ni", "rk", "rj", "ri"), (*smooth.shape, *radii)))
    place = gpu.struct(GUIDED, "Volume", **sizes)
    grid = tuple(-(-n // side) for n, side in zip(smooth.shape, TILE))[::-1]

    def run(name: str, args: tuple) -> None:
        gpu.kernel(GUIDED, name)(grid, (TILE_THREADS,), args)

    variance = np.float32(noise * noise)
    run("guided_coefficients", (smooth, place, variance, gain, offset))
    run("guided_values", (gain, offset, place, smooth))
