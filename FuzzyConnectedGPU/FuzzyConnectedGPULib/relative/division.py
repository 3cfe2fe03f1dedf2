"""Who has a voxel: iterative relative connectedness along optimal edges, and the nearest vessel.

Owners spread from the points along optimal edges (see `relative`), which the levels of all points
together tell: an edge of weight w from u is optimal for v where ``w >= L(v)`` and ``L(u) >= L(v)``.
"""

from typing import Any

import numpy as np
from numba import njit

from FuzzyVesselCoreLib.progress import Progress
from FuzzyVesselCoreLib.voxels.masks import bounding_box

from ..contrast.widest_paths import widest_paths
from ..problem import Problem
from ..solvers.dial import AffinityTables, affinity_tables, voxel_level
from .groups import DISPUTED, NOBODY

VOXELS_PER_CHECK = 1 << 16  # between two checks of the stop flag
# Steps along K, J, I to the neighbours.
SIDES_26 = np.array([step for step in np.ndindex(3, 3, 3) if step != (1, 1, 1)]) - 1
SIDES_6 = SIDES_26[np.abs(SIDES_26).sum(axis=1) == 1]
NOTHING = np.empty(0, np.float32)
NO_TABLES = AffinityTables(NOTHING, NOTHING, 0, NOTHING)


def owners_by_affinity(
    problem: Problem, levels: np.ndarray, points: np.ndarray, groups: np.ndarray, progress: Progress
) -> np.ndarray:
    """The owner (uint8, K, J, I) of each voxel by the levels of all points; see `_owners`."""
    tables = affinity_tables(problem)
    return _owners(levels, points, groups, SIDES_6, problem.voxels, tables, progress)


def owners_by_contrast(
    capacities: np.ndarray, points: np.ndarray, groups: np.ndarray, progress: Progress
) -> np.ndarray:
    """The same over 26 neighbours, where an edge has the lower one of its voxels' capacities.

    Capacities are of uint16; no path passes 0.
    """
    starts = np.stack(np.unravel_index(points, capacities.shape), axis=1)
    found = widest_paths(capacities.astype(np.float32), None, starts.tolist(), 256.0, 1)
    assert found is not None  # there is no limit
    levels = np.zeros(capacities.shape, np.uint16)
    levels.reshape(-1)[found.voxels] = found.levels
    return _owners(levels, points, groups, SIDES_26, capacities, NO_TABLES, progress)


def _owners(
    levels: np.ndarray, points: np.ndarray, groups: np.ndarray, sides: np.ndarray,
    voxels: np.ndarray, tables: AffinityTables, progress: Progress,
) -> np.ndarray:  # fmt: skip
    """The owners; `points` are flat indices, `groups` the group (uint8) of each."""
    owners, levels = np.zeros(levels.shape, np.uint8), levels.copy()
    owners.reshape(-1)[points], levels.reshape(-1)[points] = groups, 0
    flat = levels.reshape(-1), owners.reshape(-1), voxels.reshape(-1)
    progress.wait_for(_spread, *flat, points.astype(np.int64), levels.shape, sides, *tables)
    return owners


@njit(cache=True, nogil=True)
def _spread(
    levels: Any, owners: Any, voxels: Any, waiting: Any, shape: Any, sides: Any, sums: Any,
    differences: Any, lowest_sum: Any, coefficients: Any, stop: Any,
) -> None:  # fmt: skip
    """Spread the owners of the voxels that wait, the points, whose levels are 0 here.

    Owners only ever rise (nobody < group < disputed), so each voxel is processed twice at most, and
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
            owners[other] = owner if before == NOBODY else DISPUTED
            if count == waiting.size:
                waiting = np.concatenate((waiting, np.empty_like(waiting)))
            waiting[count] = other
            count += 1


def share_unowned(owners: np.ndarray, domain: np.ndarray) -> np.ndarray:
    """Give voxels of a domain that nobody has to the vessel that is the fewest steps away.

    Steps over 26 neighbours stay in the domain (bool, of the shape of `owners`). `DISPUTED` where
    two vessels are equally near; `NOBODY` outside of the domain, and where no vessel is reached.

    Examples
    --------
    >>> owners = np.array([[[1, 0, 0, 2, 0, 0]]], np.uint8)
    >>> domain = np.array([[[True, True, True, True, True, False]]])
    >>> share_unowned(owners, domain).tolist()
    [[[1, 1, 2, 2, 2, 0]]]
    """
    owners = np.where(domain, owners, NOBODY).astype(np.uint8)
    box = bounding_box(domain & (owners == NOBODY))
    if box is None:
        return owners
    box = tuple(slice(max(side.start - 1, 0), side.stop + 1) for side in box)
    part = np.pad(owners[box], 1)
    free = np.pad(domain[box], 1).ravel() & (part.ravel() == NOBODY)
    steps = SIDES_26 @ np.array([part.shape[1] * part.shape[2], part.shape[2], 1])
    near = np.where(part == DISPUTED, NOBODY, part).ravel()  # what was disputed does not spread
    at = np.flatnonzero(free)
    while at.size:  # those whose neighbours changed in the round before
        seen = near[at[:, np.newaxis] + steps]
        highest, lowest = seen.max(axis=1), np.where(seen, seen, DISPUTED).min(axis=1)
        found = highest > NOBODY
        reached, free[at[found]] = at[found], False
        near[reached] = np.where(lowest == highest, highest, DISPUTED)[found]
        part.reshape(-1)[reached] = near[reached]
        at = np.unique(reached[:, np.newaxis] + steps)
        at = at[free[at]]
    owners[box] = part[1:-1, 1:-1, 1:-1]
    return owners
