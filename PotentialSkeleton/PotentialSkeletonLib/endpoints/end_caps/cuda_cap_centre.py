"""The centres of end caps on the device: where protrusions' axes leave them; see `cap_centre`."""

from pathlib import Path
from typing import Any

import numpy as np

from FuzzyVesselCoreLib.progress import Progress
from FuzzyVesselCoreLib.voxels.distance.geodesic import unit_of

from ..cuda_large_components import LargeComponents
from ..device_object import DeviceObject
from .cap_centre import OUTSIDE, mean, mean_of_box

KERNELS = Path(__file__).with_name("cap_centre.cu")
THREADS, MAX_BOX = 256, 2048  # as in cap_centre.cu
BLOCKS = 1024
CAPS_PER_LAUNCH = 1 << 10  # in small boxes
CORNERS = "low_k", "low_j", "low_i", "high_k", "high_j", "high_i"  # of `Box` in volume.cuh
MAX_EXACT = 2**53  # whole numbers that a double holds


class EndCaps:
    """End caps of protrusions.

    Parameters
    ----------
    heights : ndarray of int32
        The distances of the protrusions' maxima.
    maxima : ndarray of int32
        Flat indices.
    reaches : ndarray of float32
        Millimetres by which the voxels of a cap are nearer to the core at most.
    device_object : DeviceObject
    large : LargeComponents
    progress : Progress
        Checked between launches.
    """

    def __init__(
        self,
        heights: np.ndarray,
        maxima: np.ndarray,
        reaches: np.ndarray,
        device_object: DeviceObject,
        large: LargeComponents,
        progress: Progress,
    ) -> None:
        shape, spacing = device_object.distances.shape, device_object.spacing
        self._distances, self._shape, self._spacing = device_object.distances, shape, spacing
        self._large, self._gpu, self._progress = large, device_object.gpu, progress
        self._volume = device_object.volume(KERNELS)
        k, j, i = spacing
        self._steps = device_object.gpu.struct(KERNELS, "Steps", k=k, j=j, i=i)
        self._maxima = maxima
        self._low, self._high, lowest = bounds_of_all(heights, maxima, reaches, shape, spacing)
        self._is_box, self._ends_in_box = lowest[:, 0] <= OUTSIDE, lowest[:, 1] > OUTSIDE
        self._lowest = np.ceil(lowest).astype(np.int32)

    def centres(self) -> np.ndarray:
        """Flat indices (int64) of the caps' centres; see `cap_centre.end_cap_centre`."""
        found = self._maxima.astype(np.int64)  # of a cap that is the whole box
        k, j, i = (self._high - self._low).T
        words = k * j * -(-i // 32)
        small = np.flatnonzero(~self._is_box & (words <= MAX_BOX))
        for first in range(0, len(small), CAPS_PER_LAUNCH):
            some = small[first : first + CAPS_PER_LAUNCH]
            found[some] = self._centres_of_small(some, words[some])
        for n in np.flatnonzero(~self._is_box & (words > MAX_BOX)):
            found[n] = self._centre_of_large(n)
        return found

    def _centres_of_small(self, caps: np.ndarray, words: np.ndarray) -> np.ndarray:
        gpu, ends = self._gpu, np.cumsum(words)
        columns = self._maxima, self._low, self._high, self._lowest, self._ends_in_box
        table = np.column_stack([*(column[caps] for column in columns), ends - words])
        table = gpu.put(table.astype(np.int32))
        bits, found = gpu.xp.empty(int(ends[-1]), np.uint32), gpu.xp.empty((len(caps), 2, 3))
        fixed = self._volume, self._steps, table, bits
        self._launch("find_end_caps", len(caps), *fixed, found)
        means = self._on_host(found)
        axes = means[:, 0] - means[:, 1]
        lengths = np.array([np.linalg.norm(axis) for axis in axes])
        has_axis = lengths > 0
        lengths[~has_axis] = 1
        axes = np.concatenate([means[:, 0], axes / lengths[:, None]], axis=1)
        furthest = gpu.xp.empty(len(caps), np.int32)
        self._launch("furthest_in_end_caps", len(caps), *fixed, gpu.put(axes), furthest)
        return np.where(has_axis, self._on_host(furthest), self._maxima[caps])

    def _centre_of_large(self, n: np.signedinteger) -> int:
        low, size, (far, near) = self._low[n], self._high[n] - self._low[n], self._lowest[n]
        gpu, ends_in_box = self._gpu, self._ends_in_box[n]
        levels = far, near if ends_in_box else far
        box = gpu.struct(KERNELS, "Box", **dict(zip(CORNERS, (*low, *self._high[n]))))
        sizes, place = self._large.cap_sizes(self._maxima[n], box, *levels), (self._volume, box)
        voxels, found = self._large.voxels, gpu.xp.zeros((2, 3), np.uint64)
        on_device = gpu.put(np.array(sizes, np.int32))
        self._launch("sum_positions", BLOCKS, *place, voxels, on_device, found)
        sums = self._on_host(found)
        middle = self._mean(sums[0], sizes[0], low)
        behind = self._mean(sums[1], sizes[1], low) if ends_in_box else self._mean_of_box(size)
        axis = middle - behind
        length = np.linalg.norm(axis)
        if length == 0:
            return self._maxima[n]
        axis = gpu.put(np.concatenate([middle, axis / length]))
        highest, first = gpu.xp.zeros(1, np.uint64), gpu.xp.full(1, self._distances.size, np.int32)
        for part in range(2):
            numbers = axis, np.int32(part), highest, first
            self._launch(
                "furthest_of", BLOCKS, *place, self._steps, voxels, np.int32(sizes[0]), *numbers
            )
        return self._on_host(first)[0]

    def _mean(self, sums: np.ndarray, count: int, low: np.ndarray) -> np.ndarray:
        """Mean position in mm of the component's first voxels, whose sums are given."""
        if is_exact(sums, self._spacing):
            return sums * np.array(self._spacing) / count
        voxels = self._gpu.get(self._gpu.xp.sort(self._large.voxels[:count]))
        indices = np.stack(np.unravel_index(voxels, self._shape), axis=1) - low
        return mean(indices.astype(np.int32), np.array(self._spacing))

    def _mean_of_box(self, size: np.ndarray) -> np.ndarray:
        count = int(np.prod(size))
        sums = count * (size - 1) // 2
        if is_exact(sums, self._spacing):
            return sums * np.array(self._spacing) / count
        return mean_of_box(size, np.array(self._spacing))

    def _launch(self, name: str, blocks: int, *args: Any) -> None:
        self._gpu.kernel(KERNELS, name)((blocks,), (THREADS,), args)

    def _on_host(self, array: Any) -> np.ndarray:
        """Copy of an array of the device, when all launches have ended."""
        found = self._gpu.get(array)
        self._progress.check()
        return found


def bounds_of_all(
    heights: np.ndarray,
    maxima: np.ndarray,
    reaches: np.ndarray,
    shape: tuple[int, ...],
    spacing: tuple[float, ...],
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """`cap_centre.bounds` of each cap, rounded in the same way; (n, 3), (n, 3), (n, 2)."""
    minimum, unit, steps = 0.5 * min(spacing), unit_of(spacing), np.asarray(spacing)
    is_minimum = minimum > reaches
    voxels = np.stack(np.unravel_index(maxima, shape), axis=1)
    radius = np.ceil((3 * reaches)[:, None] / steps)
    radius[is_minimum] = np.ceil(3 * minimum / steps)
    below = (np.stack([reaches, 2 * reaches], axis=1) / unit).astype(float)
    below[is_minimum] = np.array([minimum, 2 * minimum]) / unit
    radius = radius.astype(int) + 1
    low, high = np.maximum(voxels - radius, 0), np.minimum(voxels + radius + 1, shape)
    return low, high, heights[:, None] - below


def is_exact(sums: np.ndarray, spacing: tuple[float, ...]) -> bool:
    """Whether sums of indices are exact in mm, in any order: few whole numbers of a unit."""
    for total, step in zip(sums, spacing):
        units, _ = float(step).as_integer_ratio()
        if int(total) * (units // (units & -units)) > MAX_EXACT:
            return False
    return True
