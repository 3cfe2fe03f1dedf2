"""A scan of several tissues with a wide, faint vessel, which is its own background."""

import numpy as np

SHAPE, SPACING = (24, 48, 110), (1.0, 1.0, 1.0)
FIRST, IN_WIDE = (12, 10, 72), (6, 28, 90)
NOISE = 10.0


def bright_vessel():
    """A tube along K, and a branch that leads to the wide vessel."""
    k, j, i = np.indices(SHAPE)
    along = np.clip((j - 10 + i - 72) / 36, 0, 1)
    branch = (j - 10 - 18 * along) ** 2 + (i - 72 - 18 * along) ** 2 + (k - 12) ** 2 <= 5
    return ((j - 10) ** 2 + (i - 72) ** 2 <= 5) | branch


def wide_vessel():
    _k, j, i = np.indices(SHAPE)
    return (j - 28) ** 2 + (i - 90) ** 2 <= 64


def scan(sign=1, air=True, bright=80, faint=14):
    """Tissue at 100 and, to its left, fat and air; a bright vessel, and a wide and faint one."""
    volume = np.random.default_rng(0).normal(0, NOISE, SHAPE)
    if air:
        volume[:, :, :40] -= 1100
        volume[:, :, 40:60] -= 300
    volume += np.where(bright_vessel(), bright, faint * wide_vessel())
    return (100 + sign * volume).astype(np.int16)
