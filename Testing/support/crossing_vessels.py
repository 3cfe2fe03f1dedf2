"""Two vessels that come together in their middle, as a volume."""

import numpy as np

SHAPE = (13, 22, 40)


def crossing(seed=0):
    """Two vessels along I that come together in the middle, in noise."""
    rng = np.random.default_rng(seed)
    k, j, i = np.indices(SHAPE)
    first = 6 + 3.5 * np.exp(-(((i - 20) / 6.0) ** 2))
    second = 15 - 3.5 * np.exp(-(((i - 20) / 6.0) ** 2))
    vessels = ((k - 6) ** 2 + (j - first) ** 2 <= 4) | ((k - 6) ** 2 + (j - second) ** 2 <= 4)
    return (90 + 110 * vessels + rng.normal(0, 6, SHAPE)).astype(np.int16)
