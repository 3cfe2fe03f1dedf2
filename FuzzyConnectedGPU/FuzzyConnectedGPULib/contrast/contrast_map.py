"""The contrast map of a volume: denoised, compared with the local background, cached.

The steps are the same on NumPy and CuPy (`filters`); it stays on its device from click to click,
where boxes and voxels of its volumes are read as of NumPy arrays.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from FuzzyVesselCoreLib.gpu.device import CudaDevice, keeps_device_memory
from FuzzyVesselCoreLib.gpu.kernels import check_voxel_count
from FuzzyVesselCoreLib.progress import Progress
from FuzzyVesselCoreLib.voxels.masks import bounding_box, full_box, padded_box, same_values

from .background import DARK, Tissue, is_own_background, tissue_near
from .filters import (
    Array,
    Voxel,
    at_click,
    gaussian_weights,
    module_of,
    pointwise,
    self_guided,
    separable,
)

# Lengths are multiples of the smallest spacing, as a vessel's image is at least as wide as a voxel.
# How the constants were chosen: Documentation/decisions/0007-contrast-model.md.
SMOOTHING = 0.6
GUIDE, GUIDED_PASSES = 1.5, 2
MARGIN = 4.0  # around a mask
LARGEST = 1e15  # intensities beyond it (fill values) are clipped: float32 must hold their squares
KINDS = "int16", "uint16", "uint8", "float32"  # of voxels; others are converted to float32


class DeviceVolume:
    """A volume on the device, whose boxes and voxels are read as those of a numpy array.

    A numpy function gets a `copy` of all of it, which is kept. `pool` is the memory of the array,
    which some versions of CuPy free as soon as nothing refers to it.
    """

    ndim = 3

    def __init__(self, array: Array, gpu: CudaDevice, copy: np.ndarray | None = None) -> None:
        self.array, self.pool, self._gpu, self._copy = array, gpu.pool, gpu, copy
        self.shape, self.size, self.dtype = tuple(array.shape), int(array.size), array.dtype

    @property
    def on_host(self) -> np.ndarray:
        """A copy of all voxels."""
        if self._copy is None:
            self._copy = self._gpu.get(self.array)
        return self._copy

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return np.array(self.on_host, dtype, copy=copy)

    def __getitem__(self, place: Any) -> Any:
        """The voxels of a box (slices), or one voxel (integers)."""
        if self._copy is not None:
            return self._copy[place]
        if isinstance(place[0], slice):
            return self._gpu.get(self.array[place])
        return self._gpu.get(self.array[tuple(slice(c, c + 1) for c in place)])[0, 0, 0]


def array_of(volume: Any) -> Array:
    """The array that the steps on both devices take."""
    return volume.array if isinstance(volume, DeviceVolume) else volume


@dataclass
class ContrastMap:
    """What the clicks are judged by, on the `box` of the volume that the mask needs.

    Arrays are NumPy's or a `DeviceVolume`: `contrast` (float32) is denoised intensity minus local
    background, above 0 in vessels, bright or dark; `noise` its standard deviation where there is no
    vessel; `smooth` the denoised intensity, with the opposite sign for dark vessels (`polarity`
    -1); `mask` (uint8 or None) is 1 where vessels may be. `spacing`, as all lengths, is in
    multiples of the smallest. It was computed around `first_seed`; `gpu` is the device where the
    arrays are.
    """

    box: tuple[slice, ...]
    contrast: Any
    noise: float
    smooth: Any
    mask: Any
    spacing: np.ndarray
    polarity: int
    _tissue: Tissue = field(repr=False)
    first_seed: Voxel = ()
    gpu: Any = field(default=None, repr=False)
    _first_paths: tuple[Any, Any] = field(default=(None, None), init=False, repr=False)

    @property
    def offset(self) -> np.ndarray:
        """K, J, I of the box's first voxel in the volume."""
        return np.array([s.start for s in self.box])

    # --- where it is, for the cache below

    @property
    def device_bytes(self) -> int:
        """Bytes on a device."""
        volumes = self.contrast, self.smooth, self.mask, *vars(self).get("difference", ())
        return sum(each.array.nbytes for each in volumes if isinstance(each, DeviceVolume))

    def holds_for(self, first_seed: Any) -> bool:
        """Whether another first seed would give the same map."""
        seed = tuple(int(c) for c in np.asarray(first_seed) - self.offset)
        if seed == self.first_seed:
            return True
        dark = self.polarity * self.contrast[seed] < DARK * self.noise
        return self._tissue.is_that_of_all_clicks and dark == (self.polarity < 0)

    def to_host(self) -> "ContrastMap":
        """The same map in host memory."""
        if self.gpu is None:
            return self
        return replace(
            self, contrast=self.contrast.on_host, smooth=self.smooth.on_host, gpu=None,
            mask=self.mask and self.mask.on_host,
        )  # fmt: skip

    # --- what rules of the clicks ask for

    def masked(self, labels: np.ndarray, box: tuple[slice, ...]) -> np.ndarray:
        """Boolean labels of a box with the voxels outside the mask set to False."""
        return labels if self.mask is None else labels & (self.mask[box] > 0)

    @cached_property
    def difference(self) -> tuple[Any, float]:
        """Difference to the median of the tissue, and its noise: no local background at all."""
        values, noise = self._tissue.centred(array_of(self.smooth).copy())
        return values if self.gpu is None else DeviceVolume(values, self.gpu), noise

    def first_paths(self, inputs: Any, search: Callable[[], Any]) -> Any:
        """The paths of the first click alone by ``search()``, cached while its inputs are these."""
        if self._first_paths[0] != inputs:
            self._first_paths = inputs, search()
        return self._first_paths[1]

    def in_air(self, click: Voxel) -> bool:
        """Whether a click lies in the air of a scan of several tissues."""
        return self._tissue.is_air(self.polarity * self.smooth[click])

    @property
    def may_lack_wide_vessels(self) -> bool:
        """Whether vessels so wide that they are their own background may have no contrast."""
        return self._tissue.one_of_several

    def is_own_background(self, click: Voxel, contrast: float) -> bool:
        """Whether a click with that contrast lies in such a vessel."""
        own = self.may_lack_wide_vessels
        return own and is_own_background(contrast, at_click(self.difference[0], click))

    def competing_above(self, clicks: list[Voxel]) -> float | None:
        """The intensity (smooth) above which voxels compete with those clicks, as bone; or None."""
        brightest = max(at_click(self.smooth, click) for click in clicks)
        return self._tissue.competing_above(brightest, self.polarity)


