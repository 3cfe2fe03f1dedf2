"""Homotopic thinning, growing and peeling: only simple points (26,6) go or come.

So the result has the object's components and tunnels, whatever must stay. It is thin, as thinning
ends when no other point is simple. Voxels are flat indices, ascending, off the array's border.
`states` (uint8, K, J, I) are the volume's, 0 before and after each step, so that all steps can use
the same array.
"""

from functools import cached_property, partial
from heapq import heappop, heappush
from typing import Any

import numpy as np

from FuzzyVesselCoreLib.jit import compiled, compiled_inside
from FuzzyVesselCoreLib.progress import Progress, in_parts
from FuzzyVesselCoreLib.voxels.topology import is_simple, neighbour_bits

OBJECT, WAITING, KEPT, OFFERED = 1, 2, 4, 8  # states of voxels
FLAG: Any = np.int64(OBJECT)  # numba compiles another version for the plain number
KEY_STEPS = 1 << 16  # of an order; as many keys again are for voxels that come last
ROUNDS_PER_VOXEL = 8  # of peeling; with fewer, voxels go further from the order
LAST_ROUND = np.iinfo(np.uint16).max


def thin(
    voxels: np.ndarray, order: np.ndarray, stays: np.ndarray, last: np.ndarray, states: np.ndarray
) -> np.ndarray:
    """Thin an object (flat indices; any number of components) to a skeleton, one voxel wide.

    Voxels go in ascending `order` (float32; how central each is), ties as they come to the surface.
    Those that `stays` may not go (anchors, a skeleton), those of `last` go after all others, so
    that the skeleton lies along them (traced curves).
    """
    flat, *strides = _flat(states)
    flat[voxels] = OBJECT | KEPT * stays.view(np.uint8)
    _thin(flat, voxels, _keys(order, last), *strides)
    return voxels[_taken(flat, voxels) != 0]


def grow(
    skeleton: np.ndarray, offered: np.ndarray, order: np.ndarray, first: np.ndarray,
    states: np.ndarray,
) -> np.ndarray:  # fmt: skip
    """Add to a skeleton what is connected with it and does not change its topology.

    The reverse of thinning. Traced curves that run side by side or meet again enclose holes that
    the object does not have: of the voxels adjacent to the skeleton the most central (`order`) goes
    first, so each such hole stays open at its least central voxel. `offered` holds the skeleton and
    what may be added, those of `first` before all others.
    """
    flat, *strides = _flat(states)
    flat[offered] = OFFERED
    flat[skeleton] = OBJECT
    _grow(flat, skeleton, offered, _keys(order, first), *strides)
    return offered[_taken(flat, offered) & OBJECT != 0]


def peel(
    voxels: np.ndarray, order: np.ndarray, stays: np.ndarray, spacing: tuple[float, ...],
    states: np.ndarray,
) -> np.ndarray:  # fmt: skip
    """Peel an object until no voxel but those that stay could go, many at a time.

    Voxels whose indices have the same parities are not adjacent: of one of these eight subfields
    all simple points can go at once (Bertrand and Aktouf 1994). In each round all subfields are
    gone through once; a voxel may go from the round of its order (mm) on.
    """
    flat, *strides = _flat(states)
    rounds = order / np.float32(min(spacing) / ROUNDS_PER_VOXEL)
    rounds = rounds.clip(0, LAST_ROUND).astype(np.uint16)  # 16 bits are sorted by radix, faster
    flat[voxels] = OBJECT
    flat[stays] |= KEPT
    by_round = voxels[np.argsort(rounds, kind="stable")]
    _peel(flat, by_round, np.cumsum(np.bincount(rounds)), *strides)
    return voxels[_taken(flat, voxels) != 0]


def trim(skeleton: np.ndarray, stays: np.ndarray, states: np.ndarray) -> np.ndarray:
    """Remove voxels that lie beside a skeleton instead of ending it, but for those that stay."""
    flat, *strides = _flat(states)
    flat[skeleton] = OBJECT
    voxels = skeleton[~np.isin(skeleton, stays)]
    while _redundant(flat, voxels, *strides, True).any():
        pass
    return skeleton[_taken(flat, skeleton) != 0]


def removable(skeleton: np.ndarray, states: np.ndarray) -> np.ndarray:
    """Voxels of a skeleton that could go without a change of topology, and are no ends."""
    flat, *strides = _flat(states)
    flat[skeleton] = OBJECT
    found = _redundant(flat, skeleton, *strides, False)
    flat[skeleton] = 0
    return skeleton[found]


def _flat(states):
    """States one after the other, and how far apart neighbours along J and K are."""
    return states.reshape(-1), states.shape[2], states.shape[1] * states.shape[2]


def _taken(flat, voxels):
    """The states of voxels, which are 0 from now on."""
    found = flat[voxels]
    flat[voxels] = 0
    return found


