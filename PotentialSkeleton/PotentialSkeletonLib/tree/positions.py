"""Places on a polyline by the length along it."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np


@dataclass(frozen=True)
class Course:
    """A polyline in mm with radii.

    Attributes
    ----------
    points : ndarray of float, (n, 3)
        mm.
    radius : ndarray of float, (n,)
        mm.
    """

    points: np.ndarray
    radius: np.ndarray

    @cached_property
    def lengths(self) -> np.ndarray:
        """Length from the first point to each, mm; (n,)."""
        steps = np.linalg.norm(np.diff(self.points, axis=0), axis=1)
        return np.concatenate([[0.0], np.cumsum(steps)])

    def at(self, length: float) -> tuple[np.ndarray, float]:
        """Point and radius after so many mm, interpolated; at an end beyond it."""
        place = np.array([np.interp(length, self.lengths, each) for each in self.points.T])
        return place, float(np.interp(length, self.lengths, self.radius))

    def between(self, first: float, last: float) -> tuple[np.ndarray, np.ndarray]:
        """Points and radii from one length to another, with points at both."""
        inside = np.flatnonzero((self.lengths > first) & (self.lengths < last))
        (start, start_radius), (end, end_radius) = self.at(first), self.at(last)
        points = np.concatenate([[start], self.points[inside], [end]])
        return points, np.concatenate([[start_radius], self.radius[inside], [end_radius]])
