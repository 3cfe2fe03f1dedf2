"""A subset of a volume's voxels as bits, and the number of each among them.

Both fit into a cache (an eighth of a byte and a sixteenth a voxel), where an index of all voxels
does not.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numba import njit

from FuzzyVesselCoreLib.threads import in_parts

WORD = 64


class PackedVoxels(NamedTuple):
    """Voxel v is bit ``v % 64`` of word ``v // 64``; numbers go up with the flat index.

    Attributes
    ----------
    bits : ndarray, uint64
    before : ndarray, int32
        Number of voxels in all words before.
    """

    bits: np.ndarray
    before: np.ndarray

    @property
    def size(self) -> int:
        """Number of the voxels."""
        return int(self.before[-1]) + int(np.bitwise_count(self.bits[-1]))


def packed_voxels(contrast: np.ndarray, inside: np.ndarray | None, least: float) -> PackedVoxels:
    """The voxels of at least a contrast inside the mask.

    Parameters
    ----------
    contrast : ndarray, shape (K, J, I), float32
    inside : ndarray of uint8, same shape, or None
    least : float
    """
    bits = np.empty(-(-contrast.size // WORD), np.uint64)
    mask = np.empty(0, np.uint8) if inside is None else inside.ravel()
    values = contrast.ravel(), mask, np.float32(least), bits
    in_parts(lambda first, last: _pack(*values, first, last), bits.size, contrast.size)
    return _counted(bits)


def packed_list(lists: Sequence[np.ndarray], size: int) -> PackedVoxels:
    """The voxels of lists (flat indices, int64), in a volume of so many voxels."""
    bits = np.zeros(-(-size // WORD), np.uint64)
    for voxels in lists:
        _set(voxels, bits)
    return _counted(bits)


def listed(packed: PackedVoxels) -> np.ndarray:
    """The flat indices (int32) of the voxels, in the order of their numbers."""
    voxels = np.empty(packed.size, np.int32)
    found = packed.bits, packed.before, voxels
    words = packed.bits.size
    in_parts(lambda first, last: _list(*found, first, last), words, WORD * words)
    return voxels


def _counted(bits: np.ndarray) -> PackedVoxels:
    counts = np.cumsum(np.bitwise_count(bits), dtype=np.int32)
    return PackedVoxels(bits, np.concatenate([np.zeros(1, np.int32), counts[:-1]]))


def number_of_each(voxels: np.ndarray, packed: PackedVoxels) -> np.ndarray:
    """The numbers (int64) of voxels (flat indices, int64) that are in the subset."""
    numbers = np.empty(voxels.size, np.int64)
    _number(voxels, *packed, numbers)
    return numbers


@njit(cache=True, nogil=True)
def _set(voxels, bits):
    for voxel in voxels:
        bits[voxel >> 6] |= np.uint64(1) << np.uint64(voxel & 63)


@njit(cache=True, nogil=True)
def _pack(contrast, mask, least, bits, first_word, last_word):
    for word in range(first_word, last_word):
        found, first = np.uint64(0), WORD * word
        for n in range(min(WORD, contrast.size - first)):
            if contrast[first + n] >= least and (mask.size == 0 or mask[first + n]):
                found |= np.uint64(1) << np.uint64(n)
        bits[word] = found


@njit(cache=True, nogil=True)
def _list(bits, before, voxels, first_word, last_word):
    for word in range(first_word, last_word):
        left, number = bits[word], before[word]
        bit = 0
        while left:
            if left & np.uint64(1):
                voxels[number] = WORD * word + bit
                number += 1
            left >>= np.uint64(1)
            bit += 1


@njit(cache=True, nogil=True, inline="always")
def ones(word):
    """Number of the bits that are set."""
    word -= (word >> np.uint64(1)) & np.uint64(0x5555555555555555)
    word = (word & np.uint64(0x3333333333333333)) + (
        (word >> np.uint64(2)) & np.uint64(0x3333333333333333)
    )
    word = (word + (word >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return np.int64((word * np.uint64(0x0101010101010101)) >> np.uint64(56))


@njit(cache=True, nogil=True, inline="always")
def number_of(voxel, bits, before):
    """The number of a voxel that is in the subset; -1 of another one."""
    word, bit = voxel >> 6, np.uint64(voxel & 63)
    if not (bits[word] >> bit) & np.uint64(1):
        return np.int64(-1)
    return before[word] + ones(bits[word] & ((np.uint64(1) << bit) - np.uint64(1)))


@njit(cache=True, nogil=True, inline="always")
def row_of(first, span, bits):
    """The bits of up to 3 voxels in a row from a voxel on; bit 0 is the first."""
    word, shift = first >> 6, np.uint64(first & 63)
    found = bits[word] >> shift
    if shift + np.uint64(span) > np.uint64(64):
        found |= bits[word + 1] << (np.uint64(64) - shift)
    return found & ((np.uint64(1) << np.uint64(span)) - np.uint64(1))


@njit(cache=True, nogil=True)
def _number(voxels, bits, before, numbers):
    for n in range(voxels.size):
        numbers[n] = number_of(voxels[n], bits, before)
