"""Relative connectedness by contrast: evidence of the contrast model, divided among the groups."""

import warnings
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from FuzzyVesselCoreLib.compilation import prepare_numba
from FuzzyVesselCoreLib.errors import CpuUsedNote, DeviceError
from FuzzyVesselCoreLib.gpu.device import CudaDevice
from FuzzyVesselCoreLib.gpu.selection import choose_device
from FuzzyVesselCoreLib.progress import Progress

from ..contrast.evidence import evidence_finder
from .groups import NOBODY, CheckedGroups
from .stages import ITERATED, RELATIVE, Clock, Division, DivisionOptions

if TYPE_CHECKING:
    from ..contrast.evidence.evidence import Evidence

STEPS = 256  # levels of a contrast of one deviation of the noise
DEFAULT_CUT = 0.75  # three deviations of the noise
EVIDENCE = 0.6  # share of the progress
BYTES_PER_VOXEL = 50  # at most, in the mask's box


def divide(
    volume: np.ndarray,
    spacing: np.ndarray,
    mask: np.ndarray | None,
    points: CheckedGroups,
    cut: float,
    options: DivisionOptions,
    progress: Progress,
    seconds: dict[str, float],
) -> Division:
    """Divide the voxels of contrast among the groups.

    Evidence is computed on the device, the paths on the CPU.

    Parameters
    ----------
    volume, spacing, mask
        Validated.
    points : CheckedGroups
    cut : float
    options, progress, seconds
        As of `stages.divide`.

    Returns
    -------
    Division
        With the strength ``s / (s + n)`` of a contrast s and the noise n.
    """
    prepare_numba()
    clock = Clock(seconds)
    part = progress.part(0.0, EVIDENCE)
    find = evidence_finder()

    def found(gpu: CudaDevice | None) -> Any:
        return find(volume, spacing, points.seeds[0], mask, part, gpu)

    chosen = choose_device(options.device)
    notes: tuple[str, ...] = ()
    if chosen == "cpu":
        evidence, name = found(None), "cpu"
    else:
        try:
            with chosen as gpu:
                evidence, name = found(gpu).to_host(), chosen.name
        except DeviceError as error:
            if options.device != "auto":
                raise
            notes = (CpuUsedNote(error),)
            warnings.warn(notes[0], stacklevel=3)
            evidence, name = found(None), "cpu"
    clock.stop("evidence")
    progress.advance(EVIDENCE)
    capacities = levels_of_contrast(evidence, cut)
    notes = (*notes, *_without_paths(capacities, points, evidence.origin))
    parts = divide_levels(capacities, points, evidence.origin, options, progress, clock)
    whole = []
    for values in parts:
        whole.append(np.zeros(volume.shape, values.dtype))
        whole[-1][evidence.box] = values
    strength, owners, shared = whole
    peak_bytes = BYTES_PER_VOXEL * capacities.size
    return Division(strength, owners, shared, name, peak_bytes, notes)


def levels_of_contrast(evidence: "Evidence", cut: float) -> np.ndarray:
    """Levels (uint16) of the contrast in steps of the noise; 0 below the cut and outside the mask.

    Parameters
    ----------
    evidence : Evidence
    cut : float
        A strength; see `divide`.
    """
    levels = steps_of_noise(evidence.contrast, evidence.noise)
    levels[strength_of(levels) < np.float32(cut)] = 0
    if evidence.inside is not None:
        levels[evidence.inside == 0] = 0
    return levels


def steps_of_noise(contrast: np.ndarray, noise: float) -> np.ndarray:
    """Levels (uint16) of contrasts in steps of the noise."""
    steps = np.floor(contrast / np.float32(noise) * np.float32(STEPS))
    return np.clip(steps, 0, np.iinfo(np.uint16).max).astype(np.uint16)


def _without_paths(
    capacities: np.ndarray, points: CheckedGroups, origin: np.ndarray
) -> Iterator[str]:
    """A note for each group without contrast at any of its points: it has only the points."""
    has_contrast = capacities[tuple((points.seeds - origin).T)] > 0
    for label, name in enumerate(points.names, start=1):
        if not has_contrast[points.owners == label].any():
            yield (
                f"No point of {name!r} differs from its surroundings by the cut, so no path leads "
                "from it: place one where the vessel is thinner or brighter, or lower the cut."
            )


def strength_of(levels: np.ndarray) -> np.ndarray:
    """Strength (float32, 0..1) of levels."""
    values = levels.astype(np.float32)
    return values / (values + np.float32(STEPS))


def divide_levels(
    capacities: np.ndarray,
    points: CheckedGroups,
    origin: np.ndarray,
    options: DivisionOptions,
    progress: Progress,
    clock: Clock,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Strength, owners, and owners after the rule for ties, of levels of contrast.

    Parameters
    ----------
    capacities : ndarray, shape (K, J, I), uint16
        Level of each voxel of a box; no path passes 0.
    points : CheckedGroups
    origin : ndarray of 3 int
        First voxel of the box.
    options, progress, clock
        As of `stages.divide`.
    """
    from . import contrast_owners, disputed

    flat = np.ravel_multi_index((points.seeds - origin).T, capacities.shape)
    part, sides = progress.part(EVIDENCE, RELATIVE), contrast_owners.SIDES
    levels, owners = contrast_owners.solve(capacities, flat, points.owners, part)
    clock.stop("relative")
    strength = strength_of(levels)
    strength.reshape(-1)[flat] = 1
    shared = owners
    if options.needs_edges:
        progress.advance(RELATIVE)
        edges = contrast_owners.optimal_edges(capacities, levels, owners)
    if options.iterative:
        disputed.iterate(edges, sides, owners, progress)
        clock.stop("iterative")
    if options.ties != "unlabelled":
        progress.advance(ITERATED)
        shared, _ = disputed.share_by_steps(edges, sides, owners, progress)
        clock.stop("ties")
    strength[owners == NOBODY] = 0
    return strength, owners, shared
