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
    """

    def __init__(self, values: np.ndarray, sign: int = 1) -> None:
        self._values, self._sign = values, sign
        self.shape, self.size, self.dtype = values.shape, values.size, values.dtype

    def __getitem__(self, place: Any) -> Any:
        return self._values[place] if self._sign > 0 else -self._values[place]

    def __neg__(self) -> "Signed":
        return Signed(self._values, -self._sign)

    @cached_property
    def whole(self) -> np.ndarray:
        """All of it."""
        return self._values if self._sign > 0 else -self._values

    def ravel(self) -> np.ndarray:
        """All of it, one-dimensional."""
        return self.whole.ravel()
