"""Evidence of vessels in a volume: denoised, and compared with the local background."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from FuzzyVesselCoreLib.compilation import needs_numba
from FuzzyVesselCoreLib.progress import Progress
from FuzzyVesselCoreLib.threads import by_planes
from FuzzyVesselCoreLib.voxels.bounding_box import bounding_box, full_box, padded_box

from ..denoising.weights import gaussian_weights
from ..neighbourhood import at_click
from .difference import difference
from .evidence import DARK, Evidence
from .own_background import lower_own_background
from .tissue import tissue_near

if TYPE_CHECKING:
    from FuzzyVesselCoreLib.gpu.device import CudaDevice

# Lengths are multiples of the smallest spacing, as a vessel's image is at least as wide as a voxel.
# How the constants were chosen: Documentation/decisions/0007-contrast-model.md.
SMOOTHING = 0.6
GUIDE = 1.5
GUIDED_PASSES = 2
BACKGROUND = 6.0
LOWEST = 10.0  # deviations below the median at which intensities are clipped (air)
MARGIN = 4.0  # around a mask
LARGEST = 1e15  # intensities beyond it (fill values) are clipped: float32 must hold their squares


def vessel_evidence(
    volume: np.ndarray,
    spacing: Sequence[float],
    first_seed: Sequence[int],
    mask: np.ndarray | None = None,
    progress: Progress | None = None,
    gpu: "CudaDevice | None" = None,
) -> Evidence:
    """Evidence of vessels in a volume.

    Noise is taken out by a narrow Gaussian and self-guided filters, whose strength follows the
    noise; the local background is a wide Gaussian over voxels near the median. Among several
    tissues, vessels that are their own background have no contrast (`own_background`).

    Parameters
    ----------
    volume : ndarray, shape (K, J, I)
        Checked: see `input_validation.checked_volume`.
    spacing : sequence of 3 float
        Distance of voxels along K, J, I, in any unit.
    first_seed : sequence of 3 int
        K, J, I: the tissue around it is the background, and it decides between bright vessels and
        dark ones.
    mask : ndarray of uint8, same shape, optional
        1 where vessels may be.
    progress : Progress, optional
    gpu : CudaDevice, optional
        Computes the evidence, inside its ``with`` block: the same values, bit for bit, which stay
        on the device until the host asks for them.

    Returns
    -------
    Evidence

    Raises
    ------
    DeviceError
        On the CPU, where the filters' compiler, numba, is not installed.

    Examples
    --------
    >>> import numpy as np
    >>> volume = np.random.default_rng(1).normal(0, 1, (24, 24, 24))
    >>> volume[:, 10:14, 10:14] += 20
    >>> evidence = vessel_evidence(volume, (1, 1, 1), (12, 12, 12))
    >>> evidence.polarity, bool(evidence.contrast[3, 12, 12] > 10 * evidence.noise)
    (1, True)
    """
    progress = Progress.of(progress)
    if gpu is not None:
        from .cuda_vessel_evidence import cuda_vessel_evidence

        return cuda_vessel_evidence(volume, spacing, first_seed, mask, progress, gpu)
    with needs_numba():
        from ..denoising.filters import self_guided, separable
    unit = np.asarray(spacing, float) / min(spacing)
    box = box_of(mask, volume.shape, unit)
    inside = None if mask is None else np.ascontiguousarray(mask[box])
    seed = tuple(int(c) - s.start for c, s in zip(first_seed, box))
    raw = clipped(volume[box]).astype(np.float32)
    tissue = tissue_near(raw, inside, seed, unit)
    if tissue.deviation > 0:
        lowest = np.float32(tissue.median - LOWEST * tissue.deviation)
        by_planes(lambda k: np.maximum(raw[k], lowest, out=raw[k]), raw)
    progress.advance(0.05)
    background = tissue.background(raw, BACKGROUND / unit)
    weights = [gaussian_weights(SMOOTHING / u) for u in unit]
    smooth = separable(raw, weights, progress.part(0.05, 0.2))
    radii = [round(GUIDE / u) for u in unit]
    # Centred on 0: the squares of large intensities would not resolve the noise in float32.
    difference(smooth, np.float32(tissue.median), out=smooth)
    for n in range(GUIDED_PASSES):
        part = progress.part(0.2 + 0.4 * n, 0.6 + 0.4 * n)
        smooth = self_guided(smooth, radii, tissue.noise(smooth), part)
    spare = background if tissue.whole else None  # else it is read once more below
    contrast, noise = tissue.centred(difference(smooth, background, out=spare))
    difference(smooth, np.float32(-tissue.median), out=smooth)
    polarity = 1
    if contrast[seed] < DARK * noise:
        polarity = -1
        np.negative(contrast, out=contrast)
        np.negative(smooth, out=smooth)
    if not tissue.whole:
        at_first = at_click(contrast, seed)
        lower_own_background(contrast, background, polarity, at_first)
    return Evidence(box, contrast, noise, smooth, inside, unit, polarity, tissue, seed)


def clipped(volume: np.ndarray) -> np.ndarray:
    """The volume itself, or a copy without values beyond `LARGEST`."""
    if volume.dtype.kind == "f" and max(volume.max(), -volume.min()) > LARGEST:
        return np.clip(volume, -LARGEST, LARGEST)
    return volume


def box_of(mask: np.ndarray | None, shape: Sequence[int], unit: np.ndarray) -> tuple[slice, ...]:
    """The part of the volume that holds the mask, with the margin that its border needs."""
    if mask is None:
        return full_box(shape)
    margin = [int(np.ceil(MARGIN / step)) for step in unit]
    return padded_box(bounding_box(mask) or full_box(shape), margin, shape)
