"""The steps of the convolution on a CUDA device, by cuFFT and kernels; see `transforms`."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from FuzzyVesselCoreLib.errors import DeviceMemoryError

from ..cuda_solid import THREADS, grid_for
from . import cuda_lines
from .cuda_lines import KERNELS, LineConvolution
from .fft_padding import Sizes
from .kernel_spectra import KernelSpectra

MAX_GROUP = 1 << 27  # complex numbers: cuFFT's plans count in 32 bits, with a margin
USABLE_SHARE = 0.9  # of the free memory; what is allocated in parts does not fill it


class CudaTransforms:
    """`Transforms` on a CUDA device.

    Arrays of columns are ordered K, J, frequency along I while they wait: on the device, or in host
    memory where that of the device does not suffice. They are transposed when they are loaded.

    Parameters
    ----------
    sizes : Sizes
    strength : int
    gpu : CudaDevice

    Raises
    ------
    DeviceMemoryError
        If not even one column of frequencies fits the device.
    """

    workers = 1

    def __init__(self, sizes: Sizes, strength: int, gpu: Any) -> None:
        self._xp, self._gpu, self._fourier, self._sizes = gpu.xp, gpu, gpu.fourier, sizes
        self._defines = (f"STRENGTH={strength}",)
        free = int(USABLE_SHARE * gpu.free_memory())
        smallest = sizes.smallest_group * sizes.bytes_per_number
        self.on_host = sizes.waiting_bytes > min(free // 2, free - smallest)
        left = free if self.on_host else free - sizes.waiting_bytes
        self.group = min(left // sizes.bytes_per_number, MAX_GROUP)
        if self.group < sizes.smallest_group:
            raise DeviceMemoryError(
                f"{gpu.name} has too little memory for the convolution: about "
                f"{smallest / USABLE_SHARE / 2**20:,.0f} MiB are needed and "
                f"{gpu.free_memory() / 2**20:,.0f} MiB are free. Close other programs that use the "
                "GPU, crop the labelmap, or use device 'cpu' or method 'cuda-shared'."
            )
        self.touches_first = self.on_host
        self._lines = None
        if sizes.padded[0] in cuda_lines.LINE_SIZES:
            self._lines = LineConvolution(sizes, self._defines, gpu)

    def empty_kernel(self, cut: int) -> Any:
        return self._empty(*(n // 2 + 1 for n in self._sizes.padded))

    def empty_charges(self, classes: Any) -> Any:
        depth, rows, _ = self._sizes.shape
        return self._empty(depth, rows, self._sizes.padded[2] // 2 + 1)

    def empty_forces(self, targets: Any, charges: Any) -> list[Any]:
        return [self.empty_charges(targets), self.empty_charges(targets), charges]

    def charge_rows(self, classes: Any, planes: slice, charge: float) -> Any:
        """Return rows along I of the charges of some planes, padded with 0."""
        count = planes.stop - planes.start
        _, rows, width = self._sizes.shape
        padded = self._sizes.padded[2]
        out = self._xp.empty((count, rows, padded), float)
        numbers = (planes.start, count, rows, width, padded)
        self._launch("charge_rows", count * rows, classes, *numbers, float(charge), out)
        return out

    def kernel_rows(self, planes: slice, cut: int) -> Any:
        """Return even and odd part of the kernel along I, added together; (planes, J, I)."""
        count = planes.stop - planes.start
        rows, padded = self._sizes.padded[1] // 2 + 1, self._sizes.padded[2]
        out = self._xp.empty((count, rows, padded), float)
        numbers = (planes.start, count, rows, padded, cut)
        self._launch("kernel_rows", count * rows, *numbers, out)
        return out

    def put_kernel(self, planes: slice, cut: int, kernel: Any) -> None:
        self.put_rows(self.kernel_rows(planes, cut), kernel, planes)

    def load_kernel(self, kernel: Any, some: slice) -> Any:
        return self.load(kernel, some)

    def put_rows(self, rows: Any, columns: Any, planes: slice) -> None:
        """Transform rows along I and keep them in some planes of an array of columns."""
        if self.on_host:
            columns[planes] = self._gpu.get(self._fourier.real_forward(rows, 2))
        else:
            self._fourier.real_forward(rows, 2, out=columns[planes])

    def put_charges(self, classes: Any, planes: slice, charge: float, columns: Any) -> None:
        self.put_rows(self.charge_rows(classes, planes, charge), columns, planes)

    def get_rows(self, columns: Any, planes: slice, targets: Any) -> Any:
        """Return all rows of the planes; (planes, J, I or more)."""
        spectra = self._gpu.put(columns[planes]) if self.on_host else columns[planes]
        return self._fourier.real_inverse(spectra, self._sizes.padded[2])

    def load(self, columns: Any, some: slice) -> Any:
        part = columns[:, :, some]
        part = self._gpu.put(part) if self.on_host else self._xp.ascontiguousarray(part)
        return part.swapaxes(1, 2)

    def save(self, product: Any, columns: Any, some: slice) -> None:
        part = product.swapaxes(1, 2)
        columns[:, :, some] = self._gpu.get(part) if self.on_host else part

    def convolved(self, columns: Any, kernel: KernelSpectra, some: slice) -> Iterator[Any]:
        if self._lines is not None:
            yield from self._lines.convolved(columns, kernel.along_i(some))
            return
        spectrum = self.forward(columns)
        for component, factors in enumerate(kernel.factors(some)):
            yield self.inverse(self.multiply(spectrum, *factors, component))

    def forward(self, columns: Any) -> Any:
        """Pad columns and transform them along J and K."""
        depth, count, rows = columns.shape
        spectrum = self._xp.empty((self._sizes.padded[0], count, self._sizes.padded[1]), complex)
        inside = spectrum[:depth]
        inside[:, :, :rows] = columns
        inside[:, :, rows:] = 0
        spectrum[depth:] = 0
        self._fourier.forward(inside, 2)
        self._fourier.forward(spectrum, 0)
        return spectrum

    def inverse(self, product: Any) -> Any:
        """Transform back along K and J, without scale; return the box alone."""
        depth, rows, _ = self._sizes.shape
        self._fourier.inverse(product, 0)
        inside = product[:depth]
        self._fourier.inverse(inside, 2)
        return inside[:, :, :rows]

    def real_forward(self, lines: Any, axis: int) -> Any:
        return self._fourier.real_forward(lines, axis)

    def extended(
        self, half: Any, size: int, axis: int, imaginary: bool = False, add_odd: bool = False
    ) -> Any:
        shape = tuple(size if a == axis else n for a, n in enumerate(half.shape))
        whole = self._xp.empty(shape, float)
        steps = (step // half.itemsize for step in half.strides)
        strides = self._gpu.struct(KERNELS, "Strides", **dict(zip(("k", "column", "j"), steps)))
        names = "depth", "columns", "rows"
        extent = self._gpu.struct(KERNELS, "Extent", **dict(zip(names, shape)))
        choices = axis, int(imaginary), int(add_odd)
        # What `load` returned is transposed, and the kernel takes the memory as it lies.
        source = half if half.flags.c_contiguous else half.swapaxes(1, 2)
        self._launch("extend", shape[0] * shape[1], source, strides, extent, *choices, whole)
        return whole

    def multiply(self, spectrum: Any, factors: Any, imaginary: bool, odd_axis: int) -> Any:
        """Multiply a spectrum by -i and by real factors; see `CpuTransforms.multiply`."""
        product = self._xp.empty(spectrum.shape, complex)
        choices = int(imaginary), odd_axis
        arguments = spectrum, factors, *spectrum.shape, *choices, product
        self._launch("multiply", product.shape[0] * product.shape[1], *arguments)
        return product

    def write(self, values: Any, targets: Any, planes: slice, component: int, vectors: Any) -> None:
        _, rows, width = self._sizes.shape
        count, padded = planes.stop - planes.start, values.shape[2]
        numbers = (planes.start, count, rows, width, padded, component)
        arguments = values, targets.view(np.uint8), *numbers, vectors
        self._launch("write_component", count * rows, *arguments)

    def _empty(self, *shape: int) -> Any:
        return np.empty(shape, complex) if self.on_host else self._xp.empty(shape, complex)

    def wait(self) -> None:
        self._gpu.synchronize()

    def _launch(self, name: str, rows: int, *args: Any) -> None:
        args = tuple(np.int32(a) if isinstance(a, int) else a for a in args)
        args = tuple(np.float64(a) if isinstance(a, float) else a for a in args)
        self._gpu.kernel(KERNELS, name, self._defines)(grid_for(rows), (THREADS,), args)