def _keys(order, behind):
    """Order in steps, int64; some of the voxels behind all others."""
    deepest = float(order.max(initial=0))
    scale = (KEY_STEPS - 1) / deepest if deepest > 0 else 0.0
    return (order.astype(np.float64) * scale).astype(np.int64) + KEY_STEPS * behind


@compiled
def _thin(states, voxels, keys, row, plane):
    offsets = _block(row, plane)
    arrival = 0
    heap = [(keys[n], arrival, n) for n in range(0)]  # empty; numba has its type from this
    for n in range(voxels.size):
        if not states[voxels[n]] & KEPT and _is_at_surface(states, voxels[n], row, plane):
            states[voxels[n]] |= WAITING
            heappush(heap, (keys[n], arrival, n))
            arrival += 1
    while len(heap):
        voxel = voxels[heappop(heap)[2]]
        states[voxel] &= ~np.uint8(WAITING)
        neighbours = neighbour_bits(states, voxel, row, plane, FLAG)
        if not is_simple(int(neighbours)):
            continue
        states[voxel] = 0
        for side in range(27):
            other = voxel + offsets[side]
            if neighbours >> side & 1 and not states[other] & (KEPT | WAITING):
                states[other] |= WAITING
                place = np.searchsorted(voxels, other)
                heappush(heap, (keys[place], arrival, place))
                arrival += 1


@compiled
def _grow(states, skeleton, offered, keys, row, plane):
    offsets = _block(row, plane)
    arrival = at = 0
    heap = [(keys[n], arrival, n) for n in range(0)]  # empty; numba has its type from this
    while at < skeleton.size or len(heap):
        if at < skeleton.size:
            voxel = skeleton[at]
            at += 1
        else:
            voxel = offered[heappop(heap)[2]]
            states[voxel] &= ~np.uint8(WAITING)
            if not is_simple(int(neighbour_bits(states, voxel, row, plane, FLAG))):
                continue
            states[voxel] = OBJECT
        for offset in offsets:
            other = voxel + offset
            if states[other] == OFFERED:
                states[other] |= WAITING
                place = np.searchsorted(offered, other)
                heappush(heap, (-keys[place], arrival, place))
                arrival += 1


@compiled
def _peel(states, by_round, ends, row, plane):
    """`OFFERED` is here the state of voxels that may go from now on."""
    offsets = _block(row, plane)
    waiting = [[by_round[0] for _ in range(0)] for _ in range(8)]  # empty, likewise
    first, number, gone = 0, 0, True
    while gone or number < ends.size:
        last = ends[min(number, ends.size - 1)]
        for voxel in by_round[first:last]:
            states[voxel] |= OFFERED
            if states[voxel] == OBJECT | OFFERED and _is_at_surface(states, voxel, row, plane):
                states[voxel] |= WAITING
                waiting[_subfield(voxel, row, plane)].append(voxel)
        first, number, gone = last, number + 1, False
        for subfield in range(8):
            tried = waiting[subfield].copy()
            waiting[subfield].clear()
            for voxel in tried:
                states[voxel] &= ~np.uint8(WAITING)
                bits = neighbour_bits(states, voxel, row, plane, FLAG)
                if not is_simple(int(bits)):
                    continue
                states[voxel] = 0
                gone = True
                for side in range(27):
                    other = voxel + offsets[side]
                    if bits >> side & 1 and states[other] == OBJECT | OFFERED:
                        states[other] |= WAITING
                        waiting[_subfield(other, row, plane)].append(other)


@compiled
def _redundant(states, voxels, row, plane, remove):
    """Which voxels are simple and no ends; each is removed at once, or none is."""
    found = np.zeros(voxels.size, np.bool_)
    for n in range(voxels.size):
        bits = neighbour_bits(states, voxels[n], row, plane, FLAG)
        if states[voxels[n]] and bits & (bits - 1) != 0 and is_simple(int(bits)):
            found[n] = True
            if remove:
                states[voxels[n]] = 0
    return found


@compiled_inside
def _is_at_surface(states, voxel, row, plane):
    """Whether there is an outside voxel at one of a voxel's faces."""
    return not (
        states[voxel - 1] & states[voxel + 1] & states[voxel - row] & states[voxel + row]
        & states[voxel - plane] & states[voxel + plane] & OBJECT
    )  # fmt: skip


