"""Several vessels: a scene divided among them.

Owners spread from the points along optimal edges (see `relative`), which the levels of all points
together tell: an edge of weight w from u is optimal for v where ``w >= L(v)`` and ``L(u) >= L(v)``.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numba import njit

from FuzzyVesselCoreLib.progress import Progress
from FuzzyVesselCoreLib.voxels.masks import bounding_box

from ..contrast.clicks import ridge_near
from ..contrast.widest_paths import levels_of_paths
from ..fuzzy_connectedness import SolverOptions, solve_problem
from ..input_validation import checked_background, checked_mask, volume_shape
from ..problem import Problem, state_problem
from ..solvers.dial import AffinityTables, affinity_tables, voxel_level
from .vessels import BACKGROUND, DISPUTED, SIDES_26, UNOWNED, share_unowned

VOXELS_PER_CHECK = 1 << 16  # between two checks of the stop flag
SIDES_6 = SIDES_26[np.abs(SIDES_26).sum(axis=1) == 1]
NOTHING = np.empty(0, np.float32)
NO_TABLES = AffinityTables(NOTHING, NOTHING, 0, NOTHING)


def owners_by_affinity(
    problem: Problem, levels: np.ndarray, points: np.ndarray, groups: np.ndarray, progress: Progress
) -> np.ndarray:
    """The owner (uint8, K, J, I) of each voxel by the levels of all points; see `_owners`."""
    tables = affinity_tables(problem)
    return _owners(levels, points, groups, SIDES_6, problem.voxels, tables, progress)


def _owners(
    levels: np.ndarray, points: np.ndarray, groups: np.ndarray, sides: np.ndarray,
    voxels: np.ndarray, tables: AffinityTables, progress: Progress,
) -> np.ndarray:  # fmt: skip
    """The owners; `points` are flat indices, `groups` the group (uint8) of each.

    Without tables an edge has the lower one of its voxels' levels.
    """
    owners, levels = np.zeros(levels.shape, np.uint8), levels.copy()
    owners.reshape(-1)[points], levels.reshape(-1)[points] = groups, 0
    progress.wait_for(
        _claim, levels.reshape(-1), owners.reshape(-1), voxels.reshape(-1),
        points.astype(np.int64), levels.shape, sides, *tables,
    )  # fmt: skip
    return owners


@njit(cache=True, nogil=True)
def _claim(
    levels: Any, owners: Any, voxels: Any, waiting: Any, shape: Any, sides: Any, sums: Any,
    differences: Any, lowest_sum: Any, coefficients: Any, stop: Any,
) -> None:  # fmt: skip
    """Spread the owners of the voxels that wait, the points, whose levels are 0 here.

    Owners only ever rise (none < group < disputed), so each voxel is processed twice at most, and
    every order ends in the same least solution. Adjacent voxels are processed together.
    """
    count, done = waiting.size, 0
    plane, row = shape[1] * shape[2], shape[2]
    while count and not (done % VOXELS_PER_CHECK == 0 and stop[0]):
        done += 1
        count -= 1
        voxel = waiting[count]
        owner, own_level = owners[voxel], levels[voxel]
        k, j, i = voxel // plane, voxel // row % shape[1], voxel % row
        for side in range(len(sides)):
            ok, oj, oi = k + sides[side, 0], j + sides[side, 1], i + sides[side, 2]
            if not (0 <= ok < shape[0] and 0 <= oj < shape[1] and 0 <= oi < shape[2]):
                continue
            other = ok * plane + oj * row + oi
            level, before = levels[other], owners[other]
            if level == 0 or before == owner:
                continue
            if before == DISPUTED or level > own_level > 0:
                continue
            weight = np.int64(voxels[voxel])
            if coefficients.size:
                weight = voxel_level(
                    voxels[voxel], voxels[other], sums, differences, lowest_sum, coefficients
                )
            if weight < level:
                continue
            owners[other] = owner if before == UNOWNED else DISPUTED
            if count == waiting.size:
                waiting = np.concatenate((waiting, np.empty_like(waiting)))
            waiting[count] = other
            count += 1


# ---- A fuzzy scene divided among the vessels whose points it was computed from; see `relative`

NOISE_LEVEL = 256  # of a contrast of one deviation of the noise


def owners_of_scene(
    volume: np.ndarray,
    fuzzy_scene: Any,
    mapped: Any,
    affinity: Any,
    vessels: Mapping[str, np.ndarray],
    options: Any,
    *,
    mask: Any,
    background_seeds: Any,
    progress: Progress,
) -> np.ndarray:
    """The division of a fuzzy scene among vessels; arguments as of `segmentation.segment`.

    The scene comes from a contrast map (`mapped`), or else from an affinity. Returns uint8 of the
    volume's shape: 0, the number of a vessel, `BACKGROUND` or `DISPUTED`.
    """
    shape = volume_shape(np.shape(volume))
    scene, mask = fuzzy_scene.values.reshape(shape), checked_mask(mask, shape)
    clicked = [n for n, points in enumerate(vessels.values(), 1) if len(points)]
    if len(clicked) == 1:
        return (fuzzy_scene.values > 0) * np.uint8(clicked[0])
    background = checked_background(background_seeds, shape)
    if mask is not None:
        background = background[mask[tuple(background.T)] > 0]
    groups: dict[Any, np.ndarray] = {**vessels, BACKGROUND: background}
    if mapped is not None:
        owners = divide_by_contrast(mapped.to_host(), scene, groups, progress)
    else:
        points, numbers = _numbered(groups)
        problem = state_problem(volume, points, affinity, options.cut or 0.0, mask)
        levels = solve_problem(problem, SolverOptions(device="cpu"), progress)[0].levels
        flat = np.ravel_multi_index(points.T, shape)
        owners = owners_by_affinity(problem, levels, flat, numbers, progress)
        owners = share_unowned(owners, scene > 0)
    return owners.reshape(np.shape(volume))


def divide_by_contrast(
    mapped: Any, scene: np.ndarray, groups: Mapping[Any, Any], progress: Progress
) -> np.ndarray:
    """The vessel of each voxel that a scene of the contrast model reaches: uint8 (K, J, I).

    `mapped` is the contrast map in host memory that the scene was computed from, `groups` points
    (n, 3) in its box by the vessels' names; no path leaves the scene's voxels above 0. Points of
    the group `BACKGROUND` stand for themselves, not for the vessel beside them. Returns
    `UNOWNED`, the number of a vessel from 1 on, `BACKGROUND`, or `DISPUTED`.
    """
    owners = np.zeros(scene.shape, np.uint8)
    points, numbers = _numbered(with_middles(mapped, groups))
    reached = scene > 0
    reached[tuple(points.T)] = True  # background points, where the scene is 0
    reached = reached[mapped.box]
    if mapped.mask is not None:
        reached &= mapped.mask > 0
    inner = bounding_box(reached)
    if inner is None:
        return owners
    # The middle of a vessel may lie outside the mask, and so outside the box.
    in_reached = reached[tuple((points - mapped.offset).T)]
    points, numbers = points[in_reached] - mapped.offset, numbers[in_reached]
    points -= [side.start for side in inner]
    reached = reached[inner]
    capacities = np.zeros(reached.shape, np.uint16)
    capacities[reached] = levels_of_contrast(mapped.contrast[inner][reached], mapped.noise)
    flat = np.ravel_multi_index(points.T, capacities.shape)
    levels = levels_of_paths(capacities, flat)
    found = _owners(levels, flat, numbers, SIDES_26, capacities, NO_TABLES, progress)
    box = tuple(slice(a.start + b.start, a.start + b.stop) for a, b in zip(mapped.box, inner))
    owners[box] = share_unowned(found, reached)
    return owners


def _numbered(groups: Mapping[Any, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """All points (n, 3) of groups, and the number (uint8) of each one's group, as an owner."""
    numbers = [BACKGROUND if name == BACKGROUND else n for n, name in enumerate(groups, 1)]
    sizes = [len(each) for each in groups.values()]
    return np.concatenate(list(groups.values())), np.repeat(np.array(numbers, np.uint8), sizes)


