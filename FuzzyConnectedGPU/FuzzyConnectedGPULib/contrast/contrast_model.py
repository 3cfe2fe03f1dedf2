"""Entry of the contrast model: arguments checked, the contrast map found, and the fuzzy scene."""

import warnings
from collections.abc import Callable
from dataclasses import replace
from time import perf_counter
from typing import Any

import numpy as np

from FuzzyVesselCoreLib.errors import CpuUsedNote, DeviceError, InputError
from FuzzyVesselCoreLib.gpu.selection import choose_device
from FuzzyVesselCoreLib.progress import Progress, ProgressCallback

from ..input_errors import FaintClicksNote, NoContrastNote
from ..input_validation import checked_mask, checked_spacing, checked_volume
from ..scene import FuzzyScene
from .contrast_threshold import ContrastThreshold

BORDERS = ("drawn", "half")
MAP_SHARE = 0.8  # of the progress
BYTES_PER_VOXEL = 32  # at most, in the mask's box
FAINT = 3.0  # standard deviations of the noise below which a seed has no contrast

FindMap = Callable[..., Any]  # (volume, spacing, first_seed, mask, progress, gpu) -> ContrastMap


def contrast_connectedness(
    volume: np.ndarray,
    seeds: np.ndarray,
    *,
    spacing: Any = None,
    background_seeds: np.ndarray | None = None,
    mask: np.ndarray | None = None,
    border: str = "drawn",
    device: str = "auto",
    progress: Progress | ProgressCallback | None = None,
    find_map: FindMap | None = None,
) -> tuple[FuzzyScene, ContrastThreshold]:
    """The fuzzy scene of the model "contrast"; parameters as in `segmentation.segment`.

    Parameters
    ----------
    find_map : callable, optional
        In place of `contrast_map`, for example `CachedConnectedness.find`.

    Returns
    -------
    connectedness : FuzzyScene
        Labels are its voxels of at least 0.5.
    threshold : ContrastThreshold

    Raises
    ------
    InputError, DeviceError, Cancelled
        The inputs are invalid, the device cannot be used, or `progress` returned False.
    """
    if border not in BORDERS:
        raise InputError(f"Unknown border {border!r}; one of {', '.join(BORDERS)}.")
    from .clicks import checked_clicks  # SciPy
    from .contrast_map import contrast_map

    progress = Progress.of(progress)
    progress.advance(0.0)
    shape = np.shape(volume)
    volume = checked_volume(volume)
    mask = checked_mask(mask, volume.shape)
    clicks = checked_clicks(seeds, background_seeds, mask, volume.shape)
    spacing, find = checked_spacing(spacing, volume.shape[0]), find_map or contrast_map

    def solve(gpu: Any) -> tuple[FuzzyScene, ContrastThreshold]:
        part = progress.part(0.0, MAP_SHARE)
        started = perf_counter()
        found = find(volume, spacing, clicks.positive[0], mask, part, gpu)
        mapped = perf_counter()
        progress.advance(MAP_SHARE)
        scene, threshold = _scene(found, clicks, border, volume.shape, gpu, progress)
        scene.seconds.update(contrast=mapped - started, clicks=perf_counter() - mapped)
        return replace(scene, values=scene.values.reshape(shape)), threshold

    chosen = choose_device(device)
    if chosen == "cpu":
        return solve(None)
    try:
        with chosen as gpu:
            return solve(gpu)
    except DeviceError as error:
        if device != "auto":
            raise
        note = CpuUsedNote(error)
        warnings.warn(note, stacklevel=2)
    scene, threshold = solve(None)
    return replace(scene, notes=(note, *scene.notes)), threshold


def _scene(
    found: Any, clicks: Any, border: str, shape: tuple[int, ...], gpu: Any, progress: Progress
) -> tuple[FuzzyScene, ContrastThreshold]:
    """The scene of clicks on a contrast map, in a volume of that shape; and the threshold."""
    from .click_scene import click_scene
    from .neighbourhood import at_click

    clicks = clicks.within(found.box)
    values, threshold, without = click_scene(found, clicks, border, progress)
    places = np.array(without, np.int64).reshape(-1, 3) + found.origin
    notes: tuple[str, ...] = (NoContrastNote(places),) if without else ()
    if not any(at_click(found.contrast, c) >= FAINT * found.noise for c in clicks.positive):
        notes = (FaintClicksNote(places),)
    peak_bytes = BYTES_PER_VOXEL * values.size
    if gpu is not None:
        peak_bytes = max(gpu.peak_bytes, found.device_bytes)
    if values.shape != shape:
        part, values = values, np.zeros(shape, np.float32)
        values[found.box] = part
    progress.advance(1.0)
    device = "cpu" if gpu is None else gpu.name
    scene = FuzzyScene(values, "contrast", device, 0, {}, peak_bytes, notes)
    return scene, ContrastThreshold(threshold, found.noise)