def contrast_map(
    volume: np.ndarray,
    spacing: Sequence[float],
    first_seed: Sequence[int],
    mask: np.ndarray | None = None,
    progress: Progress | None = None,
    gpu: CudaDevice | None = None,
) -> ContrastMap:
    """The contrast map of a checked volume (K, J, I) around a first seed (K, J, I).

    The seed decides which tissue is looked at, and between bright and dark vessels. Noise is taken
    out by a narrow Gaussian and self-guided filters, whose strength follows the noise; the local
    background is a wide Gaussian over voxels near the median (`background`). The mask (uint8) is 1
    where vessels may be. On a `gpu`, in its ``with`` block, the map stays there, with the CPU's
    bits.
    """
    progress = Progress.of(progress)
    relative = np.asarray(spacing, float) / min(spacing)
    box = _box_of(mask, volume.shape, relative)
    own_mask: Any = None if mask is None else np.ascontiguousarray(mask[box])
    seed = tuple(int(c) - s.start for c, s in zip(first_seed, box))
    raw: Any = _readable(volume[box])
    tissue = tissue_near(raw, own_mask, seed, relative)
    if gpu is not None:
        check_voxel_count(raw.size)
        raw = gpu.put(raw)
        if own_mask is not None:
            own_mask = DeviceVolume(gpu.put(own_mask), gpu, own_mask)
    progress.advance(0.05)
    background = tissue.background(raw, array_of(own_mask), relative)
    smooth = _denoised(raw, tissue, relative, progress.part(0.05, 0.95))
    del raw
    contrast, noise, polarity = tissue.contrast(smooth, background, seed)
    minus_median = np.float32(-tissue.median)
    pointwise(lambda values: values - minus_median, smooth, smooth)
    if polarity < 0:
        pointwise(lambda values: -values, smooth, smooth)
    volumes: tuple[Any, ...] = contrast, smooth
    if gpu is not None:
        volumes = tuple(DeviceVolume(each, gpu) for each in volumes)
    progress.advance(1.0)
    return ContrastMap(
        box=box, contrast=volumes[0], noise=noise, smooth=volumes[1], mask=own_mask,
        spacing=relative, polarity=polarity, _tissue=tissue, first_seed=seed, gpu=gpu,
    )  # fmt: skip


