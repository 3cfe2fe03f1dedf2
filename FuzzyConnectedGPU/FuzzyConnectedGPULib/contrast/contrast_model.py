"""Entry of the contrast model: arguments checked, evidence found or cached, and the fuzzy scene."""

import warnings
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Any

import numpy as np

from FuzzyVesselCoreLib.errors import CpuUsedNote, DeviceError, InputError
from FuzzyVesselCoreLib.gpu.device import CudaDevice
from FuzzyVesselCoreLib.gpu.selection import choose_device
from FuzzyVesselCoreLib.progress import Progress, ProgressCallback
from FuzzyVesselCoreLib.voxels.large_arrays import Allocate

from ..input_validation import checked_mask, checked_spacing, checked_volume
from ..scene import FuzzyScene
from .contrast_threshold import ContrastThreshold
from .early_kernels import compile_kernels_early
from .evidence import EvidenceFinder, evidence_finder
from .warm_up import prepare, wait_for_warm_up

BORDERS = ("drawn", "half")
EVIDENCE_SHARE = 0.8  # of the progress
BYTES_PER_VOXEL = 40  # at most, in the mask's box


@dataclass(frozen=True)
class _Inputs:
    """Checked arguments of a run."""

    volume: np.ndarray
    spacing: np.ndarray
    clicks: Any  # checked_clicks.Clicks, which needs SciPy
    mask: np.ndarray | None
    border: str
    find_evidence: EvidenceFinder
    allocate: Allocate


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
    find_evidence: EvidenceFinder | None = None,
    allocate: Allocate = np.empty,
) -> tuple[FuzzyScene, ContrastThreshold]:
    """The fuzzy scene of the model "contrast"; parameters as in `segmentation.segment`.

    Parameters
    ----------
    find_evidence : callable, optional
        In place of `vessel_evidence`, for example one that caches its result.
    allocate : callable, optional
        ``allocate(shape, dtype) -> ndarray``, of the connectedness.

    Returns
    -------
    connectedness : FuzzyScene
        Labels are its voxels of at least 0.5.
    threshold : ContrastThreshold

    Raises
    ------
    InputError
        Volume, seeds, spacing or mask is invalid, or a seed is also a background seed.
    DeviceError
        The device cannot be used.
    Cancelled
        `progress` returned False.
    """
    if border not in BORDERS:
        raise InputError(f"Unknown border {border!r}; one of {', '.join(BORDERS)}.")
    progress = Progress.of(progress)
    progress.advance(0.0)
    shape = np.shape(volume)
    volume = checked_volume(volume)
    compile_kernels_early(volume.dtype, device)  # while SciPy is imported
    from .checked_clicks import checked_clicks

    mask = checked_mask(mask, volume.shape)
    clicks = checked_clicks(seeds, background_seeds, mask, volume.shape)
    spacing = checked_spacing(spacing, volume.shape[0])
    find = evidence_finder(find_evidence)
    inputs = _Inputs(volume, spacing, clicks, mask, border, find, allocate)
    connectedness, threshold = _on_device(inputs, device, progress)
    return replace(connectedness, values=connectedness.values.reshape(shape)), threshold


def _on_device(
    inputs: _Inputs, device: str, progress: Progress
) -> tuple[FuzzyScene, ContrastThreshold]:
    """Run on the chosen device; with device "auto" on the CPU where the GPU fails."""
    chosen = choose_device(device)
    if chosen == "cpu" and progress.has_callback:
        prepare()  # so that the callback is called while code is compiled
    wait_for_warm_up(progress)
    if chosen == "cpu":
        return _solve(inputs, progress, None)
    try:
        with chosen as gpu:
            return _solve(inputs, progress, gpu)
    except DeviceError as error:
        if device != "auto":
            raise
        note = CpuUsedNote(error)
        warnings.warn(note, stacklevel=3)
    return _solve(inputs, progress, None, (note,))


def _solve(
    inputs: _Inputs, progress: Progress, gpu: CudaDevice | None, notes: tuple[str, ...] = ()
) -> tuple[FuzzyScene, ContrastThreshold]:
    """The scene, of the checked volume's shape, and the threshold."""
    from .checked_clicks import faint_click_notes
    from .clicks.click_scene import click_scene

    volume, positive = inputs.volume, inputs.clicks.positive
    started = perf_counter()
    evidence = inputs.find_evidence(
        volume, inputs.spacing, positive[0], inputs.mask, progress.part(0.0, EVIDENCE_SHARE), gpu
    )
    found = perf_counter()
    progress.advance(EVIDENCE_SHARE)
    clicks = inputs.clicks.within(evidence.box)
    whole = evidence.contrast.shape == volume.shape
    part, threshold = click_scene(
        evidence,
        clicks,
        inputs.border,
        progress,
        gpu,
        allocate=inputs.allocate if whole else np.empty,
    )
    values = part
    if not whole:
        values = np.zeros(volume.shape, np.float32)
        values[evidence.box] = part
    seconds = {"evidence": found - started, "clicks": perf_counter() - found}
    progress.advance(1.0)
    device = "cpu" if gpu is None else gpu.name
    if gpu is None:
        peak_bytes = BYTES_PER_VOXEL * part.size
    else:
        peak_bytes = gpu.peak_bytes + evidence.bytes_beside(gpu)
    notes = (*notes, *faint_click_notes(evidence.contrast, evidence.noise, clicks.positive))
    connectedness = FuzzyScene(values, "contrast", device, 0, seconds, peak_bytes, notes)
    return connectedness, ContrastThreshold(threshold, evidence.noise)
