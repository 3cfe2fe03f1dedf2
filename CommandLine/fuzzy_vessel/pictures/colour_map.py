"""Colours of radii: wider is lighter and warmer, on a dark page."""

from typing import Any

import numpy as np

# Even steps of lightness in OKLab (B. Ottosson, 2020), 0.58 to 0.93, from blue to yellow.
STOPS = ("#4e78c7", "#3aa6cb", "#56cbb7", "#b5de7f", "#ffe887")


def colour_map() -> Any:
    """Return the colour map as matplotlib's object."""
    from matplotlib.colors import LinearSegmentedColormap

    return LinearSegmentedColormap.from_list("radius", STOPS)


def colours(values: np.ndarray | float, low: float, high: float) -> np.ndarray:
    """Colours of numbers.

    Parameters
    ----------
    values : array_like
    low, high : float
        What gets the first and the last colour; values beyond get these, too.

    Returns
    -------
    ndarray of uint8, values' shape + (3,)
    """
    shares = (np.asarray(values, float) - low) / max(high - low, 1e-12)
    return np.asarray(colour_map()(np.clip(shares, 0, 1), bytes=True))[..., :3]
