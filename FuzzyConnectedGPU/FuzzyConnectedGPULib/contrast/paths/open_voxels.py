"""Voxels that paths may pass, as bits: 64 voxels a word, so that they fit into a cache."""

from collections.abc import Callable

import numpy as np

from FuzzyVesselCoreLib.threads import in_parts

NEVER = np.float32(1e-5)  # relative margin below the floor: no path there, whatever the rounding
CHUNK = 1 << 16  # voxels, whose comparison stays in a core's cache; a multiple of 64


def open_voxels(
    contrast: np.ndarray,
    inside: np.ndarray | None,
    unit: float,
    floor: int,
    rivals: tuple[np.ndarray, float] | None,
) -> tuple[np.ndarray, np.ndarray]:
    """Voxels of at least the floor inside the mask, and those of rivals among them.

    Parameters are those of `widest_paths.widest_paths`.

    Returns
    -------
    passable, theirs : ndarray, uint64
        Voxel n is bit ``n % 64`` of word ``n // 64``; `theirs` is empty without rivals.
    """
    mask = None if inside is None else inside.ravel()
    flat, lowest = contrast.ravel(), lowest_open(unit, floor)
    passable = _bits(lambda part: _open(flat[part], lowest, mask, part), flat.size)
    theirs = np.empty(0, np.uint64)
    if rivals is not None:
        smooth, brighter = rivals[0].ravel(), np.float32(rivals[1])
        theirs = _bits(lambda part: smooth[part] > brighter, smooth.size)
        theirs &= passable
    return passable, theirs


def _open(
    contrast: np.ndarray, lowest: np.float32, mask: np.ndarray | None, part: slice
) -> np.ndarray:
    is_open = contrast >= lowest
    if mask is not None:
        np.logical_and(is_open, mask[part], out=is_open)
    return is_open


def _bits(holds: Callable[[slice], np.ndarray], size: int) -> np.ndarray:
    """Bits (uint64) of the voxels for which something holds; it is asked for parts of them."""
    words = np.zeros(-(-size // 64), np.uint64)
    octets = words.view(np.uint8)

    def pack(first: int, last: int) -> None:
        for start in range(64 * first, 64 * last, CHUNK):
            part = slice(start, min(start + CHUNK, 64 * last, size))
            packed = np.packbits(holds(part), bitorder="little")
            octets[start // 8 : start // 8 + packed.size] = packed

    in_parts(pack, words.size, size)
    return words


def lowest_open(unit: float, floor: int) -> np.float32:
    """The least contrast whose level reaches the floor: levels never fall as contrasts rise."""
    lowest = np.float32(floor / 256 * unit)
    while np.floor(np.float64(lowest) / unit * 256) >= floor:
        lowest = np.nextafter(lowest, np.float32(-np.inf))
    while np.floor(np.float64(lowest) / unit * 256) < floor:
        lowest = np.nextafter(lowest, np.float32(np.inf))
    return lowest


def certainly_low(unit: float, floor: int) -> np.float32:
    """A contrast below which no voxel reaches the floor."""
    return np.float32(floor / 256 * unit) * (1 - NEVER)
