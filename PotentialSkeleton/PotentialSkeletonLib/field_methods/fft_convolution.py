"""The sum over all charges as a zero-padded convolution, in float64, on the CPU or on CUDA.

``F(P) = sum over C of (P - C) / |P - C|^(m + 1)`` is the convolution of the charges with a kernel
of three components. It is worked plane by plane and then column by column, so that only two arrays
of a quarter of the padded size are held, and a run can be cancelled between any two slabs.
"""

import os
from contextlib import nullcontext
from pathlib import Path

import numpy as np

from FuzzyVesselCommon.errors import DeviceError

from .distance_bands import distance_bands

KERNELS = Path(__file__).with_name("kernels") / "convolution_kernel.cu"
SLAB_ON_CPU, SLAB_ON_CUDA = 1 << 19, 1 << 22  # complex numbers transformed by one call
# How many slabs are held at once, at most; on CUDA also those in which cuFFT's plans work.
SLABS_ON_CPU, SLABS_ON_CUDA = 8, 16
COMPLEX = 16  # bytes
BLOCKS, THREADS = 4096, 256


def sum_forces(solid, strength, report, gpu=None):
    """Forces at the points of a solid.

    Parameters
    ----------
    solid : Solid
    strength : int
    report : callable
        Called with the share that is done; raises to cancel.
    gpu : CudaDevice, optional
        By default the CPU is used.

    Returns
    -------
    forces : ndarray, float64, shape (n, 3)
        Components K, J, I for each of `solid.points`.
    """
    forces = np.empty((solid.points.size, 3))
    bands = list(distance_bands(solid, strength))
    report(0.0)
    sum_bands(solid, strength, bands, forces, report, gpu)
    return forces


def sum_bands(solid, strength, bands, forces, report, gpu=None):
    """Write the forces at the points of some `distance_bands` of a solid."""
    with _workers(gpu):
        convolution = Convolution(solid.classes.shape, strength, gpu)
        steps = Steps(report, convolution.steps_to_begin + 3 * len(bands) * convolution.steps)
        convolution.begin(solid.charges, steps)
        for cut, members in bands:
            points = solid.points[members]
            for component in range(3):
                values = convolution.component(component, cut, points, steps)
                forces[members, component] = values


def padded_shape(shape):
    """Sizes of which no two offsets between voxels of the box coincide, and that factor well."""
    from scipy.fft import next_fast_len

    return tuple(next_fast_len(2 * n - 1, real=True) for n in shape)


def needed_bytes(shape, on_cuda):
    """The most that a convolution over a box of this shape holds at once, about."""
    slab, slabs = (SLAB_ON_CUDA, SLABS_ON_CUDA) if on_cuda else (SLAB_ON_CPU, SLABS_ON_CPU)
    depth, rows, width = padded_shape(shape)
    width = width // 2 + 1
    slab = min(max(slab, rows * width, depth * width), depth * rows * width)
    return COMPLEX * (2 * shape[0] * rows * width + slabs * slab)


class Steps:
    """Counts finished slabs and passes their share on."""

    def __init__(self, report, total):
        self._report, self._total, self._done = report, total, 0

    def __call__(self):
        self._done += 1
        self._report(self._done / self._total)


