"""Unnormalized Fourier transforms along one axis by cuFFT, in place.

`cupy.fft` copies arrays that are transformed along another axis than the last, and views of arrays;
cuFFT needs no copies.
"""

from math import prod
from typing import Any


class Fourier:
    """cuFFT with cached plans, which hold device memory as workspace.

    All arrays are contiguous, or the first planes of a contiguous array. `axis` is the first or
    the last.
    """

    def __init__(self) -> None:
        from cupy.cuda import cufft

        self._cufft = cufft
        self._plans: dict[tuple, Any] = {}

    def forward(self, array: Any, axis: int) -> None:
        """Transform a complex128 array in place."""
        plan = self._plan(self._cufft.CUFFT_Z2Z, array.shape, axis)
        plan.fft(array, array, self._cufft.CUFFT_FORWARD)

    def inverse(self, array: Any, axis: int) -> None:
        """Inverse transform of a complex128 array, in place."""
        plan = self._plan(self._cufft.CUFFT_Z2Z, array.shape, axis)
        plan.fft(array, array, self._cufft.CUFFT_INVERSE)

    def real_forward(self, array: Any, axis: int, out: Any = None) -> Any:
        """Transform a float64 array; the non-negative frequencies, as `numpy.fft.rfft`."""
        import cupy

        size = array.shape[axis]
        shape = tuple(size // 2 + 1 if a == axis else n for a, n in enumerate(array.shape))
        out = cupy.empty(shape, complex) if out is None else out
        plan = self._plan(self._cufft.CUFFT_D2Z, array.shape, axis, size, size // 2 + 1)
        plan.fft(array, out, self._cufft.CUFFT_FORWARD)
        return out

    def real_inverse(self, array: Any, size: int) -> Any:
        """Inverse of `real_forward` to `size` values along the last axis; overwrites `array`."""
        import cupy

        out = cupy.empty((*array.shape[:-1], size), float)
        plan = self._plan(self._cufft.CUFFT_Z2D, array.shape, array.ndim - 1, size, size)
        plan.fft(array, out, self._cufft.CUFFT_INVERSE)
        return out

    def _plan(
        self,
        kind: int,
        shape: tuple[int, ...],
        axis: int,
        size: int | None = None,
        out_count: int | None = None,
    ) -> Any:
        key = kind, shape, axis, size
        if key not in self._plans:
            count = shape[axis]
            batch = prod(shape) // count
            size, out_count = size or count, out_count or count

            def layout(n: int) -> tuple[tuple[int], int, int]:
                """Embedding, stride, distance between lines."""
                return ((n,), batch, 1) if axis == 0 else ((n,), 1, n)

            self._plans[key] = self._cufft.PlanNd(
                (size,), *layout(count), *layout(out_count), kind, batch, "C", axis, None
            )
        return self._plans[key]
