"""The contrast map of a volume: denoised, compared with the local background, cached.

It is computed by the same steps on NumPy and CuPy, with the same bits. On a device its arrays stay
there from click to click; whoever reads them sees arrays of NumPy.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from FuzzyVesselCoreLib.errors import Cancelled
from FuzzyVesselCoreLib.gpu.device import CudaDevice, keeps_device_memory
from FuzzyVesselCoreLib.gpu.kernels import check_voxel_count
from FuzzyVesselCoreLib.progress import Progress
from FuzzyVesselCoreLib.voxels.masks import bounding_box, full_box, padded_box, same_values

from .background import DARK, Tissue, tissue_near
from .filters import Array, at_click, gaussian_weights, module_of, pointwise, self_guided, separable

if TYPE_CHECKING:
    from .widest_paths import Reached

# Lengths are multiples of the smallest spacing, as a vessel's image is at least as wide as a voxel.
# How the constants were chosen: Documentation/decisions/0007-contrast-model.md.
SMOOTHING = 0.6
GUIDE, GUIDED_PASSES = 1.5, 2
MARGIN = 4.0  # around a mask
LARGEST = 1e15  # intensities beyond it (fill values) are clipped: float32 must hold their squares
# Voxels brighter than so many times the brightest click's difference to the tissue are no vessel
# (bone, metal); that difference counts as at least so many of the tissue's deviations.
FAR_BRIGHTER, FAR_FROM_TISSUE = 2.0, 6.0
KINDS = "int16", "uint16", "uint8", "float32"  # of voxels; others are converted to float32


class DeviceVolume:
    """A volume on the device, whose boxes and voxels are read as those of a numpy array.

    A numpy function gets a copy of all of it, which is kept, as one that is there already. `pool`
    is the memory of the device array, which some versions of CuPy free as soon as nothing refers to
    it.
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


@dataclass
class ContrastMap:
    """What the clicks are judged by, on the `box` of the volume that the mask needs.

    Arrays are NumPy's or a `DeviceVolume`: `contrast` (float32) is denoised intensity minus local
    background, above 0 in vessels, bright or dark; `noise` its standard deviation where there is no
    vessel; `smooth` the denoised intensity, with the opposite sign for dark vessels (`polarity`
    -1); `mask` (uint8 or None) is 1 where vessels may be. `spacing`, as all lengths, is in
    multiples of the smallest. It was computed from `tissue` and `first_seed`; `gpu` is the device
    where the arrays are. Two results are computed when clicks ask for them, and cached: the
    `difference`, and the paths of the first click alone.
    """

    box: tuple[slice, ...]
    contrast: Any
    noise: float
    smooth: Any
    mask: Any
    spacing: np.ndarray
    polarity: int
    tissue: Tissue = field(repr=False)
    first_seed: tuple[int, ...] = ()
    gpu: Any = field(default=None, repr=False)
    _difference: tuple[Any, float] | None = field(default=None, repr=False)
    _first_paths: tuple[tuple, Any] = field(default=((), None), repr=False)

    @property
    def origin(self) -> np.ndarray:
        """K, J, I of the box's first voxel in the volume."""
        return np.array([s.start for s in self.box])

    @property
    def several_tissues(self) -> bool:
        """Whether the volume holds several tissues, as a CT of the body does without a mask."""
        return not self.tissue.whole

    # --- where it is

    @property
    def device_bytes(self) -> int:
        """Bytes on a device."""
        volumes = self.contrast, self.smooth, self.mask, *(self._difference or ())
        return sum(each.array.nbytes for each in volumes if isinstance(each, DeviceVolume))

    def holds_for(self, first_seed: Any) -> bool:
        """Whether another first seed would give the same map."""
        seed = tuple(int(c) for c in np.asarray(first_seed) - self.origin)
        if seed == self.first_seed:
            return True
        dark = self.polarity * self.contrast[seed] < DARK * self.noise
        return self.tissue.alone and dark == (self.polarity < 0)

    def to_host(self) -> "ContrastMap":
        """The same map in host memory."""
        if self.gpu is None:
            return self
        values, noise = self._difference or (None, 0.0)
        return replace(
            self, contrast=self.contrast.on_host, smooth=self.smooth.on_host, gpu=None,
            mask=self.mask and self.mask.on_host, _difference=values and (values.on_host, noise),
        )  # fmt: skip

    # --- what rules of the clicks ask for

    def masked(self, labels: np.ndarray, box: tuple[slice, ...]) -> np.ndarray:
        """Boolean labels of a box with the voxels outside the mask set to False."""
        return labels if self.mask is None else labels & (self.mask[box] > 0)

    @property
    def difference(self) -> tuple[Any, float]:
        """Difference to the median of the tissue, and its noise: no local background at all."""
        if self._difference is None:
            values, noise = self.tissue.centred(_array_of(self.smooth).copy())
            values = values if self.gpu is None else DeviceVolume(values, self.gpu)
            self._difference = values, noise
        return self._difference

    def competing_above(self, clicks: list[tuple[int, ...]]) -> float | None:
        """The intensity (smooth) above which voxels are competing structures, as bone; or None.

        Only where the volume holds several tissues: elsewhere brighter voxels are vessels.
        """
        if not self.several_tissues:
            return None
        brightest = max(at_click(self.smooth, click) for click in clicks)
        tissue = self.polarity * self.tissue.median
        least = FAR_FROM_TISSUE * self.tissue.deviation
        return tissue + FAR_BRIGHTER * max(brightest - tissue, least)

    def component(
        self, values: Any, start: tuple[int, ...], least: float, limit: int
    ) -> "Reached | None":
        """The 26-connected component of a voxel among the values of at least `least`, above 0.

        The values are contrast or difference. None where it has more voxels than the limit.
        """
        return self._trace(values, [start], float(np.float32(least)), 1.0, None, limit)

    def widest_paths(
        self, clicks: list[tuple[int, ...]], starts: list[tuple[int, ...]], path_contrast: float
    ) -> Any:
        """The widest paths of clicks from their starts through the contrast.

        Competing structures, far brighter than the clicks, spread as well. Paths weaker than half
        the path contrast are not followed. Those of one start are cached, as runs with further
        clicks need them again.
        """
        above = self.competing_above(clicks)
        inputs = tuple(starts), path_contrast, above
        if self._first_paths[0] == inputs:
            return self._first_paths[1]
        reached = self._trace(self.contrast, starts, path_contrast, 0.5, above)
        if len(starts) == 1:
            self._first_paths = inputs, reached
        return reached

    def _trace(
        self, values: Any, starts: list[tuple[int, ...]], path_contrast: float, weakest: float,
        above: float | None, limit: int | None = None,
    ) -> Any:  # fmt: skip
        """The paths through values of at least this share of the path contrast."""
        from .widest_paths import PATH_LEVEL, widest_paths, widest_paths_on_device  # numba

        floor = int(weakest * PATH_LEVEL)
        competing = None if above is None else (_array_of(self.smooth), above)
        mask = _array_of(self.mask)
        if self.gpu is None:
            return widest_paths(values, mask, starts, path_contrast, floor, competing, limit)
        return widest_paths_on_device(
            values.array, mask, starts, path_contrast, floor, self.gpu, competing, limit
        )


