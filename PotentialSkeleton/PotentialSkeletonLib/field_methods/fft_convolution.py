"""The sum over all charges as a zero-padded convolution, in float64, on the CPU or on CUDA.

``F(P) = sum over C of (P - C) / |P - C|^(m + 1)`` is the convolution of the charges with a kernel
of three components. It is worked plane by plane and then column by column, so that only two arrays
of a quarter of the padded size are held, and a run can be cancelled between any two slabs.
"""

from contextlib import nullcontext

import numpy as np

from .distance_bands import distance_bands


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
    bands = list(distance_bands(solid, strength))
    forces = np.empty((solid.points.size, 3))
    with _workers(gpu):
        convolution = Convolution(solid, strength, gpu)
        steps = Steps(report, convolution.steps_to_begin + 3 * len(bands) * convolution.steps)
        convolution.begin(solid.charges, steps)
        for cut, members in bands:
            for component in range(3):
                forces[members, component] = convolution.component(
                    component, cut, solid.points[members], steps
                )
    return forces


def needed_bytes(shape):
    """Memory that the convolution over a box of this shape holds at once."""
    padded = padded_shape(shape)
    return int(shape[0] * padded[1] * (padded[2] // 2 + 1) * 16 * 2.2) + 12 * 16 * SLAB_ON_CUDA


def padded_shape(shape):
    """Sizes of which no two offsets between voxels of the box coincide, and that factor well."""
    from scipy.fft import next_fast_len

    return tuple(next_fast_len(2 * n - 1, real=True) for n in shape)


SLAB_ON_CPU, SLAB_ON_CUDA = 1 << 19, 1 << 23  # complex numbers transformed by one call


class Steps:
    """Counts finished slabs and passes the share on."""

    def __init__(self, report, total):
        self._report, self._total, self._done = report, total, 0

    def __call__(self):
        self._done += 1
        self._report(self._done / self._total)


class Convolution:
    """Convolves the charges of one solid with the kernel's components.

    Arrays that are called spectra are transformed along J and I, but not along K.
    """

    def __init__(self, solid, strength, gpu):
        self._shape = solid.classes.shape
        self._padded = padded_shape(self._shape)
        self._strength = strength
        self._gpu = gpu
        if gpu is None:
            from scipy import fft

            self._xp, self._fft, slab = np, fft, SLAB_ON_CPU
        else:
            self._xp, self._fft, slab = gpu.xp, gpu.xp.fft, SLAB_ON_CUDA
        nk, nj, ni = self._padded
        width = ni // 2 + 1
        self._spectrum_shape = (self._shape[0], nj, width)
        self._planes = list(_slices(self._shape[0], max(slab // (nj * width), 1)))
        self._columns = list(_slices(nj, max(slab // (nk * width), 1)))
        self.steps_to_begin = len(self._planes)
        self.steps = 2 * len(self._planes) + len(self._columns)
        self._charges = None

    def begin(self, charges, steps):
        """Transform the charges."""
        xp = self._xp
        density = np.zeros(self._shape, bool)
        density[tuple(charges.T)] = True
        self._charges = xp.empty(self._spectrum_shape, np.complex128)
        for planes in self._planes:
            slab = density[planes].astype(np.float64)
            self._charges[planes] = self._transform(xp.asarray(slab))
            steps()

    def component(self, component, cut, points, steps):
        """One component of the forces at points (flat indices in the box, rising)."""
        spectrum = self._xp.empty(self._spectrum_shape, np.complex128)
        for planes in self._planes:
            spectrum[planes] = self._transform(self._kernel(planes, component, cut))
            steps()
        for columns in self._columns:
            self._convolve_columns(spectrum, columns, odd=component == 0)
            steps()
        return self._values(spectrum, points, steps)

    def _transform(self, planes):
        return self._fft.rfftn(planes, s=self._padded[1:], axes=(1, 2))

    def _kernel(self, planes, component, cut):
        """Planes K >= 0 of the kernel; those at -K are equal, for component 0 up to the sign."""
        xp = self._xp
        offsets = [xp.arange(planes.start, planes.stop)]
        for n in self._padded[1:]:
            rising = xp.arange(n)
            offsets.append(xp.where(rising > n // 2, rising - n, rising))
        k, j, i = (offset.reshape(shape) for offset, shape in zip(offsets, _ALONG))
        near = (k < cut) & (abs(j) < cut) & (abs(i) < cut)
        squared = xp.where(near, np.inf, (k * k + j * j + i * i).astype(np.float64))
        return inverse_power(squared, self._strength + 1) * (k, j, i)[component]

    def _convolve_columns(self, spectrum, columns, odd):
        depth, padded = self._shape[0], self._padded[0]
        near = spectrum[:, columns]
        kernel = self._xp.zeros((padded, *near.shape[1:]), np.complex128)
        kernel[:depth] = near
        kernel[padded - depth + 1 :] = -near[:0:-1] if odd else near[:0:-1]
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
                inside = points[first:last] - planes.start * plane
                values[first:last] = self._to_host(slab[self._xp.asarray(inside)])
            steps()
        return values

    def _to_host(self, array):
        return array if self._gpu is None else self._gpu.get(array)


_ALONG = ((-1, 1, 1), (1, -1, 1), (1, 1, -1))


def inverse_power(squared, exponent):
    """R to the power of -exponent from the squares of R, by products: faster than a power."""
    inverse = 1.0 / squared
    result = inverse ** (exponent % 2 / 2) if exponent % 2 else 1.0
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
    import os

    from scipy import fft

    return fft.set_workers(os.cpu_count() or 1)
