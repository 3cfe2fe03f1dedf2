"""Evidence of vessels on CUDA; its arrays stay on the device."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from copy import copy
from functools import cached_property
from typing import Any

import numpy as np

from FuzzyVesselCoreLib.gpu.device import CudaDevice, DeviceArray
from FuzzyVesselCoreLib.gpu.launches import CUDA_TYPES, check_voxel_count
from FuzzyVesselCoreLib.progress import Progress

from ..denoising import cuda_filters as filters
from ..denoising.weights import gaussian_weights
from ..neighbourhood import at_click
from ..paths.cuda_reached import count_reached, reached_voxels
from ..paths.cuda_widest_paths import cuda_widest_paths
from ..paths.reached import STEPS, Reached
from . import vessel_evidence as cpu
from .cuda_background import lower_own_background, subtract
from .cuda_tissue import CudaTissue, part_of, shift
from .device_volume import DeviceVolume
from .evidence import WIDE_BACKGROUND, Evidence
from .tissue import tissue_near

COMPUTED = "wide_contrast", "difference"  # when a faint click asks for them
BYTES_PER_VOXEL = 13  # on the device at most: smooth, gain and offset, mask; the cells are few


class CudaEvidence(Evidence):
    """Evidence whose arrays stay on a device; what the host reads of them is copied.

    Attributes
    ----------
    contrast, smooth : DeviceVolume
    mask : device array, uint8, or None
    """

    contrast: DeviceVolume  # type: ignore[assignment]
    smooth: DeviceVolume  # type: ignore[assignment]
    mask: DeviceArray | None
    _gpu: CudaDevice
    _tissue: CudaTissue

    def __init__(self, gpu: CudaDevice, **attributes: Any) -> None:
        vars(self).update(attributes, _gpu=gpu)

    @property
    def device_bytes(self) -> int:  # type: ignore[override]
        return sum(volume.array.nbytes for volume in self._volumes()) + self._mask_bytes

    def bytes_beside(self, gpu: CudaDevice) -> int:
        # What a faint click asks for may be of this run, and the rest of an earlier one.
        beside = [volume for volume in self._volumes() if volume.pool is not gpu.pool]
        mask = self._mask_bytes if self.contrast in beside else 0
        return sum(volume.array.nbytes for volume in beside) + mask

    @property
    def _mask_bytes(self) -> int:
        return 0 if self.mask is None else self.mask.nbytes

    def serves(self, gpu: CudaDevice | None) -> bool:
        if gpu is None or gpu.name != self._gpu.name:
            return False
        vars(self)["_gpu"] = self._tissue.gpu = gpu
        for volume in self._volumes():
            volume.gpu = gpu
        return True

    def _volumes(self) -> list[DeviceVolume]:
        computed = [vars(self)[name][0] for name in COMPUTED if name in vars(self)]
        return [self.contrast, self.smooth, *computed]

    def within(self, inside: np.ndarray | None) -> "CudaEvidence":
        other = copy(self)
        mask = None if inside is None else self._gpu.put(inside)
        vars(other).update(inside=inside, mask=mask)
        return other

    def to_host(self) -> Evidence:
        """The same evidence on the host; it holds no device memory."""
        host = Evidence(
            self.box,
            self.contrast.on_host,
            self.noise,
            self.smooth.on_host,
            self.inside,
            self.unit,
            self.polarity,
            self._tissue.on_host,
            self._first_seed,
        )
        for name in COMPUTED:
            if name in vars(self):
                values, noise = vars(self)[name]
                vars(host)[name] = values.on_host, noise
        return host

    @cached_property
    def wide_contrast(self) -> tuple[DeviceVolume, float]:  # type: ignore[override]
        smooth, tissue = self.smooth.array, self._tissue
        self._negate_dark(smooth)  # the tissue's median is an intensity of the volume itself
        try:
            wide = tissue.background_cells(smooth, WIDE_BACKGROUND / self.unit)
            contrast = subtract(smooth, *wide, tissue.median, self._gpu)
        finally:
            self._negate_dark(smooth)
        self._negate_dark(contrast)
        noise = tissue.centre(contrast)
        return DeviceVolume(contrast, self._gpu), noise

    def _negate_dark(self, volume: DeviceArray) -> None:
        """Change the sign, in place, where vessels are dark."""
        if self.polarity < 0:
            shift(volume, 0, -1, self._gpu)

    @cached_property
    def difference(self) -> tuple[DeviceVolume, float]:  # type: ignore[override]
        difference = self.smooth.array.copy()
        noise = self._tissue.centre(difference)
        return DeviceVolume(difference, self._gpu), noise

    def widest_paths(
        self,
        starts: list[tuple[int, ...]],
        unit: float,
        floor: int,
        brighter: float | None = None,
        gpu: CudaDevice | None = None,
    ) -> Reached:
        contrast, gpu = self.contrast.array, self._gpu
        rivals = None if brighter is None else (self.smooth.array, brighter)
        levels = cuda_widest_paths(contrast, self.mask, starts, unit, floor, gpu, rivals)
        return reached_voxels(levels, contrast, gpu)

    def component(
        self, values: Any, start: tuple[int, ...], threshold: float, limit: int
    ) -> tuple[np.ndarray, np.ndarray] | None:
        if not isinstance(values, DeviceVolume):
            return super().component(values, start, threshold, limit)
        # Voxels of at least the unit have at least the level STEPS.
        unit, contrast = float(np.float32(threshold)), values.array
        levels = cuda_widest_paths(contrast, self.mask, [start], unit, STEPS, self._gpu)
        count = count_reached(levels, contrast, self._gpu)
        if count > limit:
            return None
        found = reached_voxels(levels, contrast, self._gpu, count)
        return found.voxels, found.contrast


def cuda_vessel_evidence(
    volume: np.ndarray,
    spacing: Sequence[float],
    first_seed: Sequence[int],
    mask: np.ndarray | None,
    progress: Progress,
    gpu: CudaDevice,
) -> CudaEvidence:
    """Evidence of vessels in a volume; parameters as in `vessel_evidence.vessel_evidence`.

    Returns
    -------
    CudaEvidence
        Its values are those of the CPU, bit for bit.
    """
    unit = np.asarray(spacing, float) / min(spacing)
    box = cpu.box_of(mask, volume.shape, unit)
    inside = None if mask is None else np.ascontiguousarray(mask[box])
    seed = tuple(int(c) - s.start for c, s in zip(first_seed, box))
    part = cpu.clipped(volume[box])
    check_voxel_count(part.size)
    if part.dtype.name not in CUDA_TYPES:
        part = part.astype(np.float32)
    with ThreadPoolExecutor(1) as pool:  # the volume is transferred meanwhile
        found = pool.submit(tissue_near, part, inside, seed, unit)
        raw = gpu.put(part)
        device_mask = None if inside is None else gpu.put(inside)
        progress.advance(0.2)
        host_tissue = found.result()
    progress.advance(0.4)
    tissue = CudaTissue(host_tissue, device_mask, gpu)
    cells = tissue.background_cells(raw, cpu.BACKGROUND / unit)
    smooth = _smoothed(raw, tissue, unit, gpu)
    raw = None
    shift(smooth, tissue.median, 1, gpu)
    _denoise(smooth, tissue, unit, progress, gpu)
    contrast = subtract(smooth, *cells, 0.0, gpu)
    shift(smooth, -tissue.median, 1, gpu)
    noise, polarity = tissue.centre(contrast), 1
    if part_of(contrast, [slice(c, c + 1) for c in seed], gpu)[0, 0, 0] < cpu.DARK * noise:
        polarity = -1
        shift(contrast, 0, -1, gpu)
        shift(smooth, 0, -1, gpu)
    if not tissue.whole:
        readable: Any = DeviceVolume(contrast, gpu)
        at_first = at_click(readable, seed)
        lower_own_background(contrast, *cells, polarity, at_first, gpu)
    progress.advance(1.0)
    return CudaEvidence(
        gpu,
        box=box,
        contrast=DeviceVolume(contrast, gpu),
        noise=noise,
        smooth=DeviceVolume(smooth, gpu),
        inside=inside,
        unit=unit,
        polarity=polarity,
        mask=device_mask,
        _tissue=tissue,
        _first_seed=seed,
    )


def _smoothed(raw: Any, tissue: CudaTissue, unit: np.ndarray, gpu: CudaDevice) -> Any:
    """The volume on the device, smoothed; what is far below the tissue is raised to it before."""
    lowest = tissue.median - cpu.LOWEST * tissue.deviation if tissue.deviation > 0 else -np.inf
    weights = [gaussian_weights(cpu.SMOOTHING / u) for u in unit]
    return filters.separable(raw, weights, gpu, lowest)


def _denoise(
    smooth: Any, tissue: CudaTissue, unit: np.ndarray, progress: Progress, gpu: CudaDevice
) -> None:
    """The passes of the guided filter, in place."""
    radii = [round(cpu.GUIDE / u) for u in unit]
    for n in range(cpu.GUIDED_PASSES):
        progress.advance(0.5 + 0.2 * n)
        filters.self_guided(smooth, radii, tissue.noise(smooth), gpu)
