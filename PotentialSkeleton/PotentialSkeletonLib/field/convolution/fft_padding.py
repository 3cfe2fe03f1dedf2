"""Sizes of the zero-padded convolution over a solid's box."""

from functools import cached_property
from math import ceil

COMPLEX = 16  # bytes
# The arrays of a group of columns at their padded sizes: spectrum, product, those of the kernel's
# factors, and what the Fourier transforms work in, also for a last group that is smaller.
ARRAYS = 8


class Sizes:
    """Sizes of a convolution.

    Parameters
    ----------
    shape : 3 int
        The solid's box, K, J, I.
    on_device : bool
        Whether cuFFT transforms: along K, where the numbers of a line are not adjacent, it is much
        slower for some sizes than for others.
    band : float
        The share of the frequencies along I and J, from 0 up, that the kernel has.

    Attributes
    ----------
    padded : 3 int
        Even sizes that factor well, in which no two offsets of a point to a charge coincide. A
        point lies within the surface: at least one voxel further in than the outermost charge.
    columns : int
        Frequencies along I, from 0 up.
    rows : int
        Frequencies along J, negative ones included; even.
    """

    bytes_per_number = COMPLEX * ARRAYS

    def __init__(self, shape: tuple[int, ...], on_device: bool = False, band: float = 1.0) -> None:
        self.shape, self._band = tuple(int(n) for n in shape), band
        depth, rows, width = (2 * n - 3 for n in self.shape)
        along_k = fast_along_k(depth) if on_device else fast_even(depth)
        self.padded = along_k, fast_even(rows), fast_even(width)

    @property
    def columns(self) -> int:
        return min(ceil(self._band * self.padded[2] / 2), self.padded[2] // 2) + 1

    @property
    def rows(self) -> int:
        return 2 * min(ceil(self._band * self.padded[1] / 2) + 1, self.padded[1] // 2)

    @cached_property
    def waiting_bytes(self) -> int:
        """Memory of what waits between the passes: three components, the kernel along I.

        On the CPU this is a bound: only the rows that hold something wait.
        """
        depth, rows, _ = self.shape
        half_depth, half_rows, _ = (n // 2 + 1 for n in self.padded)
        return COMPLEX * self.columns * (3 * depth * rows + half_depth * half_rows)

    @property
    def smallest_group(self) -> int:
        """Complex numbers of the smallest part that can be transformed by itself."""
        depth, rows, width = self.padded
        return rows * max(depth, width)


def fast_even(least: int) -> int:
    """Return the smallest even number from `least` up without prime factors above 7."""
    size = max(least + least % 2, 2)
    while not factors_well(size):
        size += 2
    return size


def fast_along_k(least: int) -> int:
    """Return the size along K, from `least` up, that takes cuFFT the least time.

    Measured on an H200, milliseconds for 217 x 448 complex lines: 960: 4.9, 972: 2.2, 1000: 4.7,
    1008: 1.7, 1024: 1.35. So a power of two is worth a third more numbers, and a factor 5 is none.
    """
    power = 2
    while power < least:
        power *= 2
    other = fast_even(least)
    while not factors_well(other, (2, 3, 7)):
        other = fast_even(other + 2)
    return power if power <= 4 / 3 * other else other


def factors_well(number: int, primes: tuple[int, ...] = (2, 3, 5, 7)) -> bool:
    """Return whether a number has no other prime factors."""
    for prime in primes:
        while number % prime == 0:
            number //= prime
    return number == 1
