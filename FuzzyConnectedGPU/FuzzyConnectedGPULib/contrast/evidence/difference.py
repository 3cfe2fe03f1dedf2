"""Differences of whole volumes, by threads."""

import numpy as np

from FuzzyVesselCoreLib.threads import by_planes


def difference(
    volume: np.ndarray, other: np.ndarray | np.float32, out: np.ndarray | None = None
) -> np.ndarray:
    """``volume - other``, into `out` where it is given.

    Parameters
    ----------
    volume : ndarray, shape (K, J, I), float32
    other : ndarray of the same shape, or a number
    out : ndarray of the same shape, optional
        It may be one of both.

    Examples
    --------
    >>> difference(np.ones((1, 1, 2), np.float32), np.float32(3))
    array([[[-2., -2.]]], dtype=float32)
    """
    result = np.empty_like(volume) if out is None else out
    others = np.broadcast_to(other, volume.shape)
    by_planes(lambda k: np.subtract(volume[k], others[k], out=result[k]), volume)
    return result
