"""Copies of large arrays between pageable host memory and the device.

Transfers are fast only from and to pinned memory. So chunks of an array go through a ring of pinned
buffers: threads copy between the array and the buffers while the device copies other chunks.
"""

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import numpy as np

from ..threads import thread_count

CHUNK_BYTES = 8 << 20  # of a pinned buffer
PINNED_THRESHOLD = 4 * CHUNK_BYTES  # bytes; smaller arrays are copied as fast without buffers
Convert = Callable[[np.ndarray, np.ndarray], None]
STAGED_BYTES = 1 << 16  # up to this size the driver stages the copy and returns at once


def to_device(xp: Any, array: np.ndarray) -> Any:
    """Copy a numpy array (C-contiguous) to a new array on the current device."""
    if array.nbytes <= STAGED_BYTES:
        device = xp.empty(array.shape, array.dtype)
        device.set(array)
        return device
    if array.nbytes < PINNED_THRESHOLD:
        return xp.asarray(array)
    host, device = array.reshape(-1), xp.empty(array.size, array.dtype)
    buffers, chunks = _buffers(array.dtype), _chunks(array)
    copied = [None] * len(buffers)  # events: the device has read the buffer

    def fill(turn, chunk):
        if copied[turn]:
            copied[turn].synchronize()
        buffer = buffers[turn][: chunk.stop - chunk.start]
        np.copyto(buffer, host[chunk])
        return buffer

    with _threads(xp) as pool:
        filled = [pool.submit(fill, n, chunk) for n, chunk in enumerate(chunks[: len(buffers)])]
        for n, chunk in enumerate(chunks):
            turn = n % len(buffers)
            device[chunk].set(filled[n].result())
            copied[turn] = _record(xp)
            if n + len(buffers) < len(chunks):
                filled.append(pool.submit(fill, turn, chunks[n + len(buffers)]))
    xp.cuda.get_current_stream().synchronize()  # the buffers are freed
    return device.reshape(array.shape)


def to_host(xp: Any, array: Any) -> np.ndarray:
    """Copy an array of the current device (C-contiguous) into a new numpy array."""
    if array.nbytes < PINNED_THRESHOLD:
        return xp.asnumpy(array)
    host = np.empty(array.shape, array.dtype)
    convert_to_host(xp, array, host, lambda part, target: np.copyto(target, part))
    return host


def convert_to_host(xp: Any, array: Any, result: np.ndarray, convert: Convert) -> None:
    """Convert an array of the current device into one of the host, chunk by chunk.

    Threads convert chunks while the device copies others: the array itself, as it is, is never
    in host memory.

    Parameters
    ----------
    xp : module
    array : device array, C-contiguous
    result : ndarray, C-contiguous, of the same shape
    convert : callable
        ``convert(part, target)`` writes the result of a part of the array, in host memory, into
        the same part of the result; both are one-dimensional.
    """
    host, device = result.reshape(-1), array.reshape(-1)
    if array.nbytes < PINNED_THRESHOLD:
        return convert(xp.asnumpy(device), host)
    buffers = _buffers(array.dtype)
    emptied: dict[int, Future] = {}

    def empty(buffer, chunk, copied):
        copied.synchronize()
        convert(buffer, host[chunk])

    with _threads(xp) as pool:
        for n, chunk in enumerate(_chunks(array)):
            turn = n % len(buffers)
            if turn in emptied:
                emptied[turn].result()
            buffer = buffers[turn][: chunk.stop - chunk.start]
            device[chunk].get(out=buffer, blocking=False)
            emptied[turn] = pool.submit(empty, buffer, chunk, _record(xp))
        for job in emptied.values():
            job.result()


def _threads(xp: Any) -> ThreadPoolExecutor:
    """Threads whose current device is this thread's; by default CUDA gives them the first."""
    return ThreadPoolExecutor(thread_count(), initializer=xp.cuda.Device().use)


def _buffers(dtype: np.dtype) -> list[np.ndarray]:
    import cupyx

    count = CHUNK_BYTES // np.dtype(dtype).itemsize
    return [cupyx.empty_pinned(count, dtype) for _ in range(thread_count() + 1)]


def _chunks(array: Any) -> list[slice]:
    count = CHUNK_BYTES // array.dtype.itemsize
    return [slice(n, min(n + count, array.size)) for n in range(0, array.size, count)]


def _record(xp: Any) -> Any:
    event = xp.cuda.Event(disable_timing=True)
    event.record()
    return event