def levels_of_contrast(contrast: np.ndarray, noise: float) -> np.ndarray:
    """Levels (uint16) of contrasts, proportional to them."""
    levels = np.floor(contrast / np.float32(noise) * np.float32(NOISE_LEVEL))
    return np.clip(levels, 0, np.iinfo(np.uint16).max).astype(np.uint16)


def with_middles(mapped: Any, groups: Mapping[Any, Any]) -> dict[Any, np.ndarray]:
    """The points (n, 3) of groups, and the middle of the vessel near each.

    A click beside the middle of a vessel has little contrast itself, and would limit all its paths.
    A middle that two groups claim, or a point of another group, counts for none.
    """
    found: dict[Any, list[tuple]] = {}
    claims: dict[tuple, set[Any]] = {}
    for name, points in groups.items():
        found[name] = list(map(tuple, np.reshape(points, (-1, 3)).tolist()))
        for voxel in found[name]:
            claims.setdefault(voxel, set()).add(name)
            if name != BACKGROUND:
                place = tuple((np.array(voxel) - mapped.offset).tolist())
                middle = ridge_near(mapped.contrast, place, mapped.spacing)[1] + mapped.offset
                claims.setdefault(tuple(middle.tolist()), set()).add(name)
    for voxel, names in claims.items():
        if len(names) == 1:
            found[names.pop()].append(voxel)
    return {
        name: np.array(list(dict.fromkeys(each)), np.int64).reshape(-1, 3)
        for name, each in found.items()
    }
