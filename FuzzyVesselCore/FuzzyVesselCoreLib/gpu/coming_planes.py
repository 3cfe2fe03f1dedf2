"""Planes of a volume that come to the device while the ones before are worked on there."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from .transfers import FilledBuffers, chunks_of

SLOTS = 3  # parts on the device at a time: one is worked on, two come


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
    """Parts of a volume on the current device, one after the other.

    What is launched with a part, on the current stream, runs while the next ones are copied. A part
    is overwritten when those launches have ended.

    Parameters
    ----------
    xp : module
    array : ndarray, shape (K, J, I), C-contiguous
    parts : sequence of (int, int)
        First plane, and the one behind the last; they may overlap.
    memory : device array, uint8
        Where they come to: at least `slot_bytes` bytes, aligned as the array's type.

    Yields
    ------
    device array, shape (planes, J, I)
    """
    slots = part_slots(array, parts, memory)
    used: list[Any] = []  # events: a part has been worked on
    working, copying = xp.cuda.get_current_stream(), xp.cuda.Stream(non_blocking=True)
    copying.wait_event(_record(xp, working))  # whatever had this memory before
    chunks = [chunks_of(array[first:last]) for first, last in parts]
    try:
        with FilledBuffers(xp, [part for several in chunks for _, part in several]) as filled:
            for n, (first, last) in enumerate(parts):
                if n >= len(slots):
                    copying.wait_event(used[n - len(slots)])
                slot = slots[n % len(slots)][: last - first]
                for place, _ in chunks[n]:
                    slot.reshape(-1)[place].set(filled.next(), stream=copying)
                    filled.copied(_record(xp, copying))
                working.wait_event(_record(xp, copying))
                yield slot
                used.append(_record(xp, working))
    finally:
        copying.synchronize()  # the buffers are freed


def _record(xp: Any, stream: Any) -> Any:
    event = xp.cuda.Event(disable_timing=True)
    event.record(stream)
    return event
