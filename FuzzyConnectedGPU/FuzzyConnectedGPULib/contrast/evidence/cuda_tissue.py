"""Medians, on CUDA, of the samples by which a tissue was found on the CPU."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from FuzzyVesselCoreLib.gpu.device import CudaDevice, DeviceArray
from FuzzyVesselCoreLib.gpu.launches import launch_per_item

from ...affinity import MAD_TO_SIGMA
from .cuda_background import background_cells
from .tissue import Tissue

KERNELS = Path(__file__).with_name("samples.cu")

IN_TISSUE, IN_MASK = 2, 1  # flags of a sample; 0: outside the mask


class CudaTissue:
    """The tissue around the vessels, for volumes on the device; see `tissue.Tissue`.

    Parameters
    ----------
    tissue : Tissue
        Found on the CPU.
    mask : device array, uint8, or None
    gpu : CudaDevice

    Attributes
    ----------
    median, deviation : float
        Of the raw intensities.
    whole, alone : bool
    on_host : Tissue
    gpu : CudaDevice
    """

    def __init__(self, tissue: Tissue, mask: DeviceArray | None, gpu: CudaDevice) -> None:
        self.median, self.deviation = tissue.median, tissue.deviation
        self.whole, self.alone = tissue.whole, tissue.alone
        self.on_host, self._mask, self.gpu = tissue, mask, gpu
        self._part, flags = tissue.samples()
        self._flags = gpu.put(flags)
        self._counted = {least: int(np.count_nonzero(flags >= least)) for least in (1, 2)}

    def noise(self, volume: DeviceArray) -> float:
        """Standard deviation of the tissue's voxels."""
        median = self._median(volume, IN_TISSUE)
        return max(MAD_TO_SIGMA * self._median(volume, IN_TISSUE, median), self.on_host.min_noise)

    def centre(self, volume: DeviceArray) -> float:
        """Subtract the tissue's median in place; returns the noise."""
        median = self._median(volume, IN_MASK if self.whole else IN_TISSUE)
        shift(volume, median, 1, self.gpu)
        return self.noise(volume)

    def background_cells(
        self, volume: DeviceArray, sigmas: np.ndarray
    ) -> tuple[DeviceArray, list[int]]:
        """See `cuda_background.background_cells`."""
        limit = self.on_host.background_limit
        return background_cells(volume, self._mask, self.median, limit, sigmas, self.gpu)

    def _median(self, volume: DeviceArray, least: int, centre: float | None = None) -> float:
        """Median of the samples with at least a flag, or of their distances from a centre."""
        count = self._counted[least]
        if not count:
            return 0.0
        keys = _keys(volume, self._part, self.gpu, self._flags, least, centre)
        keys.sort()
        middle = self.gpu.get(keys[(count - 1) // 2 : count // 2 + 1])
        return float(np.mean(_numbers(middle)))


def part_of(volume: DeviceArray, part: Sequence[slice], gpu: CudaDevice) -> np.ndarray:
    """A small part of a volume on the device, as a numpy array."""
    shape = [s.stop - s.start for s in part]
    return _numbers(gpu.get(_keys(volume, part, gpu))).reshape(shape)


def _keys(
    volume: DeviceArray,
    part: Sequence[slice],
    gpu: CudaDevice,
    flags: DeviceArray | None = None,
    least: int = 0,
    centre: float | None = None,
) -> DeviceArray:
    """The values of a part as integers of the same order; of those with at least a flag."""
    counts = [len(range(s.start, s.stop, s.step or 1)) for s in part]
    keys = gpu.xp.empty(int(np.prod(counts)), np.int32)
    _, height, width = volume.shape
    corner = np.ravel_multi_index([s.start for s in part], volume.shape)
    steps = [s.step or 1 for s in part]
    strides = steps[0] * height * width, steps[1] * width, steps[2]
    place = dict(zip(("along_k", "along_j", "along_i", "nk", "nj", "ni"), (*strides, *counts)))
    rule = dict(flags=flags, least=least, distances=centre is not None, centre=centre or 0)
    args = (
        volume,
        gpu.struct(KERNELS, "Part", corner=corner, **place),
        gpu.struct(KERNELS, "Selection", **rule),
        keys,
    )
    launch_per_item(gpu, KERNELS, "take_samples", keys.size, args)
    return keys


def _numbers(keys: np.ndarray) -> np.ndarray:
    """The float32 numbers of keys on the host."""
    return (keys ^ (keys >> 31 & 0x7FFFFFFF)).view(np.float32)


def shift(volume: DeviceArray, amount: float, sign: int, gpu: CudaDevice) -> None:
    """Subtract an amount and multiply by 1 or -1, in place."""
    args = volume, np.uint32(volume.size), np.float32(amount), np.float32(sign)
    launch_per_item(gpu, KERNELS, "shift_values", volume.size, args)
