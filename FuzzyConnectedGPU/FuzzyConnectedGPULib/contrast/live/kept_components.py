"""Components of clicks: those of clicks that stay, and those that are known to be too large."""

from collections.abc import Callable
from typing import Any

import numpy as np

KEPT, TOO_LARGE = 16, 16
HIGHER = 0.5  # of the way from the threshold to the click's value

Found = tuple[np.ndarray, np.ndarray]  # flat indices and values


class KeptComponents:
    """Components of one volume after the other, of which the same is asked for again and again.

    A component at a threshold holds that of each of its voxels at a higher one. So a click in what
    was too large at a higher threshold need not be searched; and so that this is known of the next
    clicks, too, a search begins with a higher threshold than is asked for.
    """

    def __init__(self) -> None:
        self._found: dict[tuple, Found] = {}
        self._too_large: list[tuple[Any, np.float32, np.ndarray]] = []

    def component(
        self,
        of: Any,
        start: int,
        value: float,
        threshold: float,
        limit: int,
        search: Callable[[float], Found],
    ) -> Found | None:
        """The component of a voxel, or None where it has more than `limit` voxels.

        Parameters
        ----------
        of : hashable
            Names the volume.
        start : int
            Flat index.
        value, threshold : float
            Of the voxel, and of the component.
        limit : int
        search : callable
            ``search(threshold)`` finds it, or more than `limit` of its voxels.
        """
        lowest = np.float32(threshold)
        key = of, start, lowest
        if key not in self._found:
            for volume, least, voxels in self._too_large:
                known = volume == of and lowest <= least and voxels.size > limit
                if known and (voxels == start).any():
                    return None
            higher = threshold + HIGHER * max(value - threshold, 0.0)
            for trial in sorted({higher, threshold}, reverse=True):
                found = search(trial)
                if found[0].size > limit:
                    self._too_large.insert(0, (of, np.float32(trial), found[0]))
                    del self._too_large[TOO_LARGE:]
                    return None
            if len(self._found) == KEPT:
                self._found.clear()
            self._found[key] = found
        found = self._found[key]
        return None if found[0].size > limit else found
