"""The steps of the convolution in numpy and scipy.fft; see `transforms`."""

from collections.abc import Iterator
from threading import local
from typing import Any

import numpy as np

from FuzzyVesselCoreLib.threads import usable_cores

from ...object.voxel_classes import SURFACE
from .cpu_loops import (
    extend_first,
    extend_last,
    gather_rows,
    multiply,
    scatter_rows,
    write_component,
)
from .fft_padding import Sizes
from .kernel_spectra import KernelSpectra


class CpuTransforms:
    """`Transforms` on the CPU. All methods can be called in several threads at once.

    Parameters
    ----------
    sizes : Sizes
    strength : int
    """

    group = 1 << 17  # complex numbers that fit the cache
    on_host = True

    def __init__(self, sizes: Sizes, strength: int, gpu: Any = None) -> None:
        from scipy import fft

        self._fft, self._sizes, self._strength = fft, sizes, strength
        self.workers = usable_cores()
        self._workspaces = local()  # a thread allocates it once: new memory is slow

    def empty(self, depth: int, columns: int, rows: int) -> np.ndarray:
        return np.empty((depth, columns, rows), complex)

    def charge_rows(self, classes: np.ndarray, planes: slice, charge: float) -> np.ndarray:
        """Return rows along I of the charges of some planes."""
        return (classes[planes] == SURFACE) * charge

    def kernel_rows(self, planes: slice, cut: int) -> np.ndarray:
        _, rows, width = self._sizes.padded
        k = np.arange(planes.start, planes.stop)[:, None, None]
        j, i = np.arange(rows // 2 + 1)[:, None], np.arange(width // 2 + 1)
        squared = (k * k + j * j + i * i).astype(float)
        squared[(k < cut) & (j < cut) & (i < cut)] = np.inf
        power = inverse_power(squared, self._strength + 1)
        odd = power * i
        power += odd
        return np.concatenate((power, (power - 2 * odd)[:, :, -2:0:-1]), axis=2)

    def put_rows(self, rows: np.ndarray, columns: np.ndarray, planes: slice) -> None:
        spectra = self._fft.rfft(rows, n=self._sizes.padded[2], axis=2, overwrite_x=True)
        columns[planes] = spectra.swapaxes(1, 2)

    def put_charges(
        self, classes: np.ndarray, planes: slice, charge: float, columns: np.ndarray
    ) -> None:
        rows = self.charge_rows(classes, planes, charge)
        used = np.any(rows, axis=2)  # the others stay 0
        spectra = self._fft.rfft(rows[used], n=self._sizes.padded[2], axis=1, overwrite_x=True)
        scatter_rows(spectra, used, columns[planes])

    def get_rows(self, columns: np.ndarray, planes: slice, targets: np.ndarray) -> np.ndarray:
        """Return only the rows that have targets, one after another; (rows, I or more)."""
        used = np.any(targets[planes], axis=2)
        spectra = np.empty((np.count_nonzero(used), columns.shape[1]), complex)
        gather_rows(columns[planes], used, spectra)
        return self._fft.irfft(
            spectra, n=self._sizes.padded[2], axis=1, norm="forward", overwrite_x=True
        )

    def load(self, columns: np.ndarray, some: slice) -> np.ndarray:
        return columns[:, some]

    def save(self, product: np.ndarray, columns: np.ndarray, some: slice) -> None:
        columns[:, some] = product

    def convolved(
        self, columns: np.ndarray, kernel: KernelSpectra, some: slice
    ) -> Iterator[np.ndarray]:
        spectrum = self.forward(columns)
        for component, factors in enumerate(kernel.factors(some)):
            yield self.inverse(self.multiply(spectrum, *factors, component))

    def forward(self, columns: np.ndarray) -> np.ndarray:
        """Pad columns and transform them along J and K."""
        depth, count, rows = columns.shape
        spectrum = self._workspace("spectrum", count)
        spectrum[:depth, :, :rows] = columns
        spectrum[:depth, :, rows:] = 0
        spectrum[depth:] = 0
        filled = spectrum[:depth]
        found = self._fft.fft(filled, axis=2, overwrite_x=True)
        if found is not filled:  # it may, but need not, be done in place
            filled[...] = found
        return self._fft.fft(spectrum, axis=0, overwrite_x=True)

    def inverse(self, product: np.ndarray) -> np.ndarray:
        """Transform back along K and J, without scale; return the box alone."""
        depth, rows, _ = self._sizes.shape
        product = self._fft.ifft(product, axis=0, norm="forward", overwrite_x=True)[:depth]
        return self._fft.ifft(product, axis=2, norm="forward", overwrite_x=True)[:, :, :rows]

    def real_forward(self, lines: np.ndarray, axis: int) -> np.ndarray:
        return self._fft.rfft(lines, axis=axis, overwrite_x=True)

    def extended(
        self,
        half: np.ndarray,
        size: int,
        axis: int,
        imaginary: bool = False,
        add_odd: bool = False,
    ) -> np.ndarray:
        whole = np.empty(tuple(size if a == axis else n for a, n in enumerate(half.shape)))
        extend = extend_first if axis == 0 else extend_last
        extend(half, imaginary, add_odd, whole)
        return whole

    def multiply(
        self, spectrum: np.ndarray, factors: np.ndarray, imaginary: bool, odd_axis: int
    ) -> np.ndarray:
        """Multiply a spectrum by -i and by real factors.

        Parameters
        ----------
        factors, imaginary
            From `KernelSpectra.factors`, for frequencies from 0 up.
        odd_axis : int
            The axis along which the factors of negative frequencies have the other sign.
        """
        product = self._workspace("product", spectrum.shape[1])
        multiply(spectrum, factors, imaginary, odd_axis, product)
        return product

    def _workspace(self, name: str, columns: int) -> np.ndarray:
        """Return the thread's own memory for padded columns."""
        depth, rows, _ = self._sizes.padded
        workspace = getattr(self._workspaces, name, None)
        if workspace is None or workspace.shape[1] < columns:
            workspace = np.empty((depth, columns, rows), complex)
            setattr(self._workspaces, name, workspace)
        return workspace[:, :columns]

    def write(
        self,
        values: np.ndarray,
        targets: np.ndarray,
        planes: slice,
        component: int,
        vectors: np.ndarray,
    ) -> None:
        write_component(values, targets[planes], component, vectors[planes])

    def wait(self) -> None:
        """Return at once: there is nothing to wait for."""


def inverse_power(squared: np.ndarray, exponent: int) -> np.ndarray:
    """Return R to the power of -exponent from R^2, by products: faster than a power."""
    inverse = 1.0 / squared
    result: Any = np.sqrt(inverse) if exponent % 2 else 1.0
    for bit in range((exponent // 2).bit_length()):
        if exponent // 2 >> bit & 1:
            result = result * inverse
        inverse = inverse * inverse
    return result
