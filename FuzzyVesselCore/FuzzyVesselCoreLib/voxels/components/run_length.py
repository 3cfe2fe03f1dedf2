"""Connected pieces of a mask by union-find over runs: voxels side by side along I; compiled.

A run's number is its place in the order of the runs' first voxels. Each piece is a tree of runs
whose root is its first run. `OUTSIDE` is no run: a piece of it is what reaches the border.
"""

import numpy as np
from numba import njit, prange

OUTSIDE = 0
BLOCK = 32  # voxels that are looked at together


class Runs:
    """The pieces of the voxels of a mask that have some value.

    Parameters
    ----------
    mask : ndarray of uint8, shape (K, J, I), in C order
        0 and 1.
    value : int
        0 or 1.
    corners : bool
        Whether voxels are connected over edges and corners, too (26 neighbours), or over faces
        only (6 neighbours).
    with_outside : bool
        Whether all that touches the array's border is one piece, `OUTSIDE`.
    slabs : list of slice
        Of planes: what is done by one call.
    pause : callable
        Called between slabs; raises to cancel.
    """

    def __init__(self, mask, value, corners, with_outside, slabs, pause):
        self._shape, self._slabs, self._pause = mask.shape, slabs, pause
        counts = np.zeros(mask.shape[0] * mask.shape[1] + 1, np.int64)
        for slab in slabs:
            count_runs(mask, value, slab.start, slab.stop, counts)
            pause()
        self._firsts = np.cumsum(counts) + 1  # of each row
        total = self._firsts[-1]
        self._starts, self._ends = np.empty(total, np.int32), np.empty(total, np.int32)
        self._parents = np.empty(total, np.int32)
        self._parents[OUTSIDE] = OUTSIDE
        forest = self._firsts, self._starts, self._ends, self._parents
        for slab in slabs:
            find_runs(mask, value, corners, with_outside, slab.start, slab.stop, *forest)
            join_planes(mask.shape, corners, slab.start, slab.stop, *forest)
            pause()
        self._numbers, self.count = number_trees(self._parents)

    def write(self, labels):
        """Write each voxel's number, from 1 in the order of the pieces' first voxels, to labels."""
        for slab in self._slabs:
            write_labels(
                self._firsts, self._starts, self._ends, self._numbers, slab.start, slab.stop, labels
            )
            self._pause()

    def fill(self, mask):
        """Set the mask to 1 in all pieces but `OUTSIDE`; how many voxels these are."""
        voxels = 0
        for slab in self._slabs:
            voxels += fill_enclosed(
                self._firsts, self._starts, self._ends, self._numbers, slab.start, slab.stop, mask
            )
            self._pause()
        return voxels


@njit(cache=True)
def end_of(row, i, value):
    """The first voxel of a row from `i` on that has not some value."""
    while i + BLOCK <= row.size:
        other = np.uint8(0)
        for n in range(BLOCK):
            other |= row[i + n] ^ value
        if other:
            break
        i += BLOCK
    while i < row.size and row[i] == value:
        i += 1
    return i


@njit(cache=True, parallel=True)
def count_runs(mask, value, first, last, counts):
    """Set the count of each row's runs, one place further on, for some planes."""
    here, other = np.uint8(value), np.uint8(1 - value)
    for k in prange(first, last):
        for j in range(mask.shape[1]):
            row, count = mask[k, j], 0
            i = end_of(row, 0, other)
            while i < row.size:
                count += 1
                i = end_of(row, end_of(row, i, here), other)
            counts[k * mask.shape[1] + j + 1] = count


@njit(cache=True, parallel=True)
def find_runs(mask, value, corners, with_outside, first, last, firsts, starts, ends, parents):
    """Find the runs of some planes, and join those of each plane."""
    here, other = np.uint8(value), np.uint8(1 - value)
    depth, rows, _ = mask.shape
    for k in prange(first, last):
        for j in range(rows):
            row, n = mask[k, j], firsts[k * rows + j]
            is_outer = with_outside and (k in (0, depth - 1) or j in (0, rows - 1))
            i = end_of(row, 0, other)
            while i < row.size:
                starts[n], ends[n] = i, end_of(row, i, here)
                touches = with_outside and (i == 0 or ends[n] == row.size)
                parents[n] = OUTSIDE if is_outer or touches else n
                i = end_of(row, ends[n], other)
                n += 1
            if j > 0:
                join_rows(k * rows + j - 1, k * rows + j, corners, firsts, starts, ends, parents)


