"""Labels of one step, which the next one begins with."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...contrast.live.touched import Box


@dataclass
class Painted:
    """Labels of a step.

    Attributes
    ----------
    step : int
    key : tuple
        What they depend on beside what each step lists: kept paths, and thresholds.
    unowned : bool
        Whether voxels of the kept paths are nobody's.
    box, names, labels
        As of `KeptDivision.labels`.
    """

    step: int
    key: tuple
    unowned: bool = False
    box: Box | None = None
    names: Any = None
    labels: Any = None

    def follows(self, step: int, key: tuple) -> bool:
        """Whether a step begins with them."""
        same = len(key) == len(self.key) and all(
            one is other or (np.isscalar(one) and one == other) for one, other in zip(key, self.key)
        )
        return same and self.step == step - 1 and self.labels is not None

    def widened(self, ends: np.ndarray) -> Box:
        """The box, so that it holds voxels between ends (first and end of each axis), too."""
        if (ends[:, 0] >= ends[:, 1]).any():
            return self.box or (slice(0, 1),) * 3  # there are none
        sides = [slice(first, last) for first, last in ends.tolist()]
        if self.box is None:
            return tuple(sides)
        both = zip(sides, self.box)
        return tuple(slice(min(a.start, b.start), max(a.stop, b.stop)) for a, b in both)

    def begun(self, box: Box, names: np.ndarray) -> np.ndarray | None:
        """The labels, if they are those of a box and names; else None."""
        return self.labels if self.box == box and np.array_equal(self.names, names) else None
