"""The entry of the contrast model, and the last contrast map, cached."""

import warnings
from collections.abc import Sequence
from dataclasses import replace
from time import perf_counter
from typing import Any

import numpy as np

from FuzzyVesselCoreLib.compilation import needs_numba
from FuzzyVesselCoreLib.errors import DeviceError, InputError
from FuzzyVesselCoreLib.gpu.device import CudaDevice, keeps_device_memory, on_device_or_cpu
from FuzzyVesselCoreLib.progress import Progress, ProgressCallback
from FuzzyVesselCoreLib.translation import tr as _
from FuzzyVesselCoreLib.voxels.masks import same_values

from ..input_validation import (
    SameVoxelError,
    checked_mask,
    checked_seeds,
    checked_spacing,
    checked_volume,
)
from ..scene import FuzzyScene

BORDERS = ("drawn", "half")
MAP_SHARE = 0.8  # of the progress
BYTES_PER_VOXEL = 32  # at most, in the mask's box


def checked_clicks(
    seeds: np.ndarray,
    background_seeds: np.ndarray | None,
    mask: np.ndarray | None,
    shape: tuple[int, ...],
) -> tuple[np.ndarray, np.ndarray]:
    """The seeds (int64, n x 3) in the mask, each once, in their order, and the background seeds.

    Raises `InputError` where no seed is inside volume and mask, a background seed lies outside the
    volume, or a voxel is both.
    """
    seeds = checked_seeds(seeds, shape)
    positive = np.array(list(dict.fromkeys(map(tuple, seeds.tolist()))), np.int64)
    if mask is not None:
        positive = positive[mask[tuple(positive.T)] > 0]
        if not len(positive):
            raise InputError(
                "Every seed lies outside the mask: place one inside it, or choose another mask."
            )
    negative = np.empty((0, 3), np.int64)
    if background_seeds is not None and np.size(background_seeds):
        checked = checked_seeds(background_seeds, shape, "background seed")
        negative = np.unique(checked, axis=0)
    both = set(map(tuple, positive.tolist())) & set(map(tuple, negative.tolist()))
    if both:
        raise SameVoxelError(min(both))
    return positive, negative


def contrast_connectedness(
    volume: np.ndarray,
    seeds: np.ndarray,
    cached: "CachedConnectedness",
    *,
    spacing: Any = None,
    background_seeds: np.ndarray | None = None,
    mask: np.ndarray | None = None,
    border: str = "drawn",
    device: str = "auto",
    progress: Progress | ProgressCallback | None = None,
) -> FuzzyScene:
    """The fuzzy scene of the model "contrast", whose labels are its voxels of at least 0.5.

    Parameters as in `segmentation.segment`; `InputError`, `DeviceError` or `Cancelled` as there.
    """
    if border not in BORDERS:
        raise InputError(f"Unknown border {border!r}; one of {', '.join(BORDERS)}.")
    progress = Progress.of(progress)
    progress.advance(0.0)
    shape = np.shape(volume)
    volume = checked_volume(volume)
    mask = checked_mask(mask, volume.shape)
    positive, negative = checked_clicks(seeds, background_seeds, mask, volume.shape)
    spacing = checked_spacing(spacing, volume.shape[0])

    def solve(gpu: Any) -> FuzzyScene:
        part = progress.part(0.0, MAP_SHARE)
        started = perf_counter()
        mapped = cached.contrast_map(volume, spacing, positive[0], mask, part, gpu)
        after_map = perf_counter()
        progress.advance(MAP_SHARE)
        scene = _scene(mapped, positive, negative, border, volume.shape, gpu, progress)
        scene.seconds.update(contrast=after_map - started, clicks=perf_counter() - after_map)
        return replace(scene, values=scene.values.reshape(shape))

    try:
        scene, notes = on_device_or_cpu(device, solve)
    except DeviceError:
        cached.forget()  # a device that failed may have lost it
        raise
    for note in notes:
        warnings.warn(note, stacklevel=2)
    return replace(scene, notes=(*notes, *scene.notes))


def _scene(
    mapped: Any, positive: np.ndarray, negative: np.ndarray, border: str, shape: tuple[int, ...],
    gpu: Any, progress: Progress,
) -> FuzzyScene:  # fmt: skip
    """The scene of clicks on a contrast map, in a volume of that shape."""
    from .click_scene import click_scene
    from .clicks import EVIDENT, at_click

    positive, negative = positive - mapped.origin, negative - mapped.origin
    negative = negative[((negative >= 0) & (negative < mapped.contrast.shape)).all(axis=1)]
    values, least_contrast, without_contrast = click_scene(
        mapped, positive, negative, border, progress
    )
    places = [tuple(map(int, click + mapped.origin)) for click in without_contrast]
    notes: tuple[str, ...] = (no_contrast_note(),) if places else ()
    if not any(at_click(mapped.contrast, c) >= EVIDENT * mapped.noise for c in positive):
        text = _(
            "No point differs from its surroundings by more than the noise: click into the middle "
            "of a vessel, or where it is brighter."
        )
        notes = (*notes, text)
    peak_bytes = BYTES_PER_VOXEL * values.size
    if gpu is not None:
        peak_bytes = max(gpu.peak_bytes, mapped.device_bytes)
    if values.shape != shape:
        part, values = values, np.zeros(shape, np.float32)
        values[mapped.box] = part
    progress.advance(1.0)
    device = "cpu" if gpu is None else gpu.name
    return FuzzyScene(
        values, "contrast", device, 0, {}, peak_bytes, notes, float(least_contrast),
        float(mapped.noise), tuple(places),
    )  # fmt: skip


def no_contrast_note() -> str:
    """The note on clicks that differ from their surroundings in no way."""
    return _("A point has no contrast to its surroundings: only voxels close by were added there.")


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
        self._map: Any = None
        self._inputs: tuple = ()

    def free_device_memory(self) -> None:
        """Forget a map that is on the device; see `gpu.device.keeps_device_memory`."""
        if self._map is not None and self._map.gpu is not None:
            self.forget()

    @property
    def map_on_host(self) -> Any:
        """The cached map, in host memory; or None."""
        return None if self._map is None else self._map.to_host()

    def contrast_map(
        self,
        volume: np.ndarray,
        spacing: Sequence[float],
        first_seed: Sequence[int],
        mask: np.ndarray | None,
        progress: Progress,
        gpu: CudaDevice | None,
    ) -> Any:
        """The cached map, or a new one; as the function `contrast_map`."""
        with needs_numba():
            from .contrast_map import contrast_map

        cached, inputs = self._map, (volume, mask, np.asarray(spacing))
        self.reused = (
            cached is not None
            and cached.is_on(gpu)
            and all(_same(*each) for each in zip(self._inputs, inputs, strict=True))
            and cached.holds_for(first_seed)
        )
        if self.reused:
            cached.gpu = gpu  # each run has its own object of the same device
            return cached
        del cached
        self.forget()  # its memory is free before the next is computed
        mapped = contrast_map(volume, spacing, first_seed, mask, progress, gpu)
        self._inputs = inputs
        self._map = mapped
        if gpu is not None and mapped.device_bytes > gpu.free_memory():
            self._map = mapped.to_host()  # the division among vessels needs it
        elif gpu is not None:
            keeps_device_memory(self)
        return mapped


def _same(one: np.ndarray | None, other: np.ndarray | None) -> bool:
    return one is other or (one is not None and other is not None and same_values(one, other))