def _denoised(raw: Array, tissue: Tissue, spacing: np.ndarray, progress: Progress) -> Array:
    """The smoothed intensities as difference to the tissue's median.

    Around 0, as float32 does not resolve the noise in the squares of large intensities.
    """
    xp, median, lowest = module_of(raw), np.float32(tissue.median), np.float32(tissue.lowest)
    weights = [gaussian_weights(SMOOTHING / u) for u in spacing]
    smooth = separable(
        raw,
        weights,
        progress.part(0.0, 0.2),
        lambda values: xp.maximum(values.astype(np.float32, copy=False), lowest),
    )
    pointwise(lambda values: values - median, smooth, smooth)
    radii = [round(GUIDE / u) for u in spacing]
    for n in range(GUIDED_PASSES):
        part = progress.part(0.2 + 0.4 * n, 0.6 + 0.4 * n)
        self_guided(smooth, radii, tissue.noise(smooth), part)
    return smooth


def _readable(volume: np.ndarray) -> np.ndarray:
    """The volume in a type that the filters take, without values beyond `LARGEST`."""
    if volume.dtype.kind == "f" and max(volume.max(), -volume.min()) > LARGEST:
        volume = np.clip(volume, -LARGEST, LARGEST)
    return volume if volume.dtype.name in KINDS else volume.astype(np.float32)


def _box_of(
    mask: np.ndarray | None, shape: Sequence[int], spacing: np.ndarray
) -> tuple[slice, ...]:
    """The part of the volume that holds the mask, with the margin that its border needs."""
    if mask is None:
        return full_box(shape)
    margin = [int(np.ceil(MARGIN / step)) for step in spacing]
    return padded_box(bounding_box(mask) or full_box(shape), margin, shape)


# ---- The last contrast map, cached from click to click, on the device where it was found


class ContrastMapCache:
    """The contrast map of the last run, for runs that differ in their clicks alone, one at a time.

    It serves while volume, mask, spacing and device are the same. They are compared by value;
    volume and mask must not be changed in place until `forget`. On a device it caches 8 bytes per
    voxel (9 with a mask, 4 more once a faint click needed the difference), at most as much as it
    leaves free at first; `forget` frees them, and so does a run there that has too little. `reused`
    says whether the last run found its map here.
    """

    def __init__(self) -> None:
        self.forget()
        self.reused = False

    def forget(self) -> None:
        """Free the memory of map and inputs."""
        self._map: ContrastMap | None = None
        self._inputs: tuple = ()

    def free_device_memory(self) -> None:
        """Drop a map that is on the device; see `gpu.device.keeps_device_memory`."""
        if self._map is not None and self._map.gpu is not None:
            self.forget()

    def contrast_map(
        self, volume: np.ndarray, spacing: Sequence[float], first_seed: Sequence[int],
        mask: np.ndarray | None, progress: Progress, gpu: CudaDevice | None,
    ) -> ContrastMap:  # fmt: skip
        """The cached map, or a new one; as the function `contrast_map`."""
        mapped, inputs = self._map, (volume, mask, np.asarray(spacing))
        self.reused = (
            mapped is not None
            and (gpu and gpu.name) == (mapped.gpu and mapped.gpu.name)
            and all(_same(*each) for each in zip(self._inputs, inputs, strict=True))
            and mapped.holds_for(first_seed)
        )
        if mapped is not None and self.reused:
            mapped.gpu = gpu  # each run has its own object of the same device
            return mapped
        del mapped
        self.forget()  # its memory is free before the next is computed
        mapped = contrast_map(volume, spacing, first_seed, mask, progress, gpu)
        self._map, self._inputs = mapped, inputs
        if gpu is not None and mapped.device_bytes > gpu.free_memory():
            self._map = mapped.to_host()
        elif gpu is not None:
            keeps_device_memory(self)
        return mapped


CachedConnectedness = ContrastMapCache  # another public name


def _same(one: np.ndarray | None, other: np.ndarray | None) -> bool:
    return one is other or (one is not None and other is not None and same_values(one, other))
