"""Relative connectedness by contrast: evidence of the contrast model, divided among the groups."""

import warnings

import numpy as np

from FuzzyVesselCoreLib.compilation import quiet_numba
from FuzzyVesselCoreLib.errors import DeviceError
from FuzzyVesselCoreLib.gpu.device import choose_device

from ..contrast.segmenting import evidence_function
from .groups import NOBODY
from .stages import ITERATED, RELATIVE, Clock

STEPS = 256  # levels of a contrast of one deviation of the noise
DEFAULT_CUT = 0.75  # three deviations of the noise
EVIDENCE = 0.6  # share of the progress
BYTES_A_VOXEL = 50  # at most, of the box that the mask needs


def divide(volume, spacing, mask, points, cut, device, iterative, ties, report, seconds):
    """Divide the voxels of contrast among the groups.

    Evidence is found on the device, the paths on the CPU.

    Parameters
    ----------
    volume, spacing, mask
        Checked.
    points : CheckedGroups
    cut : float
    device, iterative, ties, report, seconds
        As of `stages.divide`.

    Returns
    -------
    strength, owners, shared : ndarray, shape (K, J, I), float32, uint8, uint8
        Strength is ``s / (s + n)`` of a contrast s and the noise n.
    device_name, peak_bytes, notes
        As of `stages.divide`.
    """
    quiet_numba()
    find = evidence_function(None)  # says what is missing without numba
    clock = Clock(seconds)

    def found(gpu):
        return find(volume, spacing, points.seeds[0], mask, lambda: report(0.0), gpu)

    chosen, notes = choose_device(device), ()
    if chosen == "cpu":
        evidence, name = found(None), "cpu"
    else:
        try:
            with chosen as gpu:
                evidence, name = found(gpu).leave_card(), chosen.name
        except DeviceError as error:
            if device != "auto":
                raise
            notes = (f"The CPU was used: {error}",)
            warnings.warn(notes[0], stacklevel=3)
            evidence, name = found(None), "cpu"
    clock.stop("evidence")
    report(EVIDENCE)
    capacities = levels_of_contrast(evidence, cut)
    notes = (*notes, *_without_paths(capacities, points, evidence.origin))
    parts = _divide(capacities, points, evidence.origin, iterative, ties, report, clock)
    peak_bytes = BYTES_A_VOXEL * capacities.size
    whole = []
    for part in parts:
        whole.append(np.zeros(volume.shape, part.dtype))
        whole[-1][evidence.box] = part
    return *whole, name, peak_bytes, notes


def levels_of_contrast(evidence, cut):
    """Levels (uint16) of the contrast in steps of the noise; 0 below the cut and outside the mask.

    Parameters
    ----------
    evidence : Evidence
    cut : float
        A strength; see `divide`.
    """
    steps = np.floor(evidence.contrast / np.float32(evidence.noise) * np.float32(STEPS))
    levels = np.clip(steps, 0, np.iinfo(np.uint16).max).astype(np.uint16)
    levels[strength_of(levels) < np.float32(cut)] = 0
    if evidence.inside is not None:
        levels[evidence.inside == 0] = 0
    return levels


def _without_paths(capacities, points, origin):
    """A note for each group none of whose points has contrast: only the points are its own."""
    has_contrast = capacities[tuple((points.seeds - origin).T)] > 0
    for label, name in enumerate(points.names, start=1):
        if not has_contrast[points.owners == label].any():
            yield (
                f"No point of {name!r} differs from its surroundings by the cut, so no path leads "
                "from it: place one where the vessel is thinner or brighter, or lower the cut."
            )


def strength_of(levels):
    """Strength (float32, 0..1) of levels."""
    values = levels.astype(np.float32)
    return values / (values + np.float32(STEPS))


def _divide(capacities, points, origin, iterative, ties, report, clock):
    """Strength, owners, and owners after the rule for ties."""
    from . import contrast_owners, disputed

    flat = np.ravel_multi_index((points.seeds - origin).T, capacities.shape)
    span = RELATIVE - EVIDENCE
    levels, owners = contrast_owners.solve(
        capacities, flat, points.owners, lambda share: report(EVIDENCE + span * share)
    )
    clock.stop("relative")
    strength = strength_of(levels)
    strength.reshape(-1)[flat] = 1
    shared = owners
    if iterative or ties != "unlabelled":
        edges = contrast_owners.optimal_edges(capacities, levels, owners)
    if iterative:
        sides, look = contrast_owners.SIDES, lambda: report(RELATIVE)
        disputed.iterate(edges, sides, owners, look)
        clock.stop("iterative")
    if ties != "unlabelled":
        sides, look = contrast_owners.SIDES, lambda: report(ITERATED)
        shared, _ = disputed.share_by_steps(edges, sides, owners, look)
        clock.stop("ties")
    strength[owners == NOBODY] = 0
    return strength, owners, shared
