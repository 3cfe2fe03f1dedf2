"""Length, curvature, torsion and tortuosity of a line.

Curvature and torsion are those of the Frenet formulas, |r' x r''| / |r'|^3 and
(r' x r'') . r''' / |r' x r''|^2, with derivatives of cubic polynomials fitted to a window of the
line (Savitzky and Golay 1964), since second differences of a line through voxels are mostly noise.
"""

from dataclasses import dataclass

import numpy as np

DEGREE = 3
FEWEST = 7  # points of a window
POINTS_PER_RADIUS = 8  # of the line as it is sampled anew
WINDOW = 2.0  # mean radii to either side
STRAIGHT = 1e-4  # of a curvature times the mean radius: below it there is no torsion


@dataclass(frozen=True)
class LineShape:
    """Measures of a line.

    Attributes
    ----------
    length : float
        mm.
    tortuosity : float
        Length over the distance of the ends, minus 1, as VMTK defines it; 0 where the ends
        coincide, since it has no value there.
    curvature : float
        Mean along the line, 1/mm.
    torsion : float
        Mean along the line, 1/mm; positive for a right-handed helix in right-handed axes.
    """

    length: float
    tortuosity: float
    curvature: float
    torsion: float


def line_shape(points: np.ndarray, radius: np.ndarray) -> LineShape:
    """Measures of a polyline.

    Parameters
    ----------
    points : ndarray of float, (n, 3)
        mm, in right-handed axes X, Y, Z.
    radius : ndarray of float, (n,)
        mm; its mean sets the size of the window.

    Returns
    -------
    LineShape
        Without curvature and torsion (0) where the line is shorter than a window.

    Examples
    --------
    >>> turn = np.linspace(0, np.pi, 200)
    >>> circle = np.stack([10 * np.cos(turn), 10 * np.sin(turn), 0 * turn], axis=1)
    >>> shape = line_shape(circle, np.ones(200))
    >>> round(shape.curvature, 3), round(shape.torsion, 3), round(shape.tortuosity, 3)
    (0.1, 0.0, 0.571)
    """
    steps = np.linalg.norm(np.diff(points, axis=0), axis=1)
    length, away = float(steps.sum()), float(np.linalg.norm(points[-1] - points[0]))
    tortuosity = max(length / away - 1, 0.0) if away > 0 else 0.0
    curvature, torsion = curvature_and_torsion(points, radius)
    return LineShape(length, tortuosity, float(curvature.mean()), float(torsion.mean()))


def curvature_and_torsion(points: np.ndarray, radius: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Curvature and torsion (1/mm) at places in equal steps along a polyline.

    Parameters
    ----------
    points, radius
        As for `line_shape`.

    Returns
    -------
    tuple of ndarray of float, (m,)
        One 0 each where the line is too short.
    """
    from scipy.signal import savgol_filter

    steps = np.linalg.norm(np.diff(points, axis=0), axis=1)
    lengths = np.concatenate([[0.0], np.cumsum(steps)])
    scale = max(float(radius.mean()), float(lengths[-1]) / max(len(points) - 1, 1))
    step = scale / POINTS_PER_RADIUS
    window = max(2 * round(WINDOW * scale / step) + 1, FEWEST)
    count = int(lengths[-1] / step) + 1
    if count < window:
        return np.zeros(1), np.zeros(1)
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
    return curvature, torsion
