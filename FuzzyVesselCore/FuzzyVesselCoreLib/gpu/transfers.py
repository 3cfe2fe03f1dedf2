"""Copies of large arrays between pageable host memory and the device.

Transfers are fast only from and to pinned memory. So chunks of an array go through a ring of pinned
buffers: threads copy between the array and the buffers while the device copies other chunks.
"""

from collections.abc import Callable, Iterator
from concurrent.futures import Future, wait
from typing import Any, Self

import numpy as np

from ..threads import kept_threads, thread_count, usable_cores

# Of a pinned buffer. A chunk is handed over between threads several times, and each time takes
# 20 us where the interpreter is busy: with 1 MB 302 MB come in 35 ms, with 4 MB in 8 to 10.
CHUNK_BYTES = 8 << 20
MAX_CONVERTING_THREADS = 12  # converting takes longer than copying
PINNED_THRESHOLD = 16 << 20  # bytes; smaller arrays are copied as fast without buffers
Convert = Callable[[np.ndarray, np.ndarray], None]
STAGED_BYTES = 1 << 16  # up to this size the driver stages the copy and returns at once


def to_device(xp: Any, array: np.ndarray) -> Any:
    """Copy a numpy array to a new array (C order) on the current device.

    Of a box of a large volume no copy in one piece is made on the host.
    """
    if array.nbytes <= STAGED_BYTES:
        device = xp.empty(array.shape, array.dtype)
        device.set(np.ascontiguousarray(array))
        return device
    if array.nbytes < PINNED_THRESHOLD:
        return xp.asarray(np.ascontiguousarray(array))
    device = xp.empty(array.shape, array.dtype)
    copy_to_device(xp, array, device)
    return device


def copy_to_device(xp: Any, array: np.ndarray, device: Any) -> None:
    """Copy a numpy array to one of the current device (C order), of the same shape."""
    if array.nbytes < PINNED_THRESHOLD:
        device.set(np.ascontiguousarray(array))
        return
    device, chunks = device.reshape(-1), chunks_of(array)
    with FilledBuffers(xp, [part for _, part in chunks]) as filled:
        for place, _ in chunks:
            device[place].set(filled.next())
            filled.copied(_record(xp))
    xp.cuda.get_current_stream().synchronize()  # the buffers are freed


class FilledBuffers:
    """Parts of a host array in pinned buffers, which threads fill while the device copies others.

    A context manager: at its end no thread works for it.

    Parameters
    ----------
    xp : module
    parts : list of ndarray
        Of one type, `CHUNK_BYTES` at most.
    """

    def __init__(self, xp: Any, parts: list[np.ndarray]) -> None:
        self._parts, self._pool = parts, kept_threads(thread_count(), "filling")
        self._use_device = xp.cuda.Device().use  # threads have the first device by default
        self._buffers = _buffers(parts[0].dtype, thread_count() + 1)
        self._copied: list[Any] = [None] * len(self._buffers)  # events: the device has read it
        self._taken = 0

    def __enter__(self) -> Self:
        self._filled = [self._submit(n) for n in range(min(len(self._buffers), len(self._parts)))]
        return self

    def __exit__(self, *error: Any) -> None:
        wait(self._filled)

    def next(self) -> np.ndarray:
        """The next part, as soon as it is in a buffer."""
        return self._filled[self._taken].result()

    def copied(self, event: Any) -> None:
        """Use the part's buffer again once an event has passed."""
        self._copied[self._taken % len(self._buffers)] = event
        if len(self._filled) < len(self._parts):
            self._filled.append(self._submit(len(self._filled)))
        self._taken += 1

    def _submit(self, number: int) -> Future:
        return self._pool.submit(self._fill, number % len(self._buffers), self._parts[number])

    def _fill(self, turn: int, part: np.ndarray) -> np.ndarray:
        self._use_device()
        if self._copied[turn]:
            self._copied[turn].synchronize()
        buffer = self._buffers[turn][: part.size]
        np.copyto(buffer.reshape(part.shape), part)
        return buffer


