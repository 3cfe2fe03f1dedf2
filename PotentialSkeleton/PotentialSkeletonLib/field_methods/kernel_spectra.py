"""The Fourier transforms of the force of one charge, by symmetry from an eighth of the offsets.

Each component of the kernel is odd along its own axis and even along the other two, so its
transform is -i times a real array of the same symmetry. The real transform of the sum of an even
and an odd sequence has the one's cosine sums as its real part and the other's sine sums, with the
sign turned, as its imaginary part: the components share transforms in pairs.
"""


class KernelSpectra:
    """Real factors of the kernel's spectra, for some columns of frequencies at a time.

    Parameters
    ----------
    padded : 3 int
        Even sizes K, J, I of the cyclic convolution.
    transforms : CpuTransforms or CudaTransforms
    """

    def __init__(self, padded, transforms):
        self._padded, self._transforms = padded, transforms
        nk, nj, ni = (n // 2 + 1 for n in padded)
        self._along_i = transforms.empty(nk, ni, nj)

    def begin(self, planes, strength, cut):
        """Transform some planes of offsets K >= 0 along I."""
        rows = self._transforms.kernel_rows(planes, strength, cut)
        self._transforms.put_rows(rows, self._along_i, planes)

    def factors(self, some):
        """Real arrays (K, columns, J) for the components K, J, I, for frequencies from 0 up.

        Parameters
        ----------
        some : slice
            Of the frequencies along I.
        """
        xp, transform = self._transforms.xp, self._transforms.real_forward
        nk, nj, _ = self._padded
        along_i = self._transforms.load(self._along_i, some)
        even_i, odd_i = along_i.real, -along_i.imag
        j = xp.arange(nj // 2 + 1, dtype=float)
        both = transform(extended(xp, even_i, even_i * j, nj, axis=2), axis=2)
        even_j, odd_j = both.real, -both.imag
        k = xp.arange(nk // 2 + 1, dtype=float)[:, None, None]
        both = transform(extended(xp, odd_j, even_j * k, nk, axis=0), axis=0)
        alone = transform(extended(xp, odd_i, None, nj, axis=2), axis=2).real
        alone = transform(extended(xp, alone, None, nk, axis=0), axis=0).real
        return tuple(xp.ascontiguousarray(part) for part in (-both.imag, both.real, alone))


def extended(xp, even, odd, size, axis):
    """The sum of an even and an odd sequence of even `size`, from their values at 0 to size / 2.

    The odd one is not 0 at size / 2, as it should be: no offset is as large.
    """
    half = size // 2
    whole = xp.empty(tuple(size if a == axis else n for a, n in enumerate(even.shape)), float)
    before = (slice(None),) * axis
    front, back = (*before, slice(half + 1)), (*before, slice(half + 1, None))
    mirrored = (*before, slice(half - 1, 0, -1))
    if odd is None:
        whole[front], whole[back] = even, even[mirrored]
    else:
        whole[front], whole[back] = even + odd, even[mirrored] - odd[mirrored]
    return whole
