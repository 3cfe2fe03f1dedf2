"""The entry of the contrast model."""

import warnings
from dataclasses import replace
from time import perf_counter
from typing import Any

import numpy as np

from FuzzyVesselCoreLib.compilation import needs_numba
from FuzzyVesselCoreLib.errors import DeviceError, InputError
from FuzzyVesselCoreLib.gpu.device import on_device_or_cpu
from FuzzyVesselCoreLib.progress import Progress, ProgressCallback
from FuzzyVesselCoreLib.translation import tr as _

from ..input_validation import (
    SameVoxelError,
    checked_background,
    checked_mask,
    checked_seeds,
    checked_spacing,
    checked_volume,
)
from ..scene import NO_CONTRAST, FuzzyScene
from .contrast_map import ContrastMap, ContrastMapCache

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
    vessel = np.array(list(dict.fromkeys(map(tuple, seeds.tolist()))), np.int64)
    if mask is not None:
        vessel = vessel[mask[tuple(vessel.T)] > 0]
        if not len(vessel):
            raise InputError(
                "Every seed lies outside the mask: place one inside it, or choose another mask."
            )
    background = checked_background(background_seeds, shape)
    both = set(map(tuple, vessel.tolist())) & set(map(tuple, background.tolist()))
    if both:
        raise SameVoxelError(min(both))
    return vessel, background


def contrast_connectedness(
    volume: np.ndarray,
    seeds: np.ndarray,
    cached: ContrastMapCache,
    *,
    spacing: Any = None,
    background_seeds: np.ndarray | None = None,
    mask: np.ndarray | None = None,
    border: str = "drawn",
    device: str = "auto",
    progress: Progress | ProgressCallback | None = None,
) -> tuple[FuzzyScene, ContrastMap]:
    """The fuzzy scene of the model "contrast", and the map that it comes from, maybe on a device.

    The scene's labels are its voxels of at least 0.5. Parameters as in `segmentation.segment`;
    `InputError`, `DeviceError` or `Cancelled` as there.
    """
    if border not in BORDERS:
        raise InputError(f"Unknown border {border!r}; one of {', '.join(BORDERS)}.")
    with needs_numba():
        from .click_scene import click_scene
    progress = Progress.of(progress)
    progress.advance(0.0)
    shape = np.shape(volume)
    volume = checked_volume(volume)
    mask = checked_mask(mask, volume.shape)
    vessel, background = checked_clicks(seeds, background_seeds, mask, volume.shape)
    spacing = checked_spacing(spacing, volume.shape[0])

    def solve(gpu: Any) -> tuple[FuzzyScene, ContrastMap]:
        part = progress.part(0.0, MAP_SHARE)
        started = perf_counter()
        mapped = cached.contrast_map(volume, spacing, vessel[0], mask, part, gpu)
        after_map = perf_counter()
        progress.advance(MAP_SHARE)
        found = click_scene(mapped, vessel, background, border, progress)
        scene = _scene(mapped, *found, volume.shape, gpu)
        progress.advance(1.0)
        scene.seconds.update(contrast=after_map - started, clicks=perf_counter() - after_map)
        return replace(scene, values=scene.values.reshape(shape)), mapped

    try:
        (scene, mapped), notes = on_device_or_cpu(device, solve)
    except DeviceError:
        cached.forget()  # a device that failed may have lost it
        raise
    for note in notes:
        warnings.warn(note, stacklevel=2)
    return replace(scene, notes=(*notes, *scene.notes)), mapped


def _scene(
    mapped: ContrastMap, values: np.ndarray, least_contrast: float,
    places: list[tuple[int, ...]], any_with_contrast: bool, shape: tuple[int, ...], gpu: Any,
) -> FuzzyScene:  # fmt: skip
    """What `click_scene` found, as the scene of a volume of that shape."""
    notes = (NO_CONTRAST,) if places else ()
    if not any_with_contrast:
        text = _(
            "No point differs from its surroundings by more than three times the noise: click into "
            "the middle of a vessel, or where it is brighter."
        )
        notes = (*notes, text)
    peak_bytes = BYTES_PER_VOXEL * values.size
    if gpu is not None:
        peak_bytes = max(gpu.peak_bytes, mapped.device_bytes)
    if values.shape != shape:
        part, values = values, np.zeros(shape, np.float32)
        values[mapped.box] = part
    device = "cpu" if gpu is None else gpu.name
    return FuzzyScene(
        values, "contrast", device, 0, {}, peak_bytes, notes, float(least_contrast),
        float(mapped.noise), tuple(places),
    )  # fmt: skip
