"""The steps of the convolution by cuFFT and kernels of our own.

cuFFT transforms along I and J. Along K, where numbers do not lie side by side, each of its passes
reads and writes all of the padded columns; where the size is one of `LINE_SIZES` one kernel does
everything that is done there, and reads and writes the box alone.
"""

from pathlib import Path

import numpy as np

from FuzzyVesselCoreLib.errors import NoRoomError

from ..cuda_solid import MOST_BLOCKS, THREADS, grid_for

KERNELS = Path(__file__).with_name("convolution.cu")
LINE_KERNELS = KERNELS.with_name("lines.cu")
LINE_SIZES = 256, 512, 1024, 2048  # along K
NUMBERS_A_BLOCK, LINE_THREADS = 2048, 128  # as in lines.cu
TILE_SIDE, TILE_THREADS = 32, 256  # as in convolution.cu
LARGEST_GROUP = 1 << 27  # complex numbers: cuFFT's plans count in 32 bits, with a margin
USABLE = 0.9  # share of the free memory; what is allocated in parts does not fill it


class CudaTransforms:
    """As `CpuTransforms`, whose arguments and results are the same.

    Arrays of columns are ordered K, J, frequency along I while they wait: on the card, or in the
    host's memory where the card's does not suffice. They are turned as they are loaded.

    Parameters
    ----------
    sizes : Sizes
    strength : int
    gpu : CudaDevice

    Attributes
    ----------
    group : int
        Complex numbers that are worked at a time.
    on_host : bool
        Whether arrays of columns wait in the host's memory.

    Raises
    ------
    NoRoomError
        If not even one column of frequencies fits the card.
    """

    workers = 1

    def __init__(self, sizes, strength, gpu):
        self._xp, self._gpu, self._fourier, self._sizes = gpu.xp, gpu, gpu.fourier, sizes
        self._defines = (f"STRENGTH={strength}",)
        free = int(USABLE * gpu.free_memory())
        smallest = sizes.smallest_group * sizes.bytes_a_number
        self.on_host = sizes.waiting_bytes > min(free // 2, free - smallest)
        left = free if self.on_host else free - sizes.waiting_bytes
        self.group = min(left // sizes.bytes_a_number, LARGEST_GROUP)
        if self.group < sizes.smallest_group:
            raise NoRoomError(
                f"{gpu.name} has too little memory for the convolution: about "
                f"{smallest / USABLE / 2**20:,.0f} MiB are needed and "
                f"{gpu.free_memory() / 2**20:,.0f} MiB are free. Close other programs that use the "
                "card, crop the labelmap, or use device 'cpu' or method 'cuda-shared'."
            )

        if sizes.padded[0] in LINE_SIZES:
            self._roots = gpu.put(roots_of_unity(sizes.padded[0]))

    def empty(self, depth, columns, rows):
        shape = depth, rows, columns
        return np.empty(shape, complex) if self.on_host else self._xp.empty(shape, complex)

    def charge_rows(self, classes, planes, charge):
        count = planes.stop - planes.start
        _, rows, width = self._sizes.shape
        padded = self._sizes.padded[2]
        out = self._xp.empty((count, rows, padded), float)
        numbers = (planes.start, count, rows, width, padded)
        self._launch("charge_rows", count * rows, classes, *numbers, float(charge), out)
        return out

    def kernel_rows(self, planes, cut):
        count = planes.stop - planes.start
        rows, padded = self._sizes.padded[1] // 2 + 1, self._sizes.padded[2]
        out = self._xp.empty((count, rows, padded), float)
        numbers = (planes.start, count, rows, padded, cut)
        self._launch("kernel_rows", count * rows, *numbers, out)
        return out

    def put_rows(self, rows, columns, planes):
        if self.on_host:
            columns[planes] = self._gpu.get(self._fourier.real_forward(rows, 2))
        else:
            self._fourier.real_forward(rows, 2, out=columns[planes])

    def put_charges(self, classes, planes, charge, columns):
        self.put_rows(self.charge_rows(classes, planes, charge), columns, planes)

    def get_rows(self, columns, planes, wanted):
        """All rows of the planes; (planes, J, I or more)."""
        spectra = self._gpu.put(columns[planes]) if self.on_host else columns[planes]
        return self._fourier.real_inverse(spectra, self._sizes.padded[2])

    def load(self, columns, some):
        part = columns[:, :, some]
        part = self._gpu.put(part) if self.on_host else self._xp.ascontiguousarray(part)
        return part.swapaxes(1, 2)

    def save(self, product, columns, some):
        part = product.swapaxes(1, 2)
        columns[:, :, some] = self._gpu.get(part) if self.on_host else part

    def convolved(self, columns, kernel, some):
        if self._sizes.padded[0] in LINE_SIZES:
            yield from self._convolved_in_one_pass(columns, kernel.along_i(some))
            return
        spectrum = self.forward(columns)
        for component, factors in enumerate(kernel.factors(some)):
            yield self.inverse(self.multiply(spectrum, *factors, component))

    def _convolved_in_one_pass(self, columns, kernel):
        """The same with `lines.cu` along K."""
        factors = self.factors_along_k(self.kernel_along_j(kernel))
        for product in self.along_k(self.along_j(columns), factors):
            yield self.back_along_j(product)

    def kernel_along_j(self, along_i):
        """The kernel's columns, two real sequences in one, transformed along J."""
        depth, columns, _ = along_i.shape
        rows = self._sizes.padded[1]
        whole = self._xp.empty((depth, columns, rows), complex)
        source = along_i.swapaxes(1, 2)  # as its memory lies
        blocks = min(
            depth * -(-columns // TILE_SIDE) * -(-(rows // 2 + 1) // TILE_SIDE), MOST_BLOCKS
        )
        numbers = (np.int32(n) for n in whole.shape)
        kernel = self._gpu.kernel(KERNELS, "extend_rows", self._defines)
        kernel((blocks,), (TILE_THREADS,), (source, *numbers, whole))
        self._fourier.forward(whole, 2)
        return whole

    def factors_along_k(self, spectrum):
        """Real factors (3, K, columns, J) for frequencies from 0 up, from `kernel_along_j`."""
        half_depth, columns, rows = spectrum.shape
        factors = self._xp.empty((3, half_depth, columns, rows // 2 + 1), float)
        numbers = np.int32(columns), np.int32(rows)
        arguments = spectrum, self._roots, *numbers, factors
        self._launch_lines("factors_of_lines", columns * (rows // 2 + 1), arguments)
        return factors

    def along_j(self, columns):
        """Pad columns of the charges and transform them along J."""
        depth, count, rows = columns.shape
        spectrum = self._xp.empty((depth, count, self._sizes.padded[1]), complex)
        spectrum[:, :, :rows] = columns
        spectrum[:, :, rows:] = 0
        self._fourier.forward(spectrum, 2)
        return spectrum

    def along_k(self, spectrum, factors):
        """Convolve what `along_j` gave, and is not needed any more, with all three components."""
        _, columns, rows = spectrum.shape
        products = [self._xp.empty(spectrum.shape, complex) for _ in range(2)]
        numbers = (np.int32(n) for n in spectrum.shape)
        arguments = spectrum, factors, self._roots, *numbers, *products
        self._launch_lines("convolve_lines", columns * rows, arguments)
        return [*products, spectrum]

    def _launch_lines(self, name, lines, arguments):
        size = self._sizes.padded[0]
        kernel = self._gpu.kernel(LINE_KERNELS, name, (f"LAST={size // LINE_SIZES[0]}",))
        kernel((-(-lines * size // NUMBERS_A_BLOCK),), (LINE_THREADS,), arguments)

    def back_along_j(self, product):
        self._fourier.inverse(product, 2)
        return product[:, :, : self._sizes.shape[1]]

    def forward(self, columns):
        depth, count, rows = columns.shape
        spectrum = self._xp.empty((self._sizes.padded[0], count, self._sizes.padded[1]), complex)
        inside = spectrum[:depth]
        inside[:, :, :rows] = columns
        inside[:, :, rows:] = 0
        spectrum[depth:] = 0
        self._fourier.forward(inside, 2)
        self._fourier.forward(spectrum, 0)
        return spectrum

    def inverse(self, product):
        depth, rows, _ = self._sizes.shape
        self._fourier.inverse(product, 0)
        inside = product[:depth]
        self._fourier.inverse(inside, 2)
        return inside[:, :, :rows]

    def real_forward(self, lines, axis):
        return self._fourier.real_forward(lines, axis)

    def extended(self, half, size, axis, imaginary=False, add_odd=False):
        shape = tuple(size if a == axis else n for a, n in enumerate(half.shape))
        whole = self._xp.empty(shape, float)
        strides = (np.int64(step // half.itemsize) for step in half.strides)
        choices = axis, int(imaginary), int(add_odd)
        # What `load` returned is turned, and the kernel takes the memory as it lies.
        source = half if half.flags.c_contiguous else half.swapaxes(1, 2)
        self._launch("extend", shape[0] * shape[1], source, *strides, *shape, *choices, whole)
        return whole

    def multiply(self, spectrum, factors, imaginary, odd_axis):
        product = self._xp.empty(spectrum.shape, complex)
        choices = int(imaginary), odd_axis
        arguments = spectrum, factors, *spectrum.shape, *choices, product
        self._launch("multiply", product.shape[0] * product.shape[1], *arguments)
        return product

    def write(self, values, wanted, planes, component, vectors):
        """Write one component of the force to vectors (K, J, I, 3), where it is wanted."""
        _, rows, width = self._sizes.shape
        count, padded = planes.stop - planes.start, values.shape[2]
        numbers = (planes.start, count, rows, width, padded, component)
        arguments = values, wanted.view(np.uint8), *numbers, vectors
        self._launch("write_component", count * rows, *arguments)

    def wait(self):
        """Until all work is done."""
        self._gpu.synchronize()

    def _launch(self, name, rows, *args):
        args = [np.int32(a) if isinstance(a, int) else a for a in args]
        args = [np.float64(a) if isinstance(a, float) else a for a in args]
        self._gpu.kernel(KERNELS, name, self._defines)(grid_for(rows), (THREADS,), args)


def roots_of_unity(size):
    """exp(-2 pi i n / size) for n below size, a multiple of 8, to the last bit or nearly so."""
    quarter, rest = np.divmod(np.arange(size) + size // 8, size // 4)
    angle = 2 * np.pi * (rest - size // 8) / size  # of an eighth of a turn at most
    return np.exp(-1j * angle) * np.array([1, -1j, -1, 1j])[quarter % 4]
