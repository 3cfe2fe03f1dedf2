"""The median as `np.median` gives it, which imports masked arrays first: 0.06 s of a first run."""

from typing import Any

import numpy as np


def median(values: np.ndarray) -> Any:
    """The same bits as `np.median` of all values.

    Parameters
    ----------
    values : ndarray of numbers

    Returns
    -------
    NumPy scalar
        NaN where a value is, or there is none; of integers float64.

    Examples
    --------
    >>> float(median(np.array([4, 1, 2, 3])))
    2.5
    """
    flat = np.ravel(values)
    if not flat.size:
        return np.float64(np.nan)
    half, odd = divmod(flat.size, 2)
    places = [half] if odd else [half - 1, half]
    if flat.dtype.kind == "f":
        places.append(flat.size - 1)  # where a NaN would be
    part = np.partition(flat, places)
    if flat.dtype.kind == "f" and np.isnan(part[-1]):
        return part[-1]
    return np.mean(part[half - 1 + odd : half + 1])
