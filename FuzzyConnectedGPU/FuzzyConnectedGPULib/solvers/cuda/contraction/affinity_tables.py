"""The extent of the look-up tables of an integer volume's affinity, in shared memory."""

from math import ceil, floor
from typing import NamedTuple

import numpy as np

from ....problem import Problem

TABLE = 2048  # entries; as in contract_tiles.cu
REACH = 4.6  # a bell is level beyond: 4.6 ** 2 > 30 * ln(2)


class TableExtent(NamedTuple):
    """What the tables of an integer volume's affinity hold.

    Differences of two voxels are all less than the last entry, or its bell is level ground.
    """

    lowest_sum: int
    sums: int
    differences: int


def table_extent(problem: Problem) -> TableExtent | None:
    """Extent of the tables of an integer volume's affinity.

    None for float voxels, and where the tables do not fit into shared memory.
    """
    if problem.voxels.dtype.kind == "f":
        return None
    mean, sum_factor, difference_factor = problem.affinity.coefficients()[:3].tolist()
    limits = np.iinfo(problem.voxels.dtype)
    lowest, highest = 2 * limits.min, 2 * limits.max
    reach = REACH / sum_factor
    first = min(max(floor(2 * (mean - reach)) - 1, lowest), highest)
    last = min(max(ceil(2 * (mean + reach)) + 1, lowest), highest)
    differences = min(ceil(REACH / difference_factor) + 2, int(limits.max) - int(limits.min) + 2)
    extent = TableExtent(first, last - first + 1, differences)
    return extent if extent.sums + extent.differences <= TABLE else None
