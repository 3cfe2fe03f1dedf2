"""Connectedness by contrast: arguments checked, evidence found or kept, and the fuzzy scene."""

import warnings
from dataclasses import replace
from time import perf_counter

import numpy as np

from FuzzyVesselCoreLib.errors import DeviceError, InputError
from FuzzyVesselCoreLib.gpu.device import choose_device
from FuzzyVesselCoreLib.progress import reporter

from ..input_validation import checked_mask, checked_seeds, checked_spacing, checked_volume
from ..scene import FuzzyScene

CONTRAST_THRESHOLD = 0.5
BORDERS = ("drawn", "half")
EVIDENCE_SHARE = 0.8  # of the progress
EVIDENCE_STEPS = 24  # looks at the callback while evidence is found, roughly
FAINT = 3.0  # deviations of the noise below which a seed has no contrast
BYTES_A_VOXEL = 40  # at most, of the box that the mask needs


class ContrastThreshold(float):
    """The cut of a scene of contrasts, and what it means in the image.

    Attributes
    ----------
    contrast : float
        From this contrast to the local background on a voxel belongs to the vessels, in the
        volume's unit.
    noise : float
        Standard deviation of the contrast where there is no vessel.
    reason : str
    """

    def __new__(cls, contrast, noise):
        self = super().__new__(cls, CONTRAST_THRESHOLD)
        self.contrast, self.noise = float(contrast), float(noise)
        self.reason = (
            f"vessels differ from their surroundings by at least {contrast:.3g}, "
            f"{contrast / noise:.1f} times the noise"
        )
        return self

    def __getnewargs__(self):
        return self.contrast, self.noise


def contrast_connectedness(
    volume,
    seeds,
    *,
    spacing=None,
    background_seeds=None,
    mask=None,
    border="drawn",
    device="auto",
    progress=None,
    find_evidence=None,
):
    """The fuzzy scene of the model "contrast"; parameters as in `segmentation.segment`.

    Parameters
    ----------
    find_evidence : callable, optional
        ``find_evidence(volume, spacing, first_seed, mask, check, gpu) -> Evidence`` instead of
        `vessel_evidence`: one that keeps what it found.

    Returns
    -------
    scene : FuzzyScene
        Labels are its voxels of at least 0.5.
    threshold : ContrastThreshold

    Raises
    ------
    InputError
        Volume, seeds, spacing or mask cannot be worked with, or a seed is a background seed, too.
    DeviceError
        The device cannot be used.
    Cancelled
        `progress` returned False.
    """
    if border not in BORDERS:
        raise InputError(f"Unknown border {border!r}; one of {', '.join(BORDERS)}.")
    report = reporter(progress)
    report(0.0)
    shape = np.shape(volume)
    volume = checked_volume(volume)
    mask = checked_mask(mask, volume.shape)
    positive = _inside(checked_seeds(seeds, volume.shape), mask, "seed")
    negative = _background(background_seeds, volume.shape)
    _refuse_both(positive, negative)
    inputs = volume, checked_spacing(spacing, volume.shape[0]), positive, negative, mask, border

    def solve(gpu, notes=()):
        scene, threshold = _solve(inputs, evidence_function(find_evidence), report, gpu, notes)
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
        note = f"The CPU was used: {error}"
        warnings.warn(note, stacklevel=2)
    return solve(None, (note,))


def _solve(inputs, find_evidence, report, gpu, notes):
    """The scene, of the checked volume's shape, and the threshold."""
    from .clicks.click_rules import contrast_scene

    volume, spacing, positive, negative, mask, border = inputs
    started = perf_counter()
    evidence = find_evidence(volume, spacing, positive[0], mask, _Steps(report).check, gpu)
    found = perf_counter()
    report(EVIDENCE_SHARE)
    part, threshold = contrast_scene(
        evidence,
        positive - evidence.origin,
        _within(negative - evidence.origin, evidence.contrast.shape),
        border,
        lambda: report(EVIDENCE_SHARE),
        gpu,
    )
    values = part
    if part.shape != volume.shape:
        values = np.zeros(volume.shape, np.float32)
        values[evidence.box] = part
    seconds = {"evidence": found - started, "clicks": perf_counter() - found}
    report(1.0)
    device = "cpu" if gpu is None else gpu.name
    peak_bytes = BYTES_A_VOXEL * part.size if gpu is None else gpu.peak_bytes
    notes = (*notes, *_notes(evidence, positive - evidence.origin))
    scene = FuzzyScene(values, "contrast", device, 0, seconds, peak_bytes, notes)
    return scene, ContrastThreshold(threshold, evidence.noise)


def evidence_function(find_evidence):
    """`vessel_evidence`, or what is given instead of it."""
    if find_evidence is not None:
        return find_evidence
    try:
        from .evidence.vessel_evidence import vessel_evidence
    except ModuleNotFoundError as error:
        if error.name != "numba":
            raise
        raise DeviceError(
            "This model's filters are compiled by numba, which is not installed: pip install numba "
            "(in Slicer's Python console: slicer.util.pip_install('numba'))."
        ) from error
    return vessel_evidence


class _Steps:
    """Progress of a work whose number of steps is roughly known."""

    def __init__(self, report):
        self._report, self._done = report, 0

    def check(self):
        self._done += 1
        self._report(EVIDENCE_SHARE * min(self._done / EVIDENCE_STEPS, 1))


def _inside(seeds, mask, name):
    """The seeds inside the mask, each once, in their order."""
    seeds = np.array(list(dict.fromkeys(map(tuple, seeds.tolist()))), np.int64)
    if mask is not None:
        seeds = seeds[mask[tuple(seeds.T)] > 0]
        if not len(seeds):
            raise InputError(
                f"Every {name} lies outside the mask: place one inside it, or choose another mask."
            )
    return seeds


def _background(seeds, shape):
    if seeds is None or not np.size(seeds):
        return np.empty((0, 3), np.int64)
    return np.unique(checked_seeds(seeds, shape, "background seed"), axis=0)


def _within(voxels, shape):
    """The voxels that lie in the box that evidence was found for; the others are outside anyway."""
    return voxels[((voxels >= 0) & (voxels < shape)).all(axis=1)]


def _refuse_both(positive, negative):
    both = set(map(tuple, positive.tolist())) & set(map(tuple, negative.tolist()))
    if both:
        k, j, i = min(both)
        raise InputError(
            f"A seed and a background seed are the same voxel, I,J,K = {i},{j},{k}: "
            "move or delete one of the two."
        )


def _notes(evidence, positive):
    """What the user should know of the clicks."""
    contrast = evidence.contrast
    from .neighbourhood import at_click

    faint = [p for p in positive if at_click(contrast, p) < FAINT * evidence.noise]
    if len(faint) < len(positive):
        return ()
    return (
        "No seed differs from its surroundings by more than noise does: click into the middle of "
        "a vessel, or where it is brighter.",
    )
