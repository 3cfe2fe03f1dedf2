"""A volume and its negative, of which only what is read is computed."""

from functools import cached_property
from typing import Any

import numpy as np


class Signed:
    """Reads as the volume, or as its negative.

    Parameters
    ----------
    values : ndarray, float32
    sign : int
        1 or -1.

    Attributes
    ----------
    values, sign
        As given.
    """

    def __init__(self, values: np.ndarray, sign: int = 1) -> None:
        self.values, self.sign = values, sign
        self.shape, self.size, self.dtype = values.shape, values.size, values.dtype

    def __getitem__(self, place: Any) -> Any:
        return self.values[place] if self.sign > 0 else -self.values[place]

    def __neg__(self) -> "Signed":
        return Signed(self.values, -self.sign)

    @cached_property
    def whole(self) -> np.ndarray:
        """All of it."""
        return self.values if self.sign > 0 else -self.values

    def ravel(self) -> np.ndarray:
        """All of it, one-dimensional."""
        return self.whole.ravel()
