"""The sum over all charges: directly or as a convolution, whichever is faster.

``F(P) = sum over C of (P - C) / |P - C|^(m + 1)`` is the convolution of the charges with a kernel
of three components, each odd along its own axis and even along the others: its transform is -i
times a real array, found from an eighth of the offsets. It is zero-padded, in float64, by SciPy or
CuPy. Rows along I are transformed first; then frequencies along I are worked on in groups, and only
these are padded along J and K. On the CPU threads share the groups, which fit a core's cache.
"""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from math import prod
from typing import Any

import numpy as np

from FuzzyVesselCoreLib.compilation import needs_numba
from FuzzyVesselCoreLib.errors import DeviceMemoryError
from FuzzyVesselCoreLib.progress import Progress, usable_cores
from FuzzyVesselCoreLib.translation import tr as _
from FuzzyVesselCoreLib.voxels.masks import count_voxels, dilate

# How many pairs of target and charge take as long as one padded voxel of the convolution.
PAIRS_PER_VOXEL_ON_CPU, PAIRS_PER_VOXEL_ON_CUDA = 25, 15
# A Fourier transform's rounding error is the same everywhere, the field falls with the depth to the
# power of strength - 2: so much weaker it may be at the far end of a band than at its near end.
MAX_RATIO = 1e8
GROUP_ON_CPU = 1 << 17  # complex numbers that fit the cache
ARRAYS = 12  # of the size of a group that are in use at a time
COMPLEX = 16  # bytes
ROWS_ON_CPU = 1 << 8  # along I that are transformed at a time
PLANS_SHARE = 0.05  # of a device's free memory that cuFFT's plans may hold after a run


class Summation:
    """Sums the forces of one solid after another by a method, and tells how.

    Attributes
    ----------
    launch : papers.Launch or None
        Of a direct CUDA method.
    peak_bytes : int
        Most memory that was held on the host, about.
    """

    def __init__(self, method: str, strength: int, threads: int | None, gpu: Any) -> None:
        self._method, self._strength, self._threads, self._gpu = method, strength, threads, gpu
        self._xp = np if gpu is None else gpu.xp
        self._convolved = self._direct = self.peak_bytes = 0
        self.launch: Any = None

    def write(self, charges: Any, targets: Any, vectors: Any, progress: Progress) -> None:
        """Write the forces (K, J, I, 3) of charges at targets (both bool)."""
        gpu, bands = self._gpu, [(1, targets)]
        padded = prod(_padded_shape(charges.shape))
        limit = 0.0 if self._method == "fft" else np.inf  # pairs that are summed directly
        if self._method in ("auto", "fft"):
            bands = list(_distance_bands(charges, targets, self._strength, self._xp))
        if self._method == "auto":
            limit = padded * (PAIRS_PER_VOXEL_ON_CPU if gpu is None else PAIRS_PER_VOXEL_ON_CUDA)
        progress.advance(0.0)
        positions, convolved = self._positions(charges), []
        for number, (cut, members) in enumerate(bands):
            count = count_voxels(members)
            if count * len(positions) > limit:
                convolved.append((cut, members))
                self._convolved += count
            elif count:
                part = progress.part(number / len(bands), (number + 1) / len(bands))
                self._sum_directly(self._positions(members), positions, vectors, part)
                self._direct += count
        held = 13 * charges.size + bool(convolved) * 7 * padded
        self.peak_bytes = max(self.peak_bytes, held)
        if convolved:
            part = progress.part(1 - len(convolved) / len(bands), 1.0)
            _convolve(charges, convolved, self._strength, vectors, part, gpu)

    def _sum_directly(self, points: Any, charges: Any, vectors: Any, progress: Progress) -> None:
        with needs_numba():  # the package can be imported without it
            from . import papers
        strength, is_auto = self._strength, self._method == "auto"
        if self._gpu is None:
            workers = None if is_auto else 1
            forces = papers.sum_serially(points, charges, strength, progress, workers)
        else:
            method = "cuda-shared" if is_auto else self._method
            forces, self.launch = papers.sum_on_cuda(
                points, charges, strength, self._gpu, method, self._threads, progress
            )
        vectors[tuple(points.T)] = forces

    def _positions(self, marked: Any) -> Any:
        """Positions K, J, I of marked voxels; int32 (n, 3)."""
        return self._xp.stack(marked.nonzero(), axis=1).astype(np.int32)

    @property
    def method(self) -> str:
        """The method that most targets were summed by."""
        if self._method != "auto":
            return self._method
        if self._convolved >= self._direct:
            return "fft"
        return "direct-serial" if self._gpu is None else "cuda-shared"

    @property
    def notes(self) -> tuple[str, ...]:
        """What the user should know."""
        if not (self._method == "auto" and self._convolved and self._direct):
            return ()
        text = _(
            "{convolved} voxels were summed by the convolution and {direct} directly, whichever "
            "was estimated to be faster."
        )
        return (text.format(convolved=self._convolved, direct=self._direct),)


