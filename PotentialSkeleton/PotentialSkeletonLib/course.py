"""A polyline in mm with radii: places along it, its length, curvature and torsion."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

DEGREE, FEWEST = 3, 7  # of the fitted polynomial; points of its window
POINTS_PER_RADIUS = 8  # of the line as it is resampled
WINDOW = 2.0  # mean radii to either side
# The object's end is as far from a place as its tip's radius and the way to the tip: a ball that is
# smaller than this share of that touches the wall.
CAP_SHARE = 0.8
STRAIGHT = 1e-4  # of curvature times mean radius: below it there is no torsion


@dataclass(frozen=True)
class Course:
    """A polyline with points (n, 3) and radii (n,), both in mm."""

    points: np.ndarray
    radius: np.ndarray

    @cached_property
    def lengths(self) -> np.ndarray:
        """Length from the first point to each, mm; (n,)."""
        steps = np.linalg.norm(np.diff(self.points, axis=0), axis=1)
        return np.concatenate([[0.0], np.cumsum(steps)])

    @property
    def mean_radius(self) -> float:
        """Mean along the line, mm."""
        steps, radius = np.diff(self.lengths), self.radius
        if steps.sum() == 0:
            return float(radius.mean())
        return float(((radius[1:] + radius[:-1]) / 2 * steps).sum() / steps.sum())

    def inner_points(self, margin: float = 1.0) -> np.ndarray:
        """Indices of the points between the two ends of a branch; at least one, the middle.

        At a junction the ball is the parent's; at a tip it is as small as the object's end is near,
        and that stretch is left out, too. `margin` says how much of each end is left out, as a
        multiple of the radius there; with 0 nothing is.
        """
        lengths, radius = self.lengths, self.radius
        low, high = margin * radius[0], lengths[-1] - margin * radius[-1]
        if margin:
            low = max(low, _end_of_cap(lengths, radius))
            back = lengths[-1] - lengths[::-1]
            high = min(high, lengths[-1] - _end_of_cap(back, radius[::-1]))
        inside = np.flatnonzero((lengths >= low) & (lengths <= high))
        return inside if inside.size else np.array([np.abs(lengths - lengths[-1] / 2).argmin()])

    def at(self, length: float) -> tuple[np.ndarray, float]:
        """Point and radius after so many mm, interpolated; beyond an end, those of the end."""
        place = np.array([np.interp(length, self.lengths, each) for each in self.points.T])
        return place, float(np.interp(length, self.lengths, self.radius))

    def between(self, first: float, last: float) -> tuple[np.ndarray, np.ndarray]:
        """Points and radii from one length to another, with points at both."""
        inside = np.flatnonzero((self.lengths > first) & (self.lengths < last))
        (start, start_radius), (end, end_radius) = self.at(first), self.at(last)
        points = np.concatenate([[start], self.points[inside], [end]])
        return points, np.concatenate([[start_radius], self.radius[inside], [end_radius]])


def _end_of_cap(lengths, radius):
    """The length from which on the ball touches the wall, and not the end of the object."""
    touches_wall = radius < CAP_SHARE * (radius[0] + lengths)
    return lengths[touches_wall.argmax()] if touches_wall.any() else 0.0


@dataclass(frozen=True)
class LineShape:
    """Measures of a line; curvature and torsion are means along it."""

    length: float  # mm
    tortuosity: float  # length over distance of the ends, minus 1, as in VMTK; 0 if closed
    curvature: float  # 1/mm
    torsion: float  # 1/mm, positive for a right-handed helix


def line_shape(points: np.ndarray, radius: np.ndarray) -> LineShape:
    """Measures of a polyline (n, 3) in mm, in right-handed axes X, Y, Z, with radii (n,).

    Curvature and torsion follow from Frenet's formulas, |r' x r''| / |r'|^3 and
    (r' x r'') . r''' / |r' x r''|^2, with derivatives of cubic polynomials fitted to a window
    (Savitzky and Golay 1964) as wide as the mean radius demands: second differences of a line
    through voxels are mostly noise. A shorter line has neither.

    Examples
    --------
    >>> turn = np.linspace(0, np.pi, 200)
    >>> circle = np.stack([10 * np.cos(turn), 10 * np.sin(turn), 0 * turn], axis=1)
    >>> shape = line_shape(circle, np.ones(200))
    >>> round(shape.curvature, 3), round(shape.torsion, 3), round(shape.tortuosity, 3)
    (0.1, 0.0, 0.571)
    """
    length = float(Course(points, radius).lengths[-1])
    away = float(np.linalg.norm(points[-1] - points[0]))
    tortuosity = max(length / away - 1, 0.0) if away > 0 else 0.0
    return LineShape(length, tortuosity, *_curvature_and_torsion(points, radius))


def _curvature_and_torsion(points, radius):
    from scipy.signal import savgol_filter

    lengths = Course(points, radius).lengths
    scale = max(float(radius.mean()), float(lengths[-1]) / max(len(points) - 1, 1))
    step = scale / POINTS_PER_RADIUS
    window = max(2 * round(WINDOW * scale / step) + 1, FEWEST)
    count = int(lengths[-1] / step) + 1
    if count < window:
        return 0.0, 0.0
    at = np.linspace(0, lengths[-1], count)
    even = np.stack([np.interp(at, lengths, each) for each in points.T], axis=1)
    first, second, third = (
        savgol_filter(even, window, DEGREE, deriv=n, delta=at[1], axis=0) for n in (1, 2, 3)
    )
    cross = np.cross(first, second)
    size = np.linalg.norm(cross, axis=1)
    curvature = size / np.linalg.norm(first, axis=1).clip(1e-12) ** 3
    bent = curvature * scale > STRAIGHT
    torsion = np.zeros(count)
    torsion[bent] = (cross * third).sum(axis=1)[bent] / size[bent] ** 2
    return float(curvature.mean()), float(torsion.mean())
