"""Compiled loop that follows the force from start points, step by step."""

from typing import Any, NamedTuple

import numpy as np

from FuzzyVesselCoreLib.jit.decorators import compiled, inlined
from FuzzyVesselCoreLib.voxels.growing_arrays import doubled

from ..field.tiles import MISSING
from .integrator import exponential_euler_step, step_workspace
from .spatial_point_index import NEAR, PointIndex, nearest_ahead
from .tiled_field import NO_CELL, TiledField, load_cell, state_at

CRITICAL_POINT, CURVE, STALL, MISSING_TILE = 0, 1, 2, 3  # how a curve ends
ON_CURVE, ON_NO_CURVE = 0, -1  # what an indexed point belongs to
MIN_STEP = 1e-4  # voxels: below it the force has no way out
LOOK_BACK = 32  # points in which a curve must get on by more than NEAR


class Curves(NamedTuple):
    """Curves that are followed in turn, and what is found of each.

    Attributes
    ----------
    starts : ndarray, (n, 3)
    owns : ndarray of int, (n,)
        The critical point that each leaves.
    lengths, endings : ndarray of int, (n,)
        Number of points, and how the curve ends.
    """

    starts: np.ndarray
    owns: np.ndarray
    lengths: np.ndarray
    endings: np.ndarray


@compiled
def follow_each(
    field: TiledField,
    index: PointIndex,
    tile: np.ndarray,
    curves: Curves,
    path: np.ndarray,
    done: int,
    travelled: float,
    longest: float,
) -> tuple[np.ndarray, int, float]:
    """Follow the force from each start; the curves' points lie one behind the other.

    Curves end at points of the index, not at one another. `curves.lengths` and `curves.endings` are
    set. Where a tile of the field is missing it returns with the curves that are `done`, and goes
    on when the tile was fetched.

    Returns
    -------
    path : ndarray, (m, 6)
        Points, and the step to try from each; the first number of it is NaN where there is none.
    done, travelled
        As they are now.
    """
    # Typed: numba compiles a version of each function for numbers that it knows.
    begin: Any = np.int64(0)
    for n in range(done):
        begin += curves.lengths[n]
    while done < len(curves.starts):
        if begin == len(path):
            path = doubled(path)
        if curves.lengths[done] == 0:
            for axis in range(3):
                path[begin, axis] = curves.starts[done, axis]
        path, curves.lengths[done], travelled, curves.endings[done] = follow(
            field, index, tile, path, begin, curves.lengths[done], travelled, longest,
            curves.owns[done],
        )  # fmt: skip
        if curves.endings[done] == MISSING_TILE:
            break
        begin += curves.lengths[done]
        done += 1
        travelled = 0.0
    return path, done, travelled


@compiled
def follow(
    field: TiledField,
    index: PointIndex,
    tile: np.ndarray,
    path: np.ndarray,
    begin: int,
    count: int,
    travelled: float,
    longest: float,
    own: int,
) -> tuple[np.ndarray, int, float, int]:
    """Follow the force from the last of a curve's `count` points.

    `path[begin]` is where the curve begins, also as long as it has no point. Where a tile of the
    field is missing the curve ends as `MISSING_TILE`, and goes on when the tile was fetched.

    Returns
    -------
    path, count, travelled
        Of the curve as it is now.
    ending : int
    """
    if count == 0:
        state = state_at(field, path[begin], tile)
        if state <= 0:
            return path, 0, travelled, STALL if state == 0 else MISSING_TILE
        count = 1
        path[begin, 3] = np.nan
    position, ahead, step = np.empty(3), np.empty(3), np.empty(3)
    for axis in range(3):
        position[axis] = path[begin + count - 1, axis]
    corners, within, low = np.empty((8, 3)), np.empty(3), np.empty(3, np.int64)
    workspace = step_workspace()
    while travelled < longest:
        following = begin + count
        if following == path.shape[0]:
            path = doubled(path)
        path[following, 3] = np.nan
        cell = load_cell(field, position, tile, low, within, corners)
        if cell == MISSING:
            return path, count, travelled, MISSING_TILE
        if cell == NO_CELL:
            break
        length = exponential_euler_step(corners, within, step, workspace)
        for axis in range(3):
            path[following - 1, 3 + axis] = step[axis]
        end = nearest_ahead(position, step, own, field.shape, index)
        if end >= 0:
            for axis in range(3):
                path[following, axis] = index.points[end, axis]
            on_curve = index.curve_of[end] == ON_CURVE
            return path, count + 1, travelled, CURVE if on_curve else CRITICAL_POINT
        if length < MIN_STEP:
            break
        for axis in range(3):
            ahead[axis] = position[axis] + step[axis]
        state = state_at(field, ahead, tile)
        if state == MISSING:
            return path, count, travelled, MISSING_TILE
        if state == 0:
            break
        for axis in range(3):
            position[axis] = path[following, axis] = ahead[axis]
        travelled += length
        count += 1
        if count > LOOK_BACK and goes_round(position, path[begin + count - LOOK_BACK]):
            break
    return path, count, travelled, STALL


@inlined
def goes_round(position: np.ndarray, earlier: np.ndarray) -> bool:
    """Whether a curve is still near an earlier point, as one that goes round and round a sink."""
    return squared_distance(position, earlier) < NEAR * NEAR


@inlined
def squared_distance(a: np.ndarray, b: np.ndarray) -> float:
    return (a[0] - b[0]) ** 2 + (a[1] - b[1]) ** 2 + (a[2] - b[2]) ** 2