def _array_of(volume: Any) -> Array:
    return volume.array if isinstance(volume, DeviceVolume) else volume


def contrast_map(
    volume: np.ndarray,
    spacing: Sequence[float],
    first_seed: Sequence[int],
    mask: np.ndarray | None = None,
    progress: Progress | None = None,
    gpu: CudaDevice | None = None,
) -> ContrastMap:
    """The contrast map of a checked volume (K, J, I) around a first seed (K, J, I).

    The tissue around the seed is the background, and the seed decides between bright and dark
    vessels. Noise is taken out by a narrow Gaussian and self-guided filters, whose strength follows
    the noise; the local background is a wide Gaussian over voxels near the median (`background`).
    The mask (uint8) is 1 where vessels may be. On a `gpu`, inside its ``with`` block, the map stays
    there, with the bits of the CPU.
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
    background = tissue.background(raw, _array_of(own_mask), relative)
    smooth = _denoised(raw, tissue, relative, progress.part(0.05, 0.95))
    del raw
    contrast, noise, polarity = tissue.contrast(smooth, background, seed)
    median = np.float32(-tissue.median)
    pointwise(lambda values: values - median, smooth, smooth)
    if polarity < 0:
        pointwise(lambda values: -values, smooth, smooth)
    volumes: tuple[Any, ...] = contrast, smooth
    if gpu is not None:
        volumes = tuple(DeviceVolume(each, gpu) for each in volumes)
    progress.advance(1.0)
    return ContrastMap(
        box=box, contrast=volumes[0], noise=noise, smooth=volumes[1], mask=own_mask,
        spacing=relative, polarity=polarity, tissue=tissue, first_seed=seed, gpu=gpu,
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


class CachedConnectedness:
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
            self._map = None

    def contrast_map(
        self, volume: np.ndarray, spacing: Sequence[float], first_seed: Sequence[int],
        mask: np.ndarray | None, progress: Progress, gpu: CudaDevice | None,
    ) -> ContrastMap:  # fmt: skip
        """The cached map, or a new one; as the function `contrast_map`."""
        mapped, inputs = self._map, (volume, mask, np.asarray(spacing))
        if mapped is not None and not (
            (gpu and gpu.name) == (mapped.gpu and mapped.gpu.name)
            and all(_same(*each) for each in zip(self._inputs, inputs, strict=True))
            and mapped.holds_for(first_seed)
        ):
            mapped = None
        self.reused = mapped is not None
        if mapped is not None:
            mapped.gpu = gpu  # each run has its own object of the same device
            return mapped
        self.forget()  # its memory is free before the next is computed
        mapped = contrast_map(volume, spacing, first_seed, mask, progress, gpu)
        self._map, self._inputs, self._first_seed = mapped, inputs, first_seed
        if gpu is not None and mapped.device_bytes > gpu.free_memory():
            self._map = mapped.to_host()
        elif gpu is not None:
            keeps_device_memory(self)
        return mapped

    def map_on_host(self, progress: Progress) -> ContrastMap:
        """The map of the last run in host memory; computed again where it was freed meanwhile."""
        mapped, inputs = self._map, self._inputs
        if mapped is not None:
            return mapped.to_host()
        if not inputs:
            raise Cancelled("Cancelled: the run was forgotten; nothing was changed.")
        volume, mask, spacing = inputs
        return contrast_map(volume, spacing, self._first_seed, mask, progress)


def _same(one: np.ndarray | None, other: np.ndarray | None) -> bool:
    return one is other or (one is not None and other is not None and same_values(one, other))
