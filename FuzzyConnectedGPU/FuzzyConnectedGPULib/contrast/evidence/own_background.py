"""Wide, faint vessels are part of their own background: the contrast that is left is none.

A vena cava stands out so little from the liver that most of its voxels count as tissue, and it is
as wide as the local background looks. The background rises to half of it and more; the contrast
that is left lies about a click's threshold, so that noise would decide on each voxel. Where the
background has risen so far, only clear contrasts count. A click in there is then judged by the
difference to the tissue itself (`clicks/faint_clicks`), in which the vessel is solid.
"""

import numpy as np

from FuzzyVesselCoreLib.threads import in_parts

# A contrast counts from so many times the background's own difference to the tissue on, or from
# that share of the first click's contrast on: the first click's vessel is never lowered.
TIMES_BACKGROUND, SHARE_OF_CLICK = 3.0, 0.5
# The same, where the difference to the tissue is that of the background and the contrast.
SHARE_OF_DIFFERENCE = TIMES_BACKGROUND / (TIMES_BACKGROUND + 1)
STEEPNESS = 5.0  # of the fall to 0 below; no step, so that rounding decides on no voxel


def lower_own_background(
    contrast: np.ndarray, background: np.ndarray, polarity: int, at_first: float
) -> None:
    """Lower contrasts, in place, where the background stands out from the tissue as they do.

    Parameters
    ----------
    contrast : ndarray, shape (K, J, I), float32
        Vessels are above 0.
    background : ndarray, float32, same shape
        The local background, as difference to the tissue's median; it is overwritten.
    polarity : int
        1 for bright vessels, -1 for dark ones.
    at_first : float
        The contrast at the first click.

    Examples
    --------
    >>> contrast = np.array([[[5, 5, 9, -5]]], np.float32)
    >>> background = np.array([[[0, 2, 2, 2]]], np.float32)
    >>> lower_own_background(contrast, background, 1, 40.0)
    >>> contrast.tolist()
    [[[5.0, 1.0, 9.0, -5.0]]]
    """
    most = np.float32(most_lowered(at_first))

    def planes(first: int, last: int) -> None:
        for k in range(first, last):
            limit, own = background[k], contrast[k]
            limit *= np.float32(polarity * TIMES_BACKGROUND)
            np.clip(limit, np.float32(0), most, out=limit)
            limit *= np.float32(STEEPNESS - 1)
            np.subtract(np.float32(STEEPNESS) * own, limit, out=limit)
            np.maximum(limit, np.float32(0), out=limit)
            np.minimum(own, limit, out=own)
            own += np.float32(0)  # no zero is negative: which one a minimum takes is not defined

    in_parts(planes, len(contrast), contrast.size)


def most_lowered(at_first: float) -> float:
    """The contrast from which on no voxel is lowered, by that at the first click."""
    return max(SHARE_OF_CLICK * at_first, 0.0)
