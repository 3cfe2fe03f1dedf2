"""Variants of the contrast model's paths, to compare with those in use.

In use are 26 neighbours and the weakest voxel. Here the neighbours may be 6, and the strength of a
step may be the mean contrast of its two voxels. Rules of clicks and evidence are the model's own.
"""

from collections.abc import Callable, Sequence
from dataclasses import fields
from typing import Any, NamedTuple

import numpy as np
from numba import njit

from FuzzyConnectedGPULib.contrast.evidence import evidence_finder
from FuzzyConnectedGPULib.contrast.evidence.evidence import Evidence
from FuzzyConnectedGPULib.contrast.paths.reached import STEPS, Reached
from FuzzyConnectedGPULib.contrast.paths.widest_paths import TOP
from FuzzyConnectedGPULib.solvers.cpu.level_queue import LEVEL, new_queue, pop, push


class _Problem(NamedTuple):
    """What the paths depend on; arrays are flat."""

    contrast: np.ndarray
    mask: np.ndarray  # uint8; empty where there is none
    fixed: np.ndarray  # uint8: 1 at starts and rivals
    starts: np.ndarray  # flat indices of starts and rivals
    own: np.ndarray  # uint8: 1 for starts, 0 for rivals
    shape: np.ndarray
    unit: float
    floor: int
    offsets: np.ndarray
    pair_mean: bool


def neighbour_offsets(count: int) -> np.ndarray:
    """Offsets (n, 3) of the 6 or 26 neighbours."""
    offsets = np.stack(np.meshgrid(*[[-1, 0, 1]] * 3, indexing="ij"), -1).reshape(-1, 3)
    near = np.abs(offsets).sum(axis=1)
    return offsets[(near > 0) & ((near == 1) | (count == 26))]


def path_levels(
    contrast: np.ndarray,
    inside: np.ndarray | None,
    starts: Sequence[Sequence[int]],
    unit: float,
    floor: int,
    rivals: np.ndarray | None = None,
    *,
    neighbours: int = 26,
    pair_mean: bool = False,
) -> np.ndarray:
    """Levels of all voxels by other neighbours or steps; parameters as of `widest_paths`.

    Parameters
    ----------
    rivals : ndarray of int, optional
        Flat indices of voxels of other objects.
    """
    shape = np.array(contrast.shape, np.int64)
    flat = np.array([np.ravel_multi_index(s, contrast.shape) for s in starts], np.int64)
    own = np.ones(flat.size, np.uint8)
    if rivals is not None and len(rivals):
        others = np.setdiff1d(rivals, flat)
        own = np.concatenate([own, np.zeros(others.size, np.uint8)])
        flat = np.concatenate([flat, others])
    mask = np.empty(0, np.uint8) if inside is None else inside.ravel()
    keys = np.zeros(contrast.size, np.uint32)
    offsets = neighbour_offsets(neighbours)
    # Each voxel is pushed at most once for each neighbour.
    queue = new_queue(
        2 * TOP + 1, contrast.size * (len(offsets) if pair_mean else 2), contrast.size
    )
    fixed = np.zeros(contrast.size, np.uint8)
    fixed[flat] = 1  # starts and rivals stay what they are
    problem = _Problem(
        contrast.ravel(), mask, fixed, flat, own, shape, float(unit), floor, offsets, pair_mean
    )
    _spread(problem, keys, *queue)
    levels = np.where(keys & 1, keys >> 1, 0).astype(np.uint16)
    return levels.reshape(contrast.shape)


def variant_finder(**variant: Any) -> Callable[..., Evidence]:
    """`vessel_evidence` whose paths are a variant, for `contrast_connectedness`."""

    class Variant(Evidence):
        def widest_paths(self, starts, unit, floor, brighter=None, gpu=None):
            rivals = None if brighter is None else np.flatnonzero(self.smooth > brighter)
            problem = self.contrast, self.inside, starts, unit, floor, rivals
            levels = path_levels(*problem, **variant).ravel()
            voxels = np.flatnonzero(levels)
            return Reached(voxels, levels[voxels], self.contrast.ravel()[voxels])

    def find(*arguments: Any) -> Evidence:
        found = evidence_finder()(*arguments)
        return Variant(**{entry.name: getattr(found, entry.name) for entry in fields(found)})

    return find


@njit(cache=True)
def _level(value, unit):
    level = np.floor(np.float64(value) / unit * STEPS)
    return np.int64(min(max(level, 0.0), np.float64(TOP)))


@njit(cache=True)
def _spread(problem, keys, heads, pool, state):
    """Key of a voxel: twice the level, and 1 where the paths of the starts have it."""
    contrast, mask, fixed, starts, own, shape, unit, floor, offsets, pair_mean = problem
    state[LEVEL] = 0
    for n in range(starts.size):
        voxel = starts[n]
        level = _level(contrast[voxel], unit)
        if level >= floor and (mask.size == 0 or mask[voxel]):
            keys[voxel] = 2 * level + own[n]
            push(keys[voxel], voxel, heads, pool, state)
            state[LEVEL] = max(state[LEVEL], keys[voxel])
    plane, row = shape[1] * shape[2], shape[2]
    while state[LEVEL] >= 2 * floor:
        voxel = pop(state[LEVEL], heads, pool, state)
        if voxel < 0:
            state[LEVEL] -= 1
            continue
        if keys[voxel] != state[LEVEL]:
            continue
        top, mine = keys[voxel] >> 1, keys[voxel] & 1
        k, j, i = voxel // plane, voxel // row % shape[1], voxel % row
        for n in range(offsets.shape[0]):
            a, b, c = k + offsets[n, 0], j + offsets[n, 1], i + offsets[n, 2]
            if not (0 <= a < shape[0] and 0 <= b < shape[1] and 0 <= c < shape[2]):
                continue
            other = a * plane + b * row + c
            if fixed[other] or (mask.size and not mask[other]):
                continue
            value = contrast[other]
            if pair_mean:
                value = (contrast[voxel] + value) / 2
            level = min(_level(value, unit), np.int64(top))
            key = 2 * level + mine
            if level >= floor and level > keys[other] >> 1:  # who comes first keeps it
                keys[other] = key
                push(key, other, heads, pool, state)
