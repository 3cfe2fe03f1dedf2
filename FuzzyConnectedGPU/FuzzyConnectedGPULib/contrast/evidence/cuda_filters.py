"""The filters of `contrast.filters` on the card: convolution and the self-guided filter."""

import numpy as np

from ..launches import each, integers, kernel

TILE = 32, 8, 32  # voxels along K, J, I of a block, as in guided.cu
TILE_THREADS = 256
MOST_RADIUS = 2  # of a box, as in guided.cu


def separable(volume, weights, gpu, lowest=-np.inf):
    """Convolve along the three axes; the border voxels are repeated outside of the volume.

    Parameters
    ----------
    volume : array on the card, shape (.., K, J, I)
        With more than three axes, several volumes.
    weights : sequence of 3 ndarray, float32, odd lengths
        For K, J and I; one of them at least is longer than 1.
    gpu : CudaDevice
    lowest : float
        Values below count as this one.

    Returns
    -------
    array, float32, on the card
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
            each(gpu, "evidence/convolution", "convolve_voxels", volume.size, first, voxels=volume)
        else:
            # The macro's value does not matter; the float kernels are at hand with any.
            each(
                gpu,
                "evidence/convolution",
                "convolve_floats",
                volume.size,
                (volume, *place),
                voxels=volume,
            )
        volume, raw = result, False
    return volume


def self_guided(smooth, radii, noise, centre, gpu):
    """The guided filter of a volume by itself, in place; see `contrast.filters.self_guided`.

    Parameters
    ----------
    smooth : array on the card, float32
    radii : sequence of 3 int
        Of the boxes, up to `MOST_RADIUS`.
    noise : float
    centre : float
        A typical value: squares are of differences to it, which float32 resolves better.
    gpu : CudaDevice
    """
    gain, offset = gpu.xp.empty_like(smooth), gpu.xp.empty_like(smooth)
    place, centre = (*integers(smooth.shape), *integers(radii)), np.float32(centre)
    grid = tuple(-(-n // side) for n, side in zip(smooth.shape, TILE))[::-1]

    def run(name, args):
        kernel(gpu, "evidence/guided", name)(grid, (TILE_THREADS,), args)

    variance = np.float32(noise * noise)
    run("guided_coefficients", (smooth, *place, centre, variance, gain, offset))
    run("guided_values", (gain, offset, *place, centre, smooth))