def to_host(xp: Any, array: Any) -> np.ndarray:
    """Copy an array of the current device (C-contiguous) into a new numpy array."""
    if array.nbytes < PINNED_THRESHOLD:
        return xp.asnumpy(array)
    host = np.empty(array.shape, array.dtype)
    convert_to_host(xp, array, host, lambda part, target: np.copyto(target, part))
    return host


def to_pinned(array: Any) -> np.ndarray:
    """Copy an array of the current device (C-contiguous) into an array in pinned memory."""
    import cupyx

    host = cupyx.empty_pinned(array.shape, array.dtype)
    array.get(out=host)
    return host


def get_soon(xp: Any, array: Any) -> Callable[[], np.ndarray]:
    """Begin to copy an array of the current device; what is returned waits for the copy alone."""
    import cupyx

    host = cupyx.empty_pinned(array.shape, array.dtype)
    array.get(out=host, blocking=False)
    copied = _record(xp)

    def result() -> np.ndarray:
        copied.synchronize()
        return np.array(host)  # the pinned memory is used again

    return result


def convert_to_host(xp: Any, array: Any, result: np.ndarray, convert: Convert) -> None:
    """Convert an array of the current device into one of the host, chunk by chunk.

    Threads convert chunks while the device copies others: the array itself, as it is, is never
    in host memory.

    Parameters
    ----------
    xp : module
    array : device array, C-contiguous
    result : ndarray of the same shape
        It may be a box of a larger array.
    convert : callable
        ``convert(part, target)`` writes the result of a part of the array, in host memory, into
        the same part of the result, of the same shape.
    """
    if array.nbytes < PINNED_THRESHOLD:
        return convert(xp.asnumpy(array), result)
    threads = min(usable_cores(), MAX_CONVERTING_THREADS)
    device, buffers = array.reshape(-1), _buffers(array.dtype, threads + 1)
    emptied: dict[int, Future] = {}

    pool, use_device = kept_threads(threads, "emptying"), xp.cuda.Device().use

    def empty(buffer, part, copied):
        use_device()
        copied.synchronize()
        convert(buffer.reshape(part.shape), part)

    try:
        for n, (place, part) in enumerate(chunks_of(result, array.dtype)):
            turn = n % len(buffers)
            if turn in emptied:
                emptied[turn].result()
            buffer = buffers[turn][: part.size]
            device[place].get(out=buffer, blocking=False)
            emptied[turn] = pool.submit(empty, buffer, part, _record(xp))
        for job in emptied.values():
            job.result()
    finally:
        wait(emptied.values())


def _buffers(dtype: np.dtype, count: int) -> list[np.ndarray]:
    import cupyx

    size = CHUNK_BYTES // np.dtype(dtype).itemsize
    return [cupyx.empty_pinned(size, dtype) for _ in range(count)]


def chunks_of(host: np.ndarray, dtype: Any = None) -> list[tuple[slice, np.ndarray]]:
    """Parts of a host array that fit a buffer (of `dtype`), with their places in C order."""
    count = CHUNK_BYTES // np.dtype(dtype or host.dtype).itemsize
    chunks, at = [], 0
    for part in _parts(host.reshape(-1) if host.flags.c_contiguous else host, count):
        chunks.append((slice(at, at + part.size), part))
        at += part.size
    return chunks


def _parts(host: np.ndarray, count: int) -> Iterator[np.ndarray]:
    """Views of an array in C order, of at most `count` elements each."""
    inner = host.size // len(host)
    if inner > count:
        for part in host:
            yield from _parts(part, count)
        return
    step = count // inner
    for n in range(0, len(host), step):
        yield host[n : n + step]


def _record(xp: Any) -> Any:
    event = xp.cuda.Event(disable_timing=True)
    event.record()
    return event
