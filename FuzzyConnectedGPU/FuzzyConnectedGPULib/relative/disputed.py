"""Disputed voxels on the CPU: iterative relative connectedness, and the rule for ties.

Both go out from the voxels that a group has, along optimal edges, into disputed voxels only.
"""

import numpy as np
from numba import njit

from FuzzyVesselCommon.progress import ask_while

from ..solvers.neighbours import neighbour, neighbour_count
from ..solvers.voxel_affinity import voxel_level
from .groups import DISPUTED, NOBODY

VOXELS_A_LOOK = 1 << 16  # between two looks at whether to stop


def iterate(problem, levels, owners, look):
    """From relative to iterative relative connectedness, in place.

    Parameters
    ----------
    problem : Problem
    levels, owners : ndarray, shape (K, J, I), uint16 and uint8
        By relative connectedness; see `owners_by_blocks.solve`.
    look : callable
        Called from time to time; raises to cancel.

    Returns
    -------
    peak_bytes : int
    """
    work = _Work(problem, levels, owners)
    found = np.zeros(owners.size, np.uint8)
    waiting = np.zeros(owners.size, np.uint8)
    ask_while(look, _spread, *work.volume, found, work.list, waiting)
    np.copyto(work.owners, found, where=work.owners == DISPUTED)
    return found.nbytes + waiting.nbytes + work.list.nbytes


def share_by_steps(problem, levels, owners, look):
    """Give disputed voxels to the group that is the fewest steps away.

    Parameters
    ----------
    problem, levels, owners, look
        As in `iterate`; the owners are left as they are.

    Returns
    -------
    shared : ndarray, shape (K, J, I), uint8
        `DISPUTED` where two groups are equally near.
    peak_bytes : int
    """
    work = _Work(problem, levels, owners)
    shared = np.zeros(owners.size, np.uint8)
    ask_while(look, _share, *work.volume, shared, work.list)
    np.copyto(shared, work.owners, where=work.owners != DISPUTED)
    return shared.reshape(owners.shape), shared.nbytes + work.list.nbytes


class _Work:
    """What the compiled code reads, and room for a list of the disputed voxels."""

    def __init__(self, problem, levels, owners):
        self.owners = owners.reshape(-1)
        self.volume = (
            problem.voxels.reshape(-1), np.array(owners.shape), *problem.tables,
            problem.affinity.coefficients(), levels.reshape(-1), self.owners,
        )  # fmt: skip
        index = np.int32 if owners.size < 2**31 else np.int64
        self.list = np.empty(np.count_nonzero(self.owners == DISPUTED), index)


@njit(cache=True, nogil=True)
def joined(one, other):
    """The owner of what both owners reach."""
    if one == NOBODY or one == other:
        return other
    return one if other == NOBODY else DISPUTED


@njit(cache=True, nogil=True)
def is_optimal(
    first, voxel, voxels, sum_table, difference_table, lowest_sum, coefficients, levels
):  # fmt: skip
    """Whether the edge from `first` is one by which `voxel` gets its level."""
    level = levels[voxel]
    if levels[first] < level:
        return False
    return level <= voxel_level(
        voxels[first], voxels[voxel], sum_table, difference_table, lowest_sum, coefficients
    )


@njit(cache=True, nogil=True)
def owner_round(
    voxel, voxels, shape, sum_table, difference_table, lowest_sum, coefficients, levels, owners
):  # fmt: skip
    """What the neighbours that groups have give a disputed voxel."""
    owner = NOBODY
    for side in range(neighbour_count):
        other = neighbour(voxel, side, shape)
        if other < 0 or owners[other] == NOBODY or owners[other] == DISPUTED:
            continue
        if is_optimal(
            other, voxel, voxels, sum_table, difference_table, lowest_sum, coefficients, levels
        ):
            owner = joined(owner, owners[other])
    return owner


@njit(cache=True, nogil=True)
def _spread(
    voxels, shape, sum_table, difference_table, lowest_sum, coefficients, levels, owners,
    found, ring, waiting, stop,
):  # fmt: skip
    # The least solution: owners only ever rise (nobody < group < several), so each voxel is
    # followed twice at most, in any order.
    head, length = 0, 0
    for voxel in range(owners.size):
        if owners[voxel] == DISPUTED:
            found[voxel] = owner_round(
                voxel, voxels, shape, sum_table, difference_table, lowest_sum, coefficients,
                levels, owners,
            )  # fmt: skip
            if found[voxel] != NOBODY:
                ring[length] = voxel
                length += 1
                waiting[voxel] = 1
    done = 0
    while length and not (done % VOXELS_A_LOOK == 0 and stop[0]):
        done += 1
        voxel = np.int64(ring[head])
        head = head + 1 if head + 1 < ring.size else 0
        length -= 1
        waiting[voxel] = 0
        for side in range(neighbour_count):
            other = neighbour(voxel, side, shape)
            if other < 0 or owners[other] != DISPUTED:
                continue
            owner = joined(found[other], found[voxel])
            if owner == found[other] or not is_optimal(
                voxel, other, voxels, sum_table, difference_table, lowest_sum, coefficients, levels
            ):
                continue
            found[other] = owner
            if not waiting[other]:
                ring[(head + length) % ring.size] = other
                length += 1
                waiting[other] = 1


@njit(cache=True, nogil=True)
def _share(
    voxels, shape, sum_table, difference_table, lowest_sum, coefficients, levels, owners,
    shared, reached, stop,
):  # fmt: skip
    # Breadth first: the voxels reached[begin:end] are as many steps away, and those behind them
    # one more. What is in `shared` before a round is not changed by it.
    count = 0
    for voxel in range(owners.size):
        if owners[voxel] == DISPUTED:
            shared[voxel] = owner_round(
                voxel, voxels, shape, sum_table, difference_table, lowest_sum, coefficients,
                levels, owners,
            )  # fmt: skip
            if shared[voxel] != NOBODY:
                reached[count] = voxel
                count += 1
    begin = 0
    settled = np.zeros(owners.size, np.uint8)
    while begin < count and not stop[0]:
        end = count
        for n in range(begin, end):
            settled[reached[n]] = 1
        for n in range(begin, end):
            voxel = np.int64(reached[n])
            for side in range(neighbour_count):
                other = neighbour(voxel, side, shape)
                if other < 0 or owners[other] != DISPUTED or settled[other]:
                    continue
                if not is_optimal(
                    voxel, other, voxels, sum_table, difference_table, lowest_sum, coefficients,
                    levels,
                ):  # fmt: skip
                    continue
                if shared[other] == NOBODY:
                    reached[count] = other
                    count += 1
                shared[other] = joined(shared[other], shared[voxel])
        begin = end
