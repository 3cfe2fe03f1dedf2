"""Fourier transforms along one axis by cuFFT, in place and without scale.

CuPy's own functions copy what is not along the last axis, and what is a part of an array; cuFFT
needs no copies.
"""

from math import prod


class Fourier:
    """Keeps its plans, and the memory of the card that they work in.

    All arrays are contiguous, or the first planes of a contiguous array. `axis` is the first or
    the last.
    """

    def __init__(self):
        from cupy.cuda import cufft

        self._cufft = cufft
        self._plans = {}

    def forward(self, array, axis):
        """Transform a complex128 array in place."""
        plan = self._plan(self._cufft.CUFFT_Z2Z, array.shape, axis)
        plan.fft(array, array, self._cufft.CUFFT_FORWARD)

    def inverse(self, array, axis):
        """Transform a complex128 array back in place."""
        plan = self._plan(self._cufft.CUFFT_Z2Z, array.shape, axis)
        plan.fft(array, array, self._cufft.CUFFT_INVERSE)

    def real_forward(self, array, axis, out=None):
        """Transform a float64 array; half of the spectrum and the middle."""
        import cupy

        size = array.shape[axis]
        shape = tuple(size // 2 + 1 if a == axis else n for a, n in enumerate(array.shape))
        out = cupy.empty(shape, complex) if out is None else out
        plan = self._plan(self._cufft.CUFFT_D2Z, array.shape, axis, size, size // 2 + 1)
        plan.fft(array, out, self._cufft.CUFFT_FORWARD)
        return out

    def real_inverse(self, array, size):
        """Transform half spectra back to `size` real values along the last axis; destroys them."""
        import cupy

        out = cupy.empty((*array.shape[:-1], size), float)
        plan = self._plan(self._cufft.CUFFT_Z2D, array.shape, array.ndim - 1, size, size)
        plan.fft(array, out, self._cufft.CUFFT_INVERSE)
        return out

    def _plan(self, kind, shape, axis, size=None, out_count=None):
        key = kind, shape, axis, size
        if key not in self._plans:
            count = shape[axis]
            batch = prod(shape) // count
            size, out_count = size or count, out_count or count

            def layout(n):
                """Embedding, stride, distance from one line to the next."""
                return ((n,), batch, 1) if axis == 0 else ((n,), 1, n)

            self._plans[key] = self._cufft.PlanNd(
                (size,), *layout(count), *layout(out_count), kind, batch, "C", axis, None
            )
        return self._plans[key]
