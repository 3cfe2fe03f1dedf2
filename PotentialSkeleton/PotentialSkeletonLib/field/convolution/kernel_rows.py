"""Rows of the kernel along I on the CPU: one for all offsets (K, J) of the same length."""

from typing import Any

import numpy as np

from .fft_padding import Sizes


class KernelRows:
    """Transforms along I of the kernel's rows, for offsets K, J >= 0.

    A row depends on K and J by their distance alone, and on whether the cut goes through it; about
    half of the offsets have one that no offset before them has.

    Parameters
    ----------
    sizes : Sizes
    strength, cut : int
        The kernel is 0 where all three offsets are below the cut.
    near : ndarray of float64
        What is subtracted from R^(-strength - 1) for each R^2 from 0 on.

    Attributes
    ----------
    place : ndarray of int, shape (K, J)
        The row of each offset among the different ones.
    """

    def __init__(self, sizes: Sizes, strength: int, cut: int, near: np.ndarray) -> None:
        self._planes, rows, self._half_width = (n // 2 + 1 for n in sizes.padded)
        self._strength, self._cut, self._near = strength, cut, near
        k, j = np.arange(self._planes)[:, None], np.arange(rows)
        keys = 2 * (k * k + j * j) + ((k < cut) & (j < cut))
        self._keys, self.place = np.unique(keys, return_inverse=True)
        self.place = self.place.reshape(keys.shape)
        self._spectra = np.empty((sizes.columns, len(self._keys)), complex)

    def rows(self, part: slice) -> np.ndarray:
        """Return even and odd part along I, added together, of some different rows (rows, I)."""
        keys, i = self._keys[part], np.arange(self._half_width)
        whole = keys[:, None] // 2 + i * i
        squared = whole.astype(float)
        squared[keys % 2 == 1, : self._cut] = np.inf
        power = inverse_power(squared, self._strength + 1)
        is_near = whole < len(self._near)
        power[is_near] -= self._near[whole[is_near]]
        odd = power * i
        power += odd
        return np.concatenate((power, (power - 2 * odd)[:, -2:0:-1]), axis=1)

    def put(self, planes: slice, real_forward: Any) -> None:
        """Transform as large a part of the rows as some planes are of all."""
        ends = (len(self._keys) * end // self._planes for end in (planes.start, planes.stop))
        part = slice(*ends)
        spectra = real_forward(self.rows(part), 1)
        self._spectra[:, part] = spectra[:, : len(self._spectra)].T

    def load(self, some: slice, columns: np.ndarray) -> None:
        """Set columns (K, some frequencies along I, J)."""
        for column, spectra in enumerate(self._spectra[some]):
            np.take(spectra, self.place, out=columns[:, column], mode="clip")


def inverse_power(squared: np.ndarray, exponent: int) -> np.ndarray:
    """Return R to the power of -exponent from R^2, by products: faster than a power."""
    inverse = 1.0 / squared
    result: Any = np.sqrt(inverse) if exponent % 2 else 1.0
    for bit in range((exponent // 2).bit_length()):
        if exponent // 2 >> bit & 1:
            result = result * inverse
        inverse = inverse * inverse
    return result
