"""Planes of a volume that come to the device one part after the other."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from .transfers import to_device

SLOTS = 1


def slot_bytes(array: np.ndarray, parts: Sequence[tuple[int, int]]) -> int:
    """Bytes of the device that parts of a volume come to."""
    planes = max(last - first for first, last in parts)
    return min(SLOTS, len(parts)) * planes * (array.nbytes // len(array))


def part_slots(array: np.ndarray, parts: Sequence[tuple[int, int]], memory: Any) -> list[Any]:
    """Arrays for parts of a volume (C order), in memory of at least `slot_bytes` bytes."""
    shape = max(last - first for first, last in parts), *array.shape[1:]
    size, count = int(np.prod(shape)), min(SLOTS, len(parts))
    items = memory[: count * size * array.itemsize].view(array.dtype)
    return [items[n * size : (n + 1) * size].reshape(shape) for n in range(count)]


def coming_planes(
    xp: Any, array: np.ndarray, parts: Sequence[tuple[int, int]], memory: Any
) -> Iterator[Any]:
    """Parts of a volume on the current device, one after the other, in the same memory."""
    slot = part_slots(array, parts, memory)[0]
    for first, last in parts:
        yield to_device(xp, array[first:last], slot[: last - first])
