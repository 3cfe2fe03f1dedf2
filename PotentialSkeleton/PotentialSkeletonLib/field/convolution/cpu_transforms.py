"""The steps of the convolution in numpy and scipy.fft; see `cuda_transforms`."""

from threading import local

import numpy as np
from numba import njit

from FuzzyVesselCoreLib.threads import usable_cores

from ...object.voxel_classes import SURFACE


class CpuTransforms:
    """Works on slices of arrays; so several threads can each have one.

    Arrays of columns are ordered K, frequency along I, J.

    Parameters
    ----------
    sizes : Sizes
    strength : int

    Attributes
    ----------
    group : int
        Complex numbers that are worked at a time: no more than fit the cache.
    workers : int
        How many parts are worked at once.
    """

    group = 1 << 17
    on_host = True

    def __init__(self, sizes, strength, gpu=None):
        from scipy import fft

        self._fft, self._sizes, self._strength = fft, sizes, strength
        self.workers = usable_cores()
        self._rooms = local()  # a thread takes memory for its spectra once: new memory is slow

    def empty(self, depth, columns, rows):
        """An array of columns."""
        return np.empty((depth, columns, rows), complex)

    def charge_rows(self, classes, planes, charge):
        """Rows along I of the charges of some planes."""
        return (classes[planes] == SURFACE) * charge

    def kernel_rows(self, planes, cut):
        """Even and odd part along I of the kernel, for offsets K, J >= 0, added together."""
        _, rows, width = self._sizes.padded
        k = np.arange(planes.start, planes.stop)[:, None, None]
        j, i = np.arange(rows // 2 + 1)[:, None], np.arange(width // 2 + 1)
        squared = (k * k + j * j + i * i).astype(float)
        squared[(k < cut) & (j < cut) & (i < cut)] = np.inf
        power = inverse_power(squared, self._strength + 1)
        odd = power * i
        power += odd
        return np.concatenate((power, (power - 2 * odd)[:, :, -2:0:-1]), axis=2)

    def put_rows(self, rows, columns, planes):
        """Transform rows along I and keep them in planes of an array of columns."""
        spectra = self._fft.rfft(rows, n=self._sizes.padded[2], axis=2, overwrite_x=True)
        columns[planes] = spectra.swapaxes(1, 2)

    def put_charges(self, classes, planes, charge, columns):
        """Transform the rows of charges of some planes and keep them; empty rows stay 0."""
        rows = self.charge_rows(classes, planes, charge)
        used = rows.any(axis=2)
        spectra = self._fft.rfft(rows[used], n=self._sizes.padded[2], axis=1, overwrite_x=True)
        scatter_rows(spectra, used, columns[planes])

    def get_rows(self, columns, planes, wanted):
        """Rows of some planes, transformed back along I; (rows, I or more).

        Only the rows in which something is wanted, one behind the other.
        """
        used = wanted[planes].any(axis=2)
        spectra = np.empty((np.count_nonzero(used), columns.shape[1]), complex)
        gather_rows(columns[planes], used, spectra)
        return self._fft.irfft(
            spectra, n=self._sizes.padded[2], axis=1, norm="forward", overwrite_x=True
        )

    def load(self, columns, some):
        """Some of the columns, to be worked with."""
        return columns[:, some]

    def save(self, product, columns, some):
        """Keep some columns of a component that `convolved` gave."""
        columns[:, some] = product

    def convolved(self, columns, kernel, some):
        """Yield the components (K, columns, J) of the box, from columns of the charges.

        Parameters
        ----------
        columns : ndarray
            From `load`.
        kernel : KernelSpectra
        some : slice
            Which columns they are.
        """
        spectrum = self.forward(columns)
        for component, factors in enumerate(kernel.factors(some)):
            yield self.inverse(self.multiply(spectrum, *factors, component))

    def forward(self, columns):
        """Pad columns and transform them along J and K."""
        depth, count, rows = columns.shape
        spectrum = self._room("spectrum", count)
        spectrum[:depth, :, :rows] = columns
        spectrum[:depth, :, rows:] = 0
        spectrum[depth:] = 0
        filled = spectrum[:depth]
        found = self._fft.fft(filled, axis=2, overwrite_x=True)
        if found is not filled:  # it may, but need not, be done in place
            filled[...] = found
        return self._fft.fft(spectrum, axis=0, overwrite_x=True)

    def inverse(self, product):
        """The transform back along K and J, without scale, of the box alone."""
        depth, rows, _ = self._sizes.shape
        product = self._fft.ifft(product, axis=0, norm="forward", overwrite_x=True)[:depth]
        return self._fft.ifft(product, axis=2, norm="forward", overwrite_x=True)[:, :, :rows]

    def real_forward(self, lines, axis):
        """Transform real lines."""
        return self._fft.rfft(lines, axis=axis, overwrite_x=True)

    def extended(self, half, size, axis, imaginary=False, add_odd=False):
        """A real even sequence of even size from its values at 0 to size / 2, and an odd one added.

        Parameters
        ----------
        half : ndarray, complex, shape (K, columns, J)
            Its real part, or with `imaginary` the imaginary one with the sign turned, is the even
            sequence along the axis.
        size : int
        axis : int
            0 or 2.
        add_odd : bool
            Add the real part times the distance from 0, which is odd. It is not 0 at size / 2, as
            it should be; no offset is as large.
        """
        whole = np.empty(tuple(size if a == axis else n for a, n in enumerate(half.shape)))
        if axis == 0:
            extend_first(half, imaginary, add_odd, whole)
        else:
            extend_last(half, imaginary, add_odd, whole)
        return whole

    def multiply(self, spectrum, factors, imaginary, odd_axis):
        """-i times a spectrum times real factors, which are given for frequencies from 0 up.

        Parameters
        ----------
        factors, imaginary
            From `KernelSpectra.factors`.
        odd_axis : int
            The axis along which the factors of negative frequencies have the other sign.
        """
        product = self._room("product", spectrum.shape[1])
        multiply(spectrum, factors, imaginary, odd_axis, product)
        return product

    def _room(self, name, columns):
        """Memory of the thread for padded columns."""
        depth, rows, _ = self._sizes.padded
        room = getattr(self._rooms, name, None)
        if room is None or room.shape[1] < columns:
            room = np.empty((depth, columns, rows), complex)
            setattr(self._rooms, name, room)
        return room[:, :columns]

    def write(self, values, wanted, planes, component, vectors):
        """Write one component of the force to vectors (K, J, I, 3), where it is wanted.

        `values` are from `get_rows`.
        """
        write_component(values, wanted[planes], component, vectors[planes])

    def wait(self):
        """Until all work is done; here it always is."""


@njit(cache=True, inline="always")
def part_of(number, imaginary):
    return -number.imag if imaginary else number.real


@njit(cache=True, nogil=True)
def extend_first(half, imaginary, add_odd, whole):
    size, columns, rows = whole.shape
    for place in range(size):
        n = min(place, size - place)
        offset = place if place <= size // 2 else place - size
        for column in range(columns):
            for j in range(rows):
                value = part_of(half[n, column, j], imaginary)
                if add_odd:
                    value += offset * half[n, column, j].real
                whole[place, column, j] = value


@njit(cache=True, nogil=True)
def extend_last(half, imaginary, add_odd, whole):
    depth, columns, size = whole.shape
    for k in range(depth):
        for column in range(columns):
            source, target = half[k, column], whole[k, column]
            for n in range(size // 2 + 1):
                value = part_of(source[n], imaginary)
                odd = n * source[n].real if add_odd else 0.0
                if 0 < n < size // 2:
                    target[size - n] = value - odd
                target[n] = value + odd


@njit(cache=True, nogil=True)
def multiply(spectrum, factors, imaginary, odd_axis, product):
    depth, columns, rows = spectrum.shape
    for k in range(depth):
        mirrored = k > depth // 2
        from_k = depth - k if mirrored else k
        sign = -1.0 if mirrored and odd_axis == 0 else 1.0
        other_sign = -sign if odd_axis == 1 else sign
        for column in range(columns):
            source, target = spectrum[k, column], product[k, column]
            factor = factors[from_k, column]
            for j in range(rows // 2 + 1):
                by = sign * part_of(factor[j], imaginary)
                target[j] = complex(source[j].imag * by, -source[j].real * by)
            for j in range(rows // 2 + 1, rows):
                by = other_sign * part_of(factor[rows - j], imaginary)
                target[j] = complex(source[j].imag * by, -source[j].real * by)


@njit(cache=True, nogil=True)
def scatter_rows(spectra, used, columns):
    """Set columns (K, frequency along I, J) to the spectra of the rows that are used, else to 0."""
    depth, frequencies, rows = columns.shape
    first = 0
    for k in range(depth):
        for frequency in range(frequencies):
            n = first
            for j in range(rows):
                columns[k, frequency, j] = spectra[n, frequency] if used[k, j] else 0
                n += used[k, j]
        first += np.count_nonzero(used[k])


@njit(cache=True, nogil=True)
def gather_rows(columns, used, spectra):
    """Set the spectra to those of the rows that are used; the opposite of `scatter_rows`."""
    depth, frequencies, rows = columns.shape
    first = 0
    for k in range(depth):
        for frequency in range(frequencies):
            n = first
            for j in range(rows):
                if used[k, j]:
                    spectra[n, frequency] = columns[k, frequency, j]
                    n += 1
        first += np.count_nonzero(used[k])


@njit(cache=True, nogil=True)
def write_component(values, wanted, component, vectors):
    depth, rows, width = wanted.shape
    n = 0
    for k in range(depth):
        for j in range(rows):
            is_used = False
            for i in range(width):
                if wanted[k, j, i]:
                    vectors[k, j, i, component] = values[n, i]
                    is_used = True
            n += is_used


def inverse_power(squared, exponent):
    """R to the power of -exponent from the squares of R, by products: faster than a power."""
    inverse = 1.0 / squared
    result = np.sqrt(inverse) if exponent % 2 else 1.0
    for bit in range((exponent // 2).bit_length()):
        if exponent // 2 >> bit & 1:
            result = result * inverse
        inverse = inverse * inverse
    return result
