"""A vessel point that disagrees with the others: outside the volume, or of another brightness."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .seed_rows import SeedRow

SPREADS = 4.0  # deviations from the others' median at which a point is odd
MIN_POINTS = 3  # of two nobody knows which one is wrong


@dataclass(frozen=True)
class OddPoint:
    """A point and what the others are.

    Attributes
    ----------
    row : SeedRow
    others : float or None
        Their median intensity; None where the point is outside the volume.
    """

    row: SeedRow
    others: float | None


def odd_point(rows: Sequence[SeedRow]) -> OddPoint | None:
    """The vessel point that disagrees most with the others, or None.

    The spread is that of the other points, but not below the noise: the lowest deviation in the
    neighbourhood of any point, as most neighbourhoods hold the border of the vessel, too.
    """
    for row in rows:
        if row.intensity is None:
            return OddPoint(row, None)
    if len(rows) < MIN_POINTS:
        return None
    values = np.array([row.intensity for row in rows], float)
    noise = min(float(row.deviation or 0.0) for row in rows)
    found, most = None, SPREADS
    for number, row in enumerate(rows):
        others = np.delete(values, number)
        median = float(np.median(others))
        spread = max(1.4826 * float(np.median(np.abs(others - median))), noise)
        if spread > 0 and abs(values[number] - median) / spread > most:
            most = abs(values[number] - median) / spread
            found = OddPoint(row, median)
    return found
