"""The places where the axes of limbs leave them, on the card; see `..caps`."""

from pathlib import Path

import numpy as np

from FuzzyVesselCoreLib.voxels.distance.geodesic import unit_of

from .end_caps import OUTSIDE, mean, mean_of_box, places_in

KERNELS = Path(__file__).with_name("end_caps.cu")
THREADS, LARGEST_BOX = 256, 2048  # as in caps.cu
BLOCKS = 1024
A_LAUNCH = 1 << 10  # caps in small boxes
WHOLE_NUMBERS = 2**53  # that a double holds


class Caps:
    """Caps of limbs.

    Parameters
    ----------
    heights : ndarray of int32
        The distances of the limbs' tops.
    tops : ndarray of int32
        Flat indices.
    reaches : ndarray of float32
        Millimetres by which the voxels of a cap are nearer to the core at most.
    distances : CuPy's ndarray of int32, shape (K, J, I)
        From the core, along the object; -1 outside.
    spacing : 3 floats K, J, I, in mm
    large : LargePieces
    gpu : CudaDevice
    report : callable, optional
        Called between launches; raises to cancel.
    """

    def __init__(self, heights, tops, reaches, distances, spacing, large, gpu, report=None):
        shape = distances.shape
        self._distances, self._shape, self._spacing = distances, shape, spacing
        self._large, self._gpu, self._report = large, gpu, report
        self._steps = [np.float64(step) for step in spacing]
        self._lines = np.int32(shape[2]), np.int32(shape[1] * shape[2])
        self._tops = tops
        self._low, self._high, lowest = bounds_of_all(heights, tops, reaches, shape, spacing)
        self._is_box, self._ends_in_box = lowest[:, 0] <= OUTSIDE, lowest[:, 1] > OUTSIDE
        self._least = np.ceil(lowest).astype(np.int32)

    def middles(self):
        """Flat indices (int64) where the limbs' axes leave them; see `caps.middle_of_cap`."""
        found = self._tops.astype(np.int64)  # of a cap that is the whole box
        k, j, i = (self._high - self._low).T
        words = k * j * -(-i // 32)
        small = np.flatnonzero(~self._is_box & (words <= LARGEST_BOX))
        for first in range(0, len(small), A_LAUNCH):
            some = small[first : first + A_LAUNCH]
            found[some] = self._middles_of_small(some, words[some])
        for n in np.flatnonzero(~self._is_box & (words > LARGEST_BOX)):
            found[n] = self._middle_of_large(n)
        return found

    def _middles_of_small(self, caps, words):
        gpu, ends = self._gpu, np.cumsum(words)
        parts = self._tops, self._low, self._high, self._least, self._ends_in_box
        table = np.column_stack([*(part[caps] for part in parts), ends - words]).astype(np.int32)
        bits, means = gpu.xp.empty(int(ends[-1]), np.uint32), gpu.xp.empty((len(caps), 2, 3))
        self._launch("find_caps", len(caps), self._distances, *self._lines, *self._steps,
                     gpu.put(table), bits, means)  # fmt: skip
        means = self._look(means)
        axes = means[:, 0] - means[:, 1]
        lengths = np.array([np.linalg.norm(axis) for axis in axes])
        has_axis = lengths > 0
        lengths[~has_axis] = 1
        axes = np.concatenate([means[:, 0], axes / lengths[:, None]], axis=1)
        furthest = gpu.xp.empty(len(caps), np.int32)
        self._launch("furthest_in_caps", len(caps), *self._lines, *self._steps,
                     gpu.put(table), bits, gpu.put(axes), furthest)  # fmt: skip
        return np.where(has_axis, self._look(furthest), self._tops[caps])

    def _middle_of_large(self, n):
        low, size, (far, near) = self._low[n], self._high[n] - self._low[n], self._least[n]
        gpu, ends_in_box = self._gpu, self._ends_in_box[n]
        least = far, near if ends_in_box else far
        sizes = self._large.cap_sizes(self._tops[n], (*low, *self._high[n]), *least)
        voxels, box = self._large.voxels, [np.int32(first) for first in low]
        sums = gpu.xp.zeros((2, 3), np.uint64)
        self._launch("sum_places", BLOCKS, voxels, gpu.put(np.array(sizes, np.int32)),
                     *self._lines, *box, sums)  # fmt: skip
        sums = self._look(sums)
        middle = self._mean(sums[0], sizes[0], low)
        behind = self._mean(sums[1], sizes[1], low) if ends_in_box else self._mean_of_box(size)
        axis = middle - behind
        length = np.linalg.norm(axis)
        if length == 0:
            return self._tops[n]
        axis = gpu.put(np.concatenate([middle, axis / length]))
        highest, first = gpu.xp.zeros(1, np.uint64), gpu.xp.full(1, self._distances.size, np.int32)
        for part in range(2):
            self._launch("furthest_of", BLOCKS, voxels, np.int32(sizes[0]), *self._lines, *box,
                         *self._steps, axis, np.int32(part), highest, first)  # fmt: skip
        return self._look(first)[0]

    def _mean(self, sums, count, low):
        """Mean place in mm of the first voxels of the piece; `sums` of their places are given."""
        if is_exact(sums, self._spacing):
            return sums * np.array(self._spacing) / count
        voxels = self._gpu.get(self._gpu.xp.sort(self._large.voxels[:count]))
        return mean(places_in(voxels, low, self._shape), np.array(self._spacing))

    def _mean_of_box(self, size):
        count = int(np.prod(size))
        sums = count * (size - 1) // 2
        if is_exact(sums, self._spacing):
            return sums * np.array(self._spacing) / count
        return mean_of_box(size, np.array(self._spacing))

    def _launch(self, name, blocks, *args):
        self._gpu.kernel(KERNELS, name)((blocks,), (THREADS,), args)

    def _look(self, array):
        """An array of the card, when all launches have ended."""
        found = self._gpu.get(array)
        if self._report is not None:
            self._report()
        return found


def bounds_of_all(heights, tops, reaches, shape, spacing):
    """What `caps.bounds` gives for each cap, rounded in the same way; (n, 3), (n, 3), (n, 2)."""
    least, unit, steps = 0.5 * min(spacing), unit_of(spacing), np.asarray(spacing)
    is_least = least > reaches
    places = np.stack(np.unravel_index(tops, shape), axis=1)
    radius = np.ceil((3 * reaches)[:, None] / steps)
    radius[is_least] = np.ceil(3 * least / steps)
    below = (np.stack([reaches, 2 * reaches], axis=1) / unit).astype(float)
    below[is_least] = np.array([least, 2 * least]) / unit
    radius = radius.astype(int) + 1
    low, high = np.maximum(places - radius, 0), np.minimum(places + radius + 1, shape)
    return low, high, heights[:, None] - below


def is_exact(sums, spacing):
    """Whether sums of places are exact in mm, in any order: whole numbers of a unit, not many."""
    for total, step in zip(sums, spacing):
        units, _ = float(step).as_integer_ratio()
        if int(total) * (units // (units & -units)) > WHOLE_NUMBERS:
            return False
    return True