class Convolution:
    """Convolves the charges of one solid with the kernel's components.

    Arrays that are called spectra are transformed along J and I, but not along K.
    """

    def __init__(self, shape, strength, gpu):
        self._shape, self._padded = shape, padded_shape(shape)
        self._backend = OnCpu(strength) if gpu is None else OnCuda(strength, gpu)
        self._xp, self._fft, slab = self._backend.xp, self._backend.fft, self._backend.slab
        nk, nj, ni = self._padded
        width = ni // 2 + 1
        self._spectrum_shape = (shape[0], nj, width)
        self._planes = list(_slices(shape[0], max(slab // (nj * width), 1)))
        self._columns = list(_slices(nj, max(slab // (nk * width), 1)))
        self.steps_to_begin = len(self._planes)
        self.steps = 2 * len(self._planes) + len(self._columns)
        self._backend.require(needed_bytes(shape, on_cuda=gpu is not None))

    def begin(self, charges, steps):
        """Transform the charges (positions K, J, I)."""
        density = np.zeros(self._shape, bool)
        density[tuple(charges.T)] = True
        self._charges = self._xp.empty(self._spectrum_shape, np.complex128)
        for planes in self._planes:
            slab = self._xp.asarray(density[planes])
            self._charges[planes] = self._transform(slab.astype(np.float64))
            steps()

    def component(self, component, cut, points, steps):
        """One component of the forces at points (flat indices in the box, rising)."""
        spectrum = self._xp.empty(self._spectrum_shape, np.complex128)
        for planes in self._planes:
            kernel = self._backend.kernel(planes, self._padded[1:], component, cut)
            spectrum[planes] = self._transform(kernel)
            steps()
        for columns in self._columns:
            self._convolve_columns(spectrum, columns, odd=component == 0)
            steps()
        return self._values(spectrum, points, steps)

    def _transform(self, planes):
        return self._fft.rfftn(planes, s=self._padded[1:], axes=(1, 2))

    def _convolve_columns(self, spectrum, columns, odd):
        """Along K the kernel is even, or odd for component 0."""
        depth, padded = self._shape[0], self._padded[0]
        half = spectrum[:, columns]
        kernel = self._xp.zeros((padded, *half.shape[1:]), np.complex128)
        kernel[:depth] = half
        kernel[padded - depth + 1 :] = -half[:0:-1] if odd else half[:0:-1]
        product = self._fft.fft(kernel, axis=0)
        product *= self._fft.fft(self._charges[:, columns], n=padded, axis=0)
        spectrum[:, columns] = self._fft.ifft(product, axis=0)[:depth]

    def _values(self, spectrum, points, steps):
        _, rows, width = self._shape
        plane = rows * width
        values = np.empty(points.size)
        for planes in self._planes:
            first, last = np.searchsorted(points, (planes.start * plane, planes.stop * plane))
            if first < last:
                slab = self._fft.irfftn(spectrum[planes], s=self._padded[1:], axes=(1, 2))
                slab = slab[:, :rows, :width].reshape(-1)
                inside = self._xp.asarray(points[first:last] - planes.start * plane)
                values[first:last] = self._backend.get(slab[inside])
            steps()
        return values


class OnCpu:
    """numpy and scipy.fft."""

    slab = SLAB_ON_CPU

    def __init__(self, strength):
        from scipy import fft

        self.xp, self.fft, self._strength = np, fft, strength

    def require(self, size):
        pass

    def get(self, array):
        return array

    def kernel(self, planes, size, component, cut):
        """Offsets K >= 0 of the kernel; along J and I they wrap around."""
        k = np.arange(planes.start, planes.stop)[:, None, None]
        j, i = (np.where(n > len(n) // 2, n - len(n), n) for n in map(np.arange, size))
        j = j[:, None]
        squared = (k * k + j * j + i * i).astype(np.float64)
        squared[(k < cut) & (abs(j) < cut) & (abs(i) < cut)] = np.inf
        return inverse_power(squared, self._strength + 1) * (k, j, i)[component]


class OnCuda:
    """CuPy's cuFFT, and the kernel of the convolution by a kernel of our own."""

    slab = SLAB_ON_CUDA

    def __init__(self, strength, gpu):
        self.xp, self.fft, self._gpu = gpu.xp, gpu.xp.fft, gpu
        self._fill = gpu.kernel(KERNELS, "fill_kernel", (f"STRENGTH={strength}",))

    def require(self, size):
        free = self._gpu.free_memory()
        if size > free:
            raise DeviceError(
                f"{self._gpu.name} has too little memory for the convolution: about "
                f"{size / 2**20:,.0f} MiB are needed and {free / 2**20:,.0f} MiB are free. Close "
                "other programs that use the card, crop the labelmap, or use device 'cpu' or "
                "method 'cuda-shared'."
            )

    def get(self, array):
        return self._gpu.get(array)

    def kernel(self, planes, size, component, cut):
        count = planes.stop - planes.start
        result = self.xp.empty((count, *size), np.float64)
        numbers = (planes.start, count, *size, component, cut)
        self._fill((BLOCKS,), (THREADS,), (result, *map(np.int32, numbers)))
        return result


def inverse_power(squared, exponent):
    """R to the power of -exponent from the squares of R, by products: faster than a power."""
    inverse = 1.0 / squared
    result = np.sqrt(inverse) if exponent % 2 else 1.0
    for bit in range((exponent // 2).bit_length()):
        if exponent // 2 >> bit & 1:
            result = result * inverse
        inverse = inverse * inverse
    return result


def _slices(total, length):
    return (slice(start, min(start + length, total)) for start in range(0, total, length))


def _workers(gpu):
    if gpu is not None:
        return nullcontext()
    from scipy import fft

    return fft.set_workers(os.cpu_count() or 1)
