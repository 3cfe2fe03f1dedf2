"""A fuzzy scene divided among the vessels whose points it was computed from; see `relative`."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from FuzzyVesselCoreLib.progress import Progress
from FuzzyVesselCoreLib.voxels.masks import bounding_box

from ..fuzzy_connectedness import SolverOptions, solve_problem
from ..input_validation import checked_mask, checked_spacing, checked_volume
from ..problem import state_problem
from .division import owners_by_affinity, owners_by_contrast, share_unowned
from .groups import BACKGROUND, BACKGROUND_NAME, DISPUTED, background_inside

STEPS = 256  # levels of a contrast of one deviation of the noise


def owners_of_scene(
    volume: np.ndarray,
    found: Any,
    vessels: Mapping[str, np.ndarray],
    options: Any,
    cached: Any,
    *,
    spacing: Any,
    mask: Any,
    background_seeds: Any,
    progress: Progress,
) -> np.ndarray:
    """The division of a scene among vessels; arguments as of `segmentation.segment`.

    Returns uint8 of the volume's shape: 0, the number of a vessel, `BACKGROUND` or `DISPUTED`.
    """
    shape, solid = np.shape(volume), (1,) * (3 - np.ndim(volume)) + np.shape(volume)
    scene, region = found.scene.values.reshape(solid), checked_mask(mask, solid)
    clicked = {name: each for name, each in vessels.items() if len(each)}
    numbers = np.arange(DISPUTED + 1, dtype=np.uint8)
    numbers[1 : len(clicked) + 1] = [n for n, each in enumerate(vessels.values(), 1) if len(each)]
    if len(clicked) == 1:
        return numbers[(scene > 0).astype(np.uint8)].reshape(shape)
    background = background_inside(background_seeds, solid, region)
    if len(background):
        numbers[len(clicked) + 1] = BACKGROUND
    if found.contrast is not None:
        mapped = cached.on_host
        if mapped is None:  # the device's memory was needed for something else
            unit, first = checked_spacing(spacing, solid[0]), next(iter(clicked.values()))[0]
            from ..contrast.contrast_map import contrast_map

            mapped = contrast_map(checked_volume(volume), unit.tolist(), first, region, progress)
        owners = divide_by_contrast(mapped, scene, clicked, progress, background)
    else:
        if len(background):
            clicked[BACKGROUND_NAME] = background
        points, groups = _numbered(clicked)
        problem = state_problem(volume, points, found.affinity, options.cut or 0.0, region)
        levels = solve_problem(problem, SolverOptions(device="cpu"), progress)[0].levels
        flat = np.ravel_multi_index(points.T, solid)
        owners = owners_by_affinity(problem, levels, flat, groups, progress)
        owners = share_unowned(owners, scene > 0)
    if (numbers != np.arange(numbers.size)).any():
        owners = numbers[owners]
    return owners.reshape(shape)


def divide_by_contrast(
    mapped: Any,
    scene: np.ndarray,
    vessels: Mapping[str, Any],
    progress: Progress,
    background: np.ndarray | None = None,
) -> np.ndarray:
    """The vessel of each voxel that a scene of the contrast model reaches: uint8 (K, J, I).

    `mapped` is the contrast map in host memory that the scene was computed from, `vessels` points
    (n, 3) by name, in the map's box; no path leaves the scene's voxels above 0. The background is
    one more group, after the vessels: only where it is clicked, and not the vessel beside. Returns
    `NOBODY`, the number of a group from 1 on, or `DISPUTED`.
    """
    groups = with_middles(mapped, vessels, background)
    owners = np.zeros(scene.shape, np.uint8)
    points, numbers = _numbered(groups)
    inside = scene > 0
    inside[tuple(points.T)] = True  # background points, where the scene is 0
    reached = inside[mapped.box]
    if mapped.inside is not None:
        reached &= mapped.inside > 0
    inner = bounding_box(reached)
    if inner is None:
        return owners
    # The middle of a vessel may lie outside the mask, and so outside the box.
    within = reached[tuple((points - mapped.origin).T)]
    points, numbers = points[within] - mapped.origin, numbers[within]
    points -= [side.start for side in inner]
    reached = reached[inner]
    capacities = np.zeros(reached.shape, np.uint16)
    capacities[reached] = steps_of_noise(mapped.contrast[inner][reached], mapped.noise)
    flat = np.ravel_multi_index(points.T, capacities.shape)
    found = owners_by_contrast(capacities, flat, numbers, progress)
    box = tuple(slice(a.start + b.start, a.start + b.stop) for a, b in zip(mapped.box, inner))
    owners[box] = share_unowned(found, reached)
    return owners


def _numbered(groups: Mapping[str, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """All points (n, 3) of groups, and the number (uint8, from 1 on) of each one's group."""
    sizes = [len(each) for each in groups.values()]
    numbers = np.repeat(np.arange(1, len(groups) + 1, dtype=np.uint8), sizes)
    return np.concatenate(list(groups.values())), numbers


def steps_of_noise(contrast: np.ndarray, noise: float) -> np.ndarray:
    """Levels (uint16) of contrasts in steps of the noise."""
    steps = np.floor(contrast / np.float32(noise) * np.float32(STEPS))
    return np.clip(steps, 0, np.iinfo(np.uint16).max).astype(np.uint16)


def with_middles(
    mapped: Any, vessels: Mapping[str, Any], background: np.ndarray | None = None
) -> dict[str, np.ndarray]:
    """The points (n, 3) of vessels, and the middle of the vessel near each; background points last.

    A click beside the middle of a vessel has little contrast itself, and would limit all its paths.
    A middle that two vessels claim, or a point of another group, counts for none.
    """
    found: dict[str, list[tuple]] = {}
    claims: dict[tuple, set[str]] = {}
    for name, points in vessels.items():
        found[name] = list(map(tuple, np.reshape(points, (-1, 3)).tolist()))
        for voxel in found[name]:
            place = tuple((np.array(voxel) - mapped.origin).tolist())
            middle = np.array(mapped.middle_near(place)[1]) + mapped.origin
            for each in (voxel, tuple(middle.tolist())):
                claims.setdefault(each, set()).add(name)
    if background is not None and len(background):
        found[BACKGROUND_NAME] = list(map(tuple, background.tolist()))
        for voxel in found[BACKGROUND_NAME]:
            claims.setdefault(voxel, set()).add(BACKGROUND_NAME)
    for voxel, names in claims.items():
        if len(names) == 1:
            found[names.pop()].append(voxel)
    return {name: np.array(list(dict.fromkeys(each))) for name, each in found.items()}
