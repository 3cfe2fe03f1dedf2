"""A force field in tiles, as compiled code reads it."""

from typing import NamedTuple

import numpy as np

from FuzzyVesselCoreLib.jit.decorators import compiled_inside

from ..critical_points.sign_changes import load_corners
from ..field.tiles import MISSING

LOADED, NO_CELL = 0, 1  # besides MISSING


class TiledField(NamedTuple):
    """Arrays of the `Tiles` of a field: forces, where curves may run, and where each tile is."""

    forces: np.ndarray
    free: np.ndarray
    numbers: np.ndarray
    side: int
    shape: tuple[int, ...]


@compiled_inside
def state_at(field: TiledField, position: np.ndarray, tile: np.ndarray) -> int | np.int64:
    """State of the voxel nearest to a position; `MISSING` and its tile if that was not fetched."""
    k, j, i = round(position[0]), round(position[1]), round(position[2])
    shape, side = field.shape, field.side
    if not (0 <= k < shape[0] and 0 <= j < shape[1] and 0 <= i < shape[2]):
        return 0
    tile[0], tile[1], tile[2] = k >> side, j >> side, i >> side
    number = field.numbers[tile[0], tile[1], tile[2]]
    if number == MISSING:
        return MISSING
    last = (1 << side) - 1
    return np.int64(field.free[number, k & last, j & last, i & last])


@compiled_inside
def load_cell(
    field: TiledField,
    position: np.ndarray,
    tile: np.ndarray,
    low: np.ndarray,
    within: np.ndarray,
    corners: np.ndarray,
) -> int:
    """Load the forces at the corners of the cell round a position; set where `within` it that is.

    Returns `NO_CELL` where there is no cell, `MISSING` where it was not fetched, else `LOADED`.
    """
    for axis in range(3):
        low[axis] = np.floor(position[axis])
        within[axis] = position[axis] - low[axis]
        if not 0 <= low[axis] < field.shape[axis] - 1:
            return NO_CELL
        tile[axis] = low[axis] >> field.side
    number = field.numbers[tile[0], tile[1], tile[2]]
    if number == MISSING:
        return MISSING
    last = (1 << field.side) - 1
    load_corners(field.forces[number], low[0] & last, low[1] & last, low[2] & last, corners)
    return LOADED
