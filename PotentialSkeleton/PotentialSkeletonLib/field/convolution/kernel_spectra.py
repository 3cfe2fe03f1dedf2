"""The Fourier transforms of the force of one charge, by symmetry from an eighth of the offsets.

Each component of the kernel is odd along its own axis and even along the other two, so its
transform is -i times a real array of the same symmetry. The real transform of the sum of an even
and an odd sequence has the one's cosine sums as its real part and the other's sine sums, with the
sign turned, as its imaginary part: the components share transforms in pairs.
"""

from typing import Any

from .transforms import Transforms


class KernelSpectra:
    """Real factors of the kernel's spectra, for some columns of frequencies at a time.

    Parameters
    ----------
    padded : 3 int
        Even sizes K, J, I of the cyclic convolution.
    cut : int
        The kernel is 0 where all offsets are below it.
    transforms : Transforms
    """

    def __init__(self, padded: tuple[int, ...], cut: int, transforms: Transforms) -> None:
        self._padded, self._cut, self._transforms = padded, cut, transforms
        self._along_i = transforms.empty_kernel(cut)

    def begin(self, planes: slice) -> None:
        """Transform some planes of offsets K >= 0 along I."""
        self._transforms.put_kernel(planes, self._cut, self._along_i)

    def along_i(self, some: slice) -> Any:
        """Return some columns (K, frequency along I, J), not transformed along J and K."""
        return self._transforms.load_kernel(self._along_i, some)

    def factors(self, some: slice) -> list[tuple[Any, bool]]:
        """Return for each component complex arrays (K, columns, J), for frequencies from 0 up.

        Parameters
        ----------
        some : slice
            Of the frequencies along I.

        Returns
        -------
        list of (ndarray, bool)
            The factors, and whether they are the imaginary part, with the sign turned, or the real.
        """
        extended, transform = self._transforms.extended, self._transforms.real_forward
        nk, nj, _ = self._padded
        along_i = self.along_i(some)  # even in I; imaginary part: odd
        both = transform(extended(along_i, nj, 2, add_odd=True), 2)  # even in J; odd in J
        both = transform(extended(both, nk, 0, imaginary=True, add_odd=True), 0)
        odd_i = transform(extended(along_i, nj, 2, imaginary=True), 2)
        odd_i = transform(extended(odd_i, nk, 0), 0)
        return [(both, True), (both, False), (odd_i, False)]
