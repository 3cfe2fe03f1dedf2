"""The run-length encoding of a mask, in connected components; see `runs`."""

import numpy as np

from ...jit.decorators import compiled
from ...progress import Progress
from ...threads import in_parts
from .runs import OUTSIDE, count_runs, find_runs, join_planes
from .union_find import number_trees


class RunLengthEncoding:
    """The runs of a mask's voxels of one value, and the connected components that they form.

    Parameters
    ----------
    mask : ndarray of uint8, shape (K, J, I), in C order
        0 and 1.
    value : int
        0 or 1.
    corners : bool
        26-connected if True, else 6-connected.
    with_outside : bool
        Whether all that touches the border of the volume is one component, `OUTSIDE`.
    slabs : list of slice
        Planes that are worked on by one call.
    progress : Progress
        Checked between slabs.

    Attributes
    ----------
    count : int
        Number of components, without `OUTSIDE`.
    """

    def __init__(
        self,
        mask: np.ndarray,
        value: int,
        corners: bool,
        with_outside: bool,
        slabs: list[slice],
        progress: Progress,
    ) -> None:
        self._slabs, self._progress = slabs, progress
        counts = np.zeros(mask.shape[0] * mask.shape[1] + 1, np.int64)
        for slab in slabs:

            def count(low: int, high: int, start: int = slab.start) -> None:
                count_runs(mask, value, start + low, start + high, counts)

            in_parts(count, slab.stop - slab.start, mask[slab].size)
            progress.check()
        firsts = np.cumsum(counts) + 1  # first run of each row
        total = firsts[-1]
        starts, ends, parents = (np.empty(total, np.int32) for _ in range(3))
        parents[OUTSIDE] = OUTSIDE
        forest = firsts, starts, ends, parents
        for slab in slabs:

            def find(low: int, high: int, start: int = slab.start) -> None:
                find_runs(mask, value, corners, with_outside, start + low, start + high, forest)

            in_parts(find, slab.stop - slab.start, mask[slab].size)
            join_planes(mask.shape, corners, slab.start, slab.stop, forest)
            progress.check()
        numbers, self.count = number_trees(parents)
        self._runs = firsts, starts, ends, numbers

    def write(self, labels: np.ndarray) -> None:
        """Write the number of each voxel's component to labels."""
        for slab in self._slabs:
            write_labels(self._runs, slab.start, slab.stop, labels)
            self._progress.check()

    def fill(self, mask: np.ndarray) -> int:
        """Set the mask to 1 in all components but `OUTSIDE`; return the number of voxels."""
        voxels = 0
        for slab in self._slabs:
            voxels += fill_enclosed(self._runs, slab.start, slab.stop, mask)
            self._progress.check()
        return voxels


@compiled
def write_labels(runs: tuple[np.ndarray, ...], first: int, last: int, labels: np.ndarray) -> None:
    """Write the numbers of the runs of some planes to labels; `runs` ends with the numbers."""
    firsts, starts, ends, numbers = runs
    rows = labels.shape[1]
    for k in range(first, last):
        for j in range(rows):
            for n in range(firsts[k * rows + j], firsts[k * rows + j + 1]):
                labels[k, j, starts[n] : ends[n]] = numbers[n]


@compiled
def fill_enclosed(runs: tuple[np.ndarray, ...], first: int, last: int, mask: np.ndarray) -> int:
    """Set the mask to 1 in the runs of some planes that are not outside; count the voxels."""
    firsts, starts, ends, numbers = runs
    rows, voxels = mask.shape[1], 0
    for k in range(first, last):
        for j in range(rows):
            for n in range(firsts[k * rows + j], firsts[k * rows + j + 1]):
                if numbers[n] != OUTSIDE:
                    mask[k, j, starts[n] : ends[n]] = 1
                    voxels += ends[n] - starts[n]
    return voxels