def _padded_shape(shape: tuple[int, ...]) -> tuple[int, int, int]:
    """Even sizes without large prime factors in which no two offsets to a charge coincide.

    A point lies within the surface: at least one voxel further in than the outermost charge.
    """
    from scipy.fft import next_fast_len

    depth, rows, width = (2 * next_fast_len(max(n - 1, 1), real=True) for n in shape)
    return depth, rows, width


def _distance_bands(
    charges: Any, targets: Any, strength: int, xp: Any
) -> Iterator[tuple[int, Any]]:
    """Yield targets split by their distance to the charges, which bounds the rounding error.

    A point whose charges are all at least `cut` voxels away (along one of the axes) has the same
    sum from a kernel that is 0 within `cut`, and the error of that one is as much smaller. Yields
    the cut and its members, bool of the shape of the targets.
    """
    ratio, cut = MAX_RATIO ** (1 / max(strength - 2, 0.5)), 1
    while count_voxels(targets):
        following = int(min(max(cut * ratio, cut + 1), 2 * sum(targets.shape)))
        deeper = targets & _is_far(charges, following, xp)
        members = targets & ~deeper
        if count_voxels(members):
            yield cut, members
        cut, targets = following, deeper


def _is_far(charges: Any, cut: int, xp: Any) -> Any:
    """Where no charge is less than `cut` voxels away; not all such voxels, by blocks of voxels."""
    if 2 * cut > min(charges.shape):
        return xp.zeros(charges.shape, bool)
    side = max(cut // 8, 1)
    sizes = [-(-n // side) for n in charges.shape]
    whole = xp.zeros([n * side for n in sizes], bool)
    whole[tuple(map(slice, charges.shape))] = charges
    a, b, c = sizes
    near = whole.reshape(a, side, b, side, c, side).any(axis=(1, 3, 5))
    for _layer in range(-(-(cut - 1) // side)):
        near = dilate(near)
    for axis in range(3):
        near = xp.repeat(near, side, axis)
    return ~near[tuple(map(slice, charges.shape))]


def _convolve(
    charges: Any,
    bands: list[tuple[int, Any]],
    strength: int,
    vectors: Any,
    progress: Progress,
    gpu: Any = None,
) -> None:
    """Write the forces (K, J, I, 3) of charges (bool) in some `_distance_bands`.

    Each row along I that has targets has charges, as those of a solid's surface. With a `gpu` the
    arrays are CuPy's.
    """
    for number, (cut, members) in enumerate(bands):
        part = progress.part(number / len(bands), (number + 1) / len(bands))
        run = _Convolution(charges, strength, cut, part, gpu)
        run.multiply()
        run.write(members, vectors)
    if gpu is not None and gpu.xp.__name__ == "cupy":
        plans = gpu.xp.fft.config.get_plan_cache()  # of use for the next run, but they hold memory
        if plans.get_curr_memsize() > PLANS_SHARE * gpu.free_memory():
            plans.clear()


class _Convolution:
    """The charges of one solid convolved with the kernel of one band."""

    def __init__(self, charges: Any, strength: int, cut: int, progress: Progress, gpu: Any) -> None:
        self._xp = np if gpu is None else gpu.xp
        if self._xp.__name__ == "cupy":
            from cupyx.scipy import fft
        else:
            from scipy import fft
        self._fft, self._progress, self._gpu = fft, progress, gpu
        self._shape, self._padded = charges.shape, _padded_shape(charges.shape)
        self._is_used = charges.view(np.uint8).max(axis=2).view(bool)  # see `count_voxels`
        self._k, self._j = self._xp.nonzero(self._is_used)
        self._rows = ROWS_ON_CPU
        if gpu is not None:  # few parts: cuFFT has a plan for each size
            self._rows = int(gpu.free_memory() // (ARRAYS * COMPLEX * self._padded[2])) + 1
        self._kernel = self._kernel_rows(strength, cut)
        shape = self._padded[2] // 2 + 1, len(self._k)  # frequencies along I, rows
        if gpu is not None:
            column = ARRAYS * COMPLEX * self._padded[0] * self._padded[1]
            needed, free = 3 * COMPLEX * prod(shape) + column, gpu.free_memory()
            if needed > free:
                raise DeviceMemoryError(
                    f"{gpu.name} has too little memory for the convolution: {needed / 2**20:,.0f} "
                    f"MiB are needed and {free / 2**20:,.0f} MiB are free. Close other programs "
                    "that use the GPU, crop the labelmap, or use device 'cpu'."
                )
        self._spectra = self._xp.empty(shape, complex)

        def transform(some: slice) -> None:
            rows = charges[self._k[some], self._j[some]].astype(float)
            found = fft.rfft(rows, self._padded[2], axis=1, overwrite_x=True)
            self._spectra[:, some] = -1j * found.T  # the factor of the kernel's transforms

        self._each(transform, shape[1], self._rows, 0.05, 0.1)
        # A group of charges is read before the same group of the last component is written.
        self._forces = [self._xp.empty(shape, complex) for _ in range(2)] + [self._spectra]

    def _kernel_rows(self, strength: int, cut: int) -> tuple[Any, Any, Any]:
        """Cosine sums along I of the kernel's power, sine sums of I times it; row of each K, J.

        A row depends on K and J by their distance alone, and on whether the cut goes through it.
        """
        xp, put = (np, np.asarray) if self._gpu is None else (self._xp, self._gpu.put)
        k, j = (np.arange(n // 2 + 1) for n in self._padded[:2])
        keys = 2 * (k[:, None] ** 2 + j**2) + ((k[:, None] < cut) & (j < cut))
        is_there = np.zeros(keys.max() + 1, bool)
        is_there[keys] = True
        place = np.cumsum(is_there)[keys] - 1
        (keys,) = is_there.nonzero()
        squared, is_near = put(keys // 2.0), put(keys % 2 == 1)
        i = xp.arange(self._padded[2] // 2 + 1, dtype=float)
        even, odd = (xp.empty((len(i), len(keys))) for _ in range(2))

        def transform(some: slice) -> None:
            is_cut = is_near[some, None] & (i < cut)
            distance = xp.where(is_cut, np.inf, squared[some, None] + xp.square(i))
            power = _inverse_power(distance, strength + 1, xp)
            cosine, sine = self._sums(power, power * i, 1)
            even[:, some], odd[:, some] = cosine.T, sine.T

        self._each(transform, len(keys), self._rows, 0.0, 0.05)
        return even, odd, put(place)

    def _sums(self, even: Any, odd: Any, axis: int) -> tuple[Any, Any]:
        """Cosine sums of an even sequence, and sine sums of an odd one, by one real transform.

        They are given, and found, from 0 to half their length.
        """
        inner = (slice(None),) * axis + (slice(-2, 0, -1),)
        both, other = (even, even) if odd is None else (even + odd, even - odd)
        whole = self._xp.concatenate([both, other[inner]], axis)
        spectrum = self._fft.rfft(whole, axis=axis, overwrite_x=True)
        return spectrum.real, -spectrum.imag

    def _factors(self, some: slice) -> list[tuple[Any, int, int]]:
        """The kernel's components at some frequencies along I: real (I, K, J), from 0 up.

        With each the signs that it has at negative frequencies along K and J.
        """
        even, odd, place = self._kernel
        k, j = (self._xp.arange(n // 2 + 1, dtype=float) for n in self._padded[:2])
        along_i = even[some][:, place]
        cosine, sine = self._sums(along_i, along_i * j, 2)
        of_j, of_k = self._sums(sine, cosine * k[:, None], 1)
        of_i, _none = self._sums(self._sums(odd[some][:, place], None, 2)[0], None, 1)
        return [(of_k, -1, 1), (of_j, 1, -1), (of_i, 1, 1)]

    def multiply(self) -> None:
        """Multiply the transforms of charges and kernel, and transform back along K and J."""
        depth, (nk, nj, _) = self._shape[0], self._padded
        group, fft, xp = GROUP_ON_CPU, self._fft, self._xp
        if self._gpu is not None:
            group = int(self._gpu.free_memory() // (2 * ARRAYS * COMPLEX))

        def convolved(some: slice) -> None:
            columns = xp.zeros((some.stop - some.start, depth, nj), complex)
            columns[:, self._k, self._j] = self._spectra[some]
            columns = fft.fft(columns, axis=2, overwrite_x=True)
            spectrum = fft.fft(columns, nk, axis=1, overwrite_x=True)
            for component, factors in enumerate(self._factors(some)):
                product = xp.empty_like(spectrum)
                for to_k, from_k, sign_k in _halves(nk, factors[1]):
                    for to_j, from_j, sign_j in _halves(nj, factors[2]):
                        factor = factors[0][:, from_k, from_j]
                        if sign_k * sign_j < 0:
                            factor = -factor
                        part = (slice(None), to_k, to_j)
                        xp.multiply(spectrum[part], factor, out=product[part])
                found = fft.ifft(product, axis=1, overwrite_x=True)[:, :depth]
                found = fft.ifft(found, axis=2, overwrite_x=True)
                self._forces[component][some] = found[:, self._k, self._j]

        self._each(convolved, len(self._spectra), max(group // (nk * nj), 1), 0.1, 0.9)

    def write(self, members: Any, vectors: Any) -> None:
        """Transform the rows back along I, and write the forces at the members."""
        width = self._shape[2]

        def write(some: slice) -> None:
            k, j = self._k[some], self._j[some]
            row, i = self._xp.nonzero(members[k, j])
            for component, spectra in enumerate(self._forces):
                rows = self._fft.irfft(spectra[:, some].T, self._padded[2], axis=1)[:, :width]
                vectors[k[row], j[row], i, component] = rows[row, i]

        self._each(write, len(self._k), self._rows, 0.9, 1.0)

    def _each(
        self, work: Callable[[slice], None], count: int, step: int, start: float, end: float
    ) -> None:
        """Call work for parts of so many, by threads on the CPU, with a part of the progress."""
        progress = self._progress.part(start, end)
        if self._gpu is None:
            step = min(step, max(-(-count // (4 * usable_cores())), 1))
        parts = [slice(n, min(n + step, count)) for n in range(0, count, step)]
        if self._gpu is not None or len(parts) == 1:
            for number, part in enumerate(parts, 1):
                work(part)
                progress.advance(number / len(parts))
            return
        pool = ThreadPoolExecutor(usable_cores())
        try:
            for number, found in enumerate([pool.submit(work, part) for part in parts], 1):
                found.result()
                progress.advance(number / len(parts))
        finally:
            pool.shutdown(cancel_futures=True)


def _halves(size: int, sign: int) -> list[tuple[slice, slice, int]]:
    """Frequencies from 0 up, and the negative ones, with where their factors are and their sign."""
    half = size // 2
    return [
        (slice(0, half + 1), slice(None), 1),
        (slice(half + 1, None), slice(half - 1, 0, -1), sign),
    ]


def _inverse_power(squared: Any, exponent: int, xp: Any) -> Any:
    """R to the power of -exponent from R^2, by products: faster than a power."""
    inverse = 1.0 / squared
    result: Any = xp.sqrt(inverse) if exponent % 2 else 1.0
    for bit in range((exponent // 2).bit_length()):
        if exponent // 2 >> bit & 1:
            result = result * inverse
        inverse = inverse * inverse
    return result
