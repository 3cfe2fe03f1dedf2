"""Voxels of a skeleton that could go: beside it instead of ending it."""

import numpy as np

from FuzzyVesselCoreLib.jit.decorators import compiled, compiled_inside
from FuzzyVesselCoreLib.voxels.topology.simple_points import is_simple, neighbour_bits

from .thinning import FLAG, KEPT, OBJECT, empty_states


def trim(
    skeleton: np.ndarray,
    stays: np.ndarray,
    shape: tuple[int, ...],
    states: np.ndarray | None = None,
) -> np.ndarray:
    """Remove kept voxels that lie beside a skeleton instead of ending it, until none is left.

    Parameters
    ----------
    skeleton : ndarray of int
        From `thin`.
    stays : ndarray of int
        Flat indices of voxels that may not go.
    shape, states
        As for `thin`.

    Returns
    -------
    ndarray of int
        Flat indices, ascending, of what is left.
    """
    states = empty_states(shape) if states is None else states
    states[skeleton] = OBJECT
    states[stays] |= KEPT
    voxels = skeleton[states[skeleton] == OBJECT]
    states[stays] &= ~np.uint8(KEPT)
    while remove_redundant(states, voxels, shape[2], shape[1] * shape[2]):
        pass
    left = skeleton[states[skeleton] != 0]
    states[skeleton] = 0
    return left


def removable(
    skeleton: np.ndarray, shape: tuple[int, ...], states: np.ndarray | None = None
) -> np.ndarray:
    """Voxels of a skeleton that could go without a change of topology, and are no ends.

    Parameters
    ----------
    skeleton : ndarray of int
        Flat indices of voxels off the array's border.
    shape, states
        As for `thin`.

    Returns
    -------
    ndarray of int
        Flat indices, in their order.
    """
    states = empty_states(shape) if states is None else states
    states[skeleton] = OBJECT
    found = skeleton[are_redundant(states, skeleton, shape[2], shape[1] * shape[2])]
    states[skeleton] = 0
    return found


@compiled
def remove_redundant(states: np.ndarray, voxels: np.ndarray, row: int, plane: int) -> bool:
    """Remove what can go, one after the other; whether there was anything."""
    found = False
    for voxel in voxels:
        if states[voxel] and is_redundant(states, voxel, row, plane):
            states[voxel] = 0
            found = True
    return found


@compiled
def are_redundant(states: np.ndarray, voxels: np.ndarray, row: int, plane: int) -> np.ndarray:
    return np.array([is_redundant(states, voxel, row, plane) for voxel in voxels], np.bool_)


@compiled_inside
def is_redundant(states: np.ndarray, voxel: int, row: int, plane: int) -> bool:
    """Whether a voxel is simple and has more than one neighbour."""
    bits = neighbour_bits(states, voxel, row, plane, FLAG)
    return bits & (bits - 1) != 0 and is_simple(int(bits))