@compiled_inside
def _subfield(voxel, row, plane):
    return (voxel // plane & 1) << 2 | (voxel % plane // row & 1) << 1 | (voxel % row & 1)


@compiled_inside
def _block(row, plane):
    """From a voxel to those of the block of 27 round it, in the order of `neighbour_bits`."""
    return np.array([k + j + i for k in (-plane, 0, plane) for j in (-row, 0, row)
                     for i in (-1, 0, 1)])  # fmt: skip


# ---- The skeleton of one component from level to level: grown, thinned and trimmed homotopically

NO_VOXELS = np.empty(0, np.int64)


class LevelThinning:
    """Thins a component along its traced curves; each level contains the one before.

    The component (`mask`, with its `depth` and Euler `characteristic`) is off the array's border.
    All sets of voxels are ascending arrays of flat indices. `level_voxels` counts the skeleton's of
    each level, `removable` those that could go without a change of topology and are no ends;
    `is_thin` says whether all of these belong to the level before, which must stay whole.
    """

    def __init__(
        self,
        mask: np.ndarray,
        depth: np.ndarray,
        spacing: tuple[float, ...],
        characteristic: int,
    ) -> None:
        self._mask, self._depth, self._spacing = mask, depth, spacing
        self._states = np.zeros(mask.shape, np.uint8)
        self.characteristic = characteristic
        self._level_before = NO_VOXELS  # skeleton of the level before
        self.skeleton = NO_VOXELS
        self.level_voxels: list[int] = []
        self.removable, self.is_thin = 0, True

    def thin_along(self, traced: np.ndarray, anchors: np.ndarray, progress: Progress) -> np.ndarray:
        """Take the skeleton on along the voxels of traced curves to their anchors; see `_grown`.

        Voxels of curves go last. Returned are the anchors that stay: all but those that lie beside
        the skeleton instead of ending it.
        """
        voxels = self._grown(union(traced, anchors, self.skeleton), anchors, progress)
        progress.check()
        order = removal_order(self._depth, voxels)
        stays = is_in_any(voxels, anchors, self._level_before)
        on_curve = is_in_any(voxels, traced)
        skeleton = thin(voxels, order, stays, on_curve, self._states)
        progress.check()
        self.skeleton = trim(skeleton, self._level_before, self._states)
        return np.intersect1d(anchors, self.skeleton, assume_unique=True)

    def end_level(self) -> None:
        """The skeleton is that of a level: it stays whole from now on."""
        self.level_voxels.append(len(self.skeleton))
        voxels = removable(self.skeleton, self._states)
        self.removable = len(voxels)
        self.is_thin = bool(np.isin(voxels, self._level_before, assume_unique=True).all())
        self._level_before = self.skeleton

    def _grown(self, wanted: np.ndarray, anchors: np.ndarray, progress: Progress) -> np.ndarray:
        """The wanted voxels in the object's topology.

        They are grown from the skeleton of the stage before; where there is none yet, and the
        object has no tunnel, from one voxel. Where that does not lead to all anchors, as across a
        gap between curves, all other voxels of the object are peeled off instead.
        """
        skeleton = self.skeleton
        if not self.level_voxels and self.characteristic == 1 and len(wanted):
            skeleton = wanted[[np.argmax(removal_order(self._depth, wanted))]]
        if not len(skeleton):
            return self._peeled(wanted)
        progress.check()
        order = removal_order(self._depth, wanted)
        first = is_in_any(wanted, anchors)
        grown = grow(skeleton, wanted, order, first, self._states)
        are_there = np.isin(anchors, grown, assume_unique=True).all()
        return grown if are_there else self._peeled(wanted)

    def _peeled(self, stays):
        return peel(*self._object, stays, self._spacing, self._states)

    @cached_property
    def _object(self) -> tuple[np.ndarray, np.ndarray]:
        """All voxels of the component and their order."""
        voxels = np.flatnonzero(self._mask)
        return voxels, removal_order(self._depth, voxels)


def removal_order(depth: np.ndarray, voxels: np.ndarray) -> np.ndarray:
    """The order (n,), float32, in which thinning removes voxels, the least first.

    The depth of the voxel counts for half, the mean depth of the 27 voxels round it for the other
    half: so among equal depths those nearer to the middle stay longer. `depth` (K, J, I) is 0
    outside the object and at the border, where the order is 0, too; `voxels` (n,) are flat indices.
    """
    order = np.zeros(len(voxels), np.float32)
    task = depth.reshape(-1), depth.shape[1] * depth.shape[2], depth.shape[2], voxels, order
    in_parts(partial(_write_order, *task), len(voxels), len(voxels))
    return order


@compiled
def _write_order(depth, plane, row, voxels, order, first, last):
    for n in range(first, last):
        if depth[voxels[n]] > 0:
            total = np.float32(0)
            for k in (-plane, 0, plane):
                for j in (-row, 0, row):
                    for i in (-1, 0, 1):
                        total += depth[voxels[n] + k + j + i]
            order[n] = (depth[voxels[n]] + total / np.float32(27)) / np.float32(2)


def union(*sets: np.ndarray) -> np.ndarray:
    """All voxels of some sets, ascending."""
    return np.unique(np.concatenate(sets))


def is_in_any(voxels: np.ndarray, *sets: np.ndarray) -> np.ndarray:
    """Which voxels are in one of the sets; bool (n,)."""
    return np.isin(voxels, np.concatenate(sets))
