"""Homotopic peeling: an object loses simple points round by round, many at a time.

Voxels whose indices have the same parities are not adjacent: of one of these eight subfields all
simple points (26,6) can go at once, and the topology stays (Bertrand and Aktouf 1994). Since the
order within a subfield does not matter, CUDA's threads (`cuda_peeling`) leave the same voxels.
"""

import numpy as np

from FuzzyVesselCoreLib.jit.decorators import compiled, compiled_inside
from FuzzyVesselCoreLib.progress import Progress
from FuzzyVesselCoreLib.voxels.topology.simple_points import is_simple, neighbour_bits

from .thinning import FLAG, KEPT, OBJECT, WAITING, empty_states, neighbour_offsets

ADMITTED = 8  # state of voxels that may go, beside those of thinning
ROUNDS_PER_VOXEL = 8  # with fewer, voxels go further from the order


def peel(
    voxels: np.ndarray,
    order: np.ndarray,
    stays: np.ndarray,
    step: float,
    shape: tuple[int, ...],
    progress: Progress,
) -> np.ndarray:
    """Peel an object until no voxel but those that stay could go.

    In each round all subfields are gone through once. A voxel may go from round ``order / step``
    on, so that voxels go about in ascending order.

    Parameters
    ----------
    voxels : ndarray of int, (n,)
        Flat indices, ascending, of the object, which must not touch the array's border.
    order : ndarray of float32, (n,)
        How central each voxel is.
    stays : ndarray of int
        Flat indices of voxels of the object that may not go.
    step : float
        From `rounds_step`.
    shape : 3 ints K, J, I
        Of the array.
    progress : Progress
        Checked after each round.

    Returns
    -------
    ndarray of int
        Flat indices, ascending.
    """
    states = empty_states(shape)
    row, plane = shape[2], shape[1] * shape[2]
    rounds = (order / np.float32(step)).astype(np.int32)
    ends = np.cumsum(np.bincount(rounds))
    by_round = voxels[np.argsort(rounds, kind="stable")]
    states[voxels] = OBJECT
    states[stays] |= KEPT
    starts = subfield_starts(voxels, row, plane)
    waiting = np.empty(len(voxels), voxels.dtype), starts, np.zeros(8, np.int64)
    progress.check()
    number, first, is_done = 0, 0, False
    while not is_done:
        last = ends[min(number, len(ends) - 1)]
        admit(states, by_round[first:last], row, plane, waiting)
        gone = peel_subfields(states, row, plane, waiting)
        number, first = number + 1, last
        is_done = number >= len(ends) and not gone
        progress.check()
    return voxels[states[voxels] != 0]


def rounds_step(spacing: tuple[float, ...]) -> float:
    """By how much the order of the voxels that may go rises from round to round."""
    return min(spacing) / ROUNDS_PER_VOXEL


@compiled_inside
def subfield_of(voxel: int, row: int, plane: int) -> int:
    return (voxel // plane & 1) << 2 | (voxel % plane // row & 1) << 1 | (voxel % row & 1)


@compiled
def subfield_starts(voxels: np.ndarray, row: int, plane: int) -> np.ndarray:
    """Where each subfield begins in a list of all voxels sorted by subfield."""
    starts = np.zeros(9, np.int64)
    for voxel in voxels:
        starts[subfield_of(voxel, row, plane) + 1] += 1
    return np.cumsum(starts)[:8]


@compiled
def admit(states: np.ndarray, voxels: np.ndarray, row: int, plane: int, waiting: tuple) -> None:
    """Let voxels go from now on. Those with an outside voxel at one of their faces wait for it."""
    for voxel in voxels:
        states[voxel] |= ADMITTED
        if states[voxel] == OBJECT | ADMITTED and not (
            states[voxel - 1] & states[voxel + 1] & states[voxel - row] & states[voxel + row]
            & states[voxel - plane] & states[voxel + plane] & OBJECT
        ):  # fmt: skip
            wait(states, voxel, row, plane, waiting)


@compiled_inside
def wait(states: np.ndarray, voxel: int, row: int, plane: int, waiting: tuple) -> None:
    """Have a voxel tried when its subfield is gone through next."""
    voxels, starts, counts = waiting
    subfield = subfield_of(voxel, row, plane)
    states[voxel] |= WAITING
    voxels[starts[subfield] + counts[subfield]] = voxel
    counts[subfield] += 1


@compiled
def peel_subfields(states: np.ndarray, row: int, plane: int, waiting: tuple) -> bool:
    """Try what waits in each subfield; around what goes all others wait. Whether any went."""
    voxels, starts, counts = waiting
    offsets = neighbour_offsets(row, plane)
    gone = False
    for subfield in range(8):
        count, counts[subfield] = counts[subfield], 0
        for n in range(starts[subfield], starts[subfield] + count):
            voxel = voxels[n]
            states[voxel] &= ~np.uint8(WAITING)
            bits = neighbour_bits(states, voxel, row, plane, FLAG)
            if not is_simple(int(bits)):
                continue
            states[voxel] = 0
            gone = True
            for side in range(27):
                if bits >> side & 1 and states[voxel + offsets[side]] == OBJECT | ADMITTED:
                    wait(states, voxel + offsets[side], row, plane, waiting)
    return gone