@njit(cache=True)
def join_planes(shape, corners, first, last, firsts, starts, ends, parents):
    """Join the runs of some planes with those of the planes before."""
    rows = shape[1]
    for k in range(max(first, 1), last):
        for j in range(rows):
            here = k * rows + j
            if firsts[here] == firsts[here + 1]:
                continue
            for before in range(
                max(j - 1, 0) if corners else j, min(j + 2, rows) if corners else j + 1
            ):
                there = (k - 1) * rows + before
                join_rows(there, here, corners, firsts, starts, ends, parents)


@njit(cache=True)
def join_rows(one, other, corners, firsts, starts, ends, parents):
    """Join the runs of two rows that are beside each other."""
    reach = 1 if corners else 0
    a, b = firsts[one], firsts[other]
    last_a, last_b = firsts[one + 1], firsts[other + 1]
    while a < last_a and b < last_b:
        if starts[a] < ends[b] + reach and starts[b] < ends[a] + reach:
            join(a, b, parents)
        if ends[a] < ends[b]:
            a += 1
        else:
            b += 1


@njit(cache=True)
def join(a, b, parents):
    a, b = root_of(a, parents), root_of(b, parents)
    if a != b:
        parents[max(a, b)] = min(a, b)


@njit(cache=True)
def root_of(n, parents):
    while parents[n] != n:
        parents[n] = parents[parents[n]]
        n = parents[n]
    return n


@njit(cache=True)
def number_trees(parents):
    """The number of each run's tree, from 1 in the order of their roots, and how many there are.

    0 for `OUTSIDE`. No run comes before its parent.
    """
    numbers, count = np.zeros_like(parents), 0
    for n in range(1, parents.size):
        if parents[n] == n:
            count += 1
            numbers[n] = count
        else:
            numbers[n] = numbers[parents[n]]
    return numbers, count


@njit(cache=True)
def write_labels(firsts, starts, ends, numbers, first, last, labels):
    rows = labels.shape[1]
    for k in range(first, last):
        for j in range(rows):
            for n in range(firsts[k * rows + j], firsts[k * rows + j + 1]):
                labels[k, j, starts[n] : ends[n]] = numbers[n]


@njit(cache=True)
def fill_enclosed(firsts, starts, ends, numbers, first, last, mask):
    rows, voxels = mask.shape[1], 0
    for k in range(first, last):
        for j in range(rows):
            for n in range(firsts[k * rows + j], firsts[k * rows + j + 1]):
                if numbers[n] != OUTSIDE:
                    mask[k, j, starts[n] : ends[n]] = 1
                    voxels += ends[n] - starts[n]
    return voxels


@njit(cache=True)
def count_labels(labels, counts):
    """Add the voxels of each label, from 0 on, to the counts; labels (n,)."""
    i = 0
    while i < labels.size:
        if i + BLOCK <= labels.size:
            some = np.int32(0)
            for n in range(BLOCK):
                some |= labels[i + n]
            if some == 0:
                counts[0] += BLOCK
                i += BLOCK
                continue
        for n in range(i, min(i + BLOCK, labels.size)):
            counts[labels[n]] += 1
        i += BLOCK


@njit(cache=True)
def find_boxes(labels, boxes):
    """First and last voxel of each label from 1 on along the axes; boxes (n, 3, 2)."""
    depth, rows, width = labels.shape
    for n in range(len(boxes)):
        for axis in range(3):
            boxes[n, axis, 0], boxes[n, axis, 1] = labels.size, -1
    for k in range(depth):
        for j in range(rows):
            row, i = labels[k, j], 0
            while i < width:
                if i + BLOCK <= width:
                    some = row[i]
                    for n in range(BLOCK):
                        some |= row[i + n]
                    if some == 0:
                        i += BLOCK
                        continue
                for n in range(i, min(i + BLOCK, width)):
                    if row[n]:
                        box = boxes[row[n] - 1]
                        box[0, 0], box[0, 1] = min(box[0, 0], k), max(box[0, 1], k)
                        box[1, 0], box[1, 1] = min(box[1, 0], j), max(box[1, 1], j)
                        box[2, 0], box[2, 1] = min(box[2, 0], n), max(box[2, 1], n)
                i += BLOCK
