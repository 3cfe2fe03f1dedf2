"""How deep a place lies in the tube of a line: the envelope of its maximal inscribed balls."""

import numpy as np


def tube_function(places: np.ndarray, points: np.ndarray, radius: np.ndarray) -> np.ndarray:
    """Least value of |x - c|^2 - r^2 over the balls of polylines' segments.

    Along a segment centre and radius are linear, so that the least value has a closed form; it is
    negative inside the tube (Antiga and Steinman 2004, section II).

    Parameters
    ----------
    places : ndarray of float, (m, 3)
        mm.
    points : ndarray of float, (n, 2, 3)
        The segments' ends, mm.
    radius : ndarray of float, (n, 2)
        There, mm.

    Returns
    -------
    ndarray of float, (m,)
        mm^2; infinite where there is no segment.

    Examples
    --------
    >>> ends, radius = np.array([[[0.0, 0, 0], [10, 0, 0]]]), np.array([[2.0, 2.0]])
    >>> tube_function(np.array([[5.0, 1, 0], [5, 3, 0]]), ends, radius)
    array([-3.,  5.])
    """
    if not len(points):
        return np.full(len(places), np.inf)
    start, along = points[:, 0], points[:, 1] - points[:, 0]
    first, growth = radius[:, 0], radius[:, 1] - radius[:, 0]
    away = places[:, None] - start
    bend = (along**2).sum(axis=1) - growth**2
    slope = (away * along).sum(axis=2) + first * growth
    least = np.where(bend > 0, slope / np.where(bend > 0, bend, 1), 0.0).clip(0, 1)
    values = _at(least, away, along, first, growth)
    for end in (0.0, 1.0):  # where one ball lies in the other the least value is at an end
        values = np.minimum(values, _at(np.full_like(least, end), away, along, first, growth))
    return values.min(axis=1)


def _at(share, away, along, first, growth):
    beside = away - share[..., None] * along
    return (beside**2).sum(axis=2) - (first + share * growth) ** 2
