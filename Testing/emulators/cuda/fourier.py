"""The emulated device's Fourier transforms, in place of `FuzzyVesselCoreLib.gpu.fourier`."""

import numpy as np
from scipy import fft


class Fourier:
    """SciPy in place of cuFFT, with cuFFT's checks of its arguments."""

    def __init__(self, xp):
        self._xp = xp

    def forward(self, array, axis):
        self._check(array, complex, axis)
        array[...] = fft.fft(array, axis=axis)

    def inverse(self, array, axis):
        self._check(array, complex, axis)
        array[...] = fft.ifft(array, axis=axis, norm="forward")

    def real_forward(self, array, axis, out=None):
        self._check(array, float, axis)
        found = fft.rfft(array, axis=axis)
        if out is None:
            return self._xp.array(found)
        self._check(out, complex, axis)
        if out.shape != found.shape:
            raise ValueError(f"an array of shape {out.shape} for results of shape {found.shape}")
        out[...] = found
        return out

    def real_inverse(self, array, size):
        self._check(array, complex, array.ndim - 1)
        result = self._xp.array(fft.irfft(array, n=size, axis=-1, norm="forward"))
        array[...] = np.nan  # cuFFT destroys it
        return result

    def _check(self, array, dtype, axis):
        if array.dtype != np.dtype(dtype):
            raise TypeError(f"an array of {array.dtype}, not of {np.dtype(dtype)}")
        if not array.flags.c_contiguous:
            raise ValueError("cuFFT's plans are for contiguous arrays")
        if axis not in (0, array.ndim - 1):
            raise ValueError(f"axis {axis} is neither the first nor the last")
