"""The convolution along K on a CUDA device, by a Fourier transform of our own.

cuFFT transforms along I and J. Along K, where the numbers of a line are not adjacent, each of its
passes reads and writes all of the padded columns. Here one kernel transforms, multiplies and
transforms back without leaving the multiprocessor, and reads and writes the box alone. With it the
field of a tube of 256 x 256 x 487 voxels takes 16.7 ms on an NVIDIA H200, with cuFFT 25.5 ms
(Documentation/decisions/0005-field-as-convolution.md). Sizes that are not in `LINE_SIZES` are left
to cuFFT.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from ..cuda_solid import MAX_BLOCKS
from .fft_padding import Sizes

KERNELS = Path(__file__).with_name("convolution.cu")
LINE_KERNELS = KERNELS.with_name("lines.cu")
LINE_SIZES = 256, 512, 1024, 2048  # along K
NUMBERS_PER_BLOCK, LINE_THREADS = 2048, 128  # as in lines.cu
TILE_SIDE, TILE_THREADS = 32, 256  # as in convolution.cu


class LineConvolution:
    """Convolves columns of the charges with all three components of the kernel.

    Parameters
    ----------
    sizes : Sizes
        `sizes.padded[0]` is one of `LINE_SIZES`.
    defines : tuple of str
        Macros for the kernels of `convolution.cu`.
    gpu : CudaDevice
    """

    def __init__(self, sizes: Sizes, defines: tuple[str, ...], gpu: Any) -> None:
        self._xp, self._gpu, self._fourier, self._sizes = gpu.xp, gpu, gpu.fourier, sizes
        self._defines = defines
        self._roots = gpu.put(roots_of_unity(sizes.padded[0]))

    def convolved(self, columns: Any, along_i: Any) -> Iterator[Any]:
        """Yield the components, from the charges and `KernelSpectra.along_i`."""
        factors = self.factors_along_k(self.kernel_along_j(along_i))
        for product in self.along_k(self.along_j(columns), factors):
            yield self.back_along_j(product)

    def kernel_along_j(self, along_i: Any) -> Any:
        """Return the kernel's columns, two real sequences in one, transformed along J."""
        depth, columns, _ = along_i.shape
        rows = self._sizes.padded[1]
        whole = self._xp.empty((depth, columns, rows), complex)
        source = along_i.swapaxes(1, 2)  # as its memory lies
        blocks = min(
            depth * -(-columns // TILE_SIDE) * -(-(rows // 2 + 1) // TILE_SIDE), MAX_BLOCKS
        )
        numbers = (np.int32(n) for n in whole.shape)
        kernel = self._gpu.kernel(KERNELS, "extend_rows", self._defines)
        kernel((blocks,), (TILE_THREADS,), (source, *numbers, whole))
        self._fourier.forward(whole, 2)
        return whole

    def factors_along_k(self, spectrum: Any) -> Any:
        """Return real factors (3, K, columns, J) for frequencies from 0 up."""
        half_depth, columns, rows = spectrum.shape
        factors = self._xp.empty((3, half_depth, columns, rows // 2 + 1), float)
        numbers = np.int32(columns), np.int32(rows)
        arguments = spectrum, self._roots, *numbers, factors
        self._launch("factors_of_lines", columns * (rows // 2 + 1), arguments)
        return factors

    def along_j(self, columns: Any) -> Any:
        """Pad columns of the charges and transform them along J."""
        depth, count, rows = columns.shape
        spectrum = self._xp.empty((depth, count, self._sizes.padded[1]), complex)
        spectrum[:, :, :rows] = columns
        spectrum[:, :, rows:] = 0
        self._fourier.forward(spectrum, 2)
        return spectrum

    def along_k(self, spectrum: Any, factors: Any) -> list[Any]:
        """Convolve the result of `along_j`, which is overwritten, with all three components."""
        _, columns, rows = spectrum.shape
        products = [self._xp.empty(spectrum.shape, complex) for _ in range(2)]
        numbers = (np.int32(n) for n in spectrum.shape)
        arguments = spectrum, factors, self._roots, *numbers, *products
        self._launch("convolve_lines", columns * rows, arguments)
        return [*products, spectrum]

    def back_along_j(self, product: Any) -> Any:
        """Transform back along J; return the box alone."""
        self._fourier.inverse(product, 2)
        return product[:, :, : self._sizes.shape[1]]

    def _launch(self, name: str, lines: int, arguments: tuple[Any, ...]) -> None:
        size = self._sizes.padded[0]
        kernel = self._gpu.kernel(LINE_KERNELS, name, (f"LAST={size // LINE_SIZES[0]}",))
        kernel((-(-lines * size // NUMBERS_PER_BLOCK),), (LINE_THREADS,), arguments)


def roots_of_unity(size: int) -> np.ndarray:
    """Return exp(-2 pi i n / size) for n < size, a multiple of 8, to about the last bit."""
    quarter, rest = np.divmod(np.arange(size) + size // 8, size // 4)
    angle = 2 * np.pi * (rest - size // 8) / size  # of an eighth of a turn at most
    return np.exp(-1j * angle) * np.array([1, -1j, -1, 1j])[quarter % 4]
