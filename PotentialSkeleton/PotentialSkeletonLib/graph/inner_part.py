"""The part of a branch at which its radius is that of the vessel: without junctions and tips."""

import numpy as np

# The end of the object is as far from a place as the tip is, and the way to it. A ball that is
# smaller than this share of that touches the wall.
CAP_SHARE = 0.8


def inner_points(lengths: np.ndarray, radius: np.ndarray, margin: float = 1.0) -> np.ndarray:
    """Indices of the points between the two ends of a branch.

    At a junction the ball is the parent's; at a tip it is as small as the object's end is near.

    Parameters
    ----------
    lengths : ndarray of float, (n,)
        From the first point, mm.
    radius : ndarray of float, (n,)
        Of the inscribed ball, mm.
    margin : float
        How much of each end is left out, as a multiple of the radius there; with 0 nothing is, also
        not the stretch before a tip.

    Returns
    -------
    ndarray of int
        At least one: the middle, where the ends leave nothing.

    Examples
    --------
    >>> inner_points(np.arange(7.0), np.array([0.2, 1, 1, 1, 1, 1, 1]))
    array([2, 3, 4, 5])
    """
    low, high = margin * radius[0], lengths[-1] - margin * radius[-1]
    if margin:
        low = max(low, _end_of_cap(lengths, radius))
        back = lengths[-1] - lengths[::-1]
        high = min(high, lengths[-1] - _end_of_cap(back, radius[::-1]))
    inside = np.flatnonzero((lengths >= low) & (lengths <= high))
    return inside if inside.size else np.array([np.abs(lengths - lengths[-1] / 2).argmin()])


def _end_of_cap(lengths, radius):
    """The length from which on the ball touches the wall, and not the end of the object."""
    touches_wall = radius < CAP_SHARE * (radius[0] + lengths)
    return lengths[touches_wall.argmax()] if touches_wall.any() else 0.0
