"""Large arrays between ordinary host memory and the card.

The card copies fast only from and to memory that is pinned. So parts of an array go through a ring
of pinned buffers: threads copy between the array and the buffers while the card copies others.
"""

from concurrent.futures import ThreadPoolExecutor

import numpy as np

from ..threads import thread_count

PART = 8 << 20  # bytes of a buffer
WORTHWHILE = 4 * PART  # below it the plain copy is as fast
AT_ONCE = 1 << 16  # bytes that the driver takes over before it returns, whatever the card is doing


def to_card(xp, array):
    """Copy a numpy array (C-contiguous) to a new array on the current card."""
    if array.nbytes <= AT_ONCE:
        card = xp.empty(array.shape, array.dtype)
        card.set(array)
        return card
    if array.nbytes < WORTHWHILE:
        return xp.asarray(array)
    host, card = array.reshape(-1), xp.empty(array.size, array.dtype)
    buffers, parts = _buffers(array.dtype), _parts(array)
    copied = [None] * len(buffers)  # events: the card has read the buffer

    def fill(turn, part):
        if copied[turn]:
            copied[turn].synchronize()
        buffer = buffers[turn][: part.stop - part.start]
        np.copyto(buffer, host[part])
        return buffer

    with _threads(xp) as pool:
        filled = [pool.submit(fill, n, part) for n, part in enumerate(parts[: len(buffers)])]
        for n, part in enumerate(parts):
            turn = n % len(buffers)
            card[part].set(filled[n].result())
            copied[turn] = _record(xp)
            if n + len(buffers) < len(parts):
                filled.append(pool.submit(fill, turn, parts[n + len(buffers)]))
    xp.cuda.get_current_stream().synchronize()  # the buffers may go
    return card.reshape(array.shape)


def from_card(xp, array):
    """Copy an array of the current card (C-contiguous) into a new numpy array."""
    if array.nbytes < WORTHWHILE:
        return xp.asnumpy(array)
    host, card = np.empty(array.size, array.dtype), array.reshape(-1)
    buffers, emptied = _buffers(array.dtype), {}

    def empty(buffer, part, copied):
        copied.synchronize()
        np.copyto(host[part], buffer)

    with _threads(xp) as pool:
        for n, part in enumerate(_parts(array)):
            turn = n % len(buffers)
            if turn in emptied:
                emptied[turn].result()
            buffer = buffers[turn][: part.stop - part.start]
            card[part].get(out=buffer, blocking=False)
            emptied[turn] = pool.submit(empty, buffer, part, _record(xp))
        for job in emptied.values():
            job.result()
    return host.reshape(array.shape)


def _threads(xp):
    """Threads whose current card is that of this thread; CUDA gives new ones the first."""
    return ThreadPoolExecutor(thread_count(), initializer=xp.cuda.Device().use)


def _buffers(dtype):
    import cupyx

    count = PART // np.dtype(dtype).itemsize
    return [cupyx.empty_pinned(count, dtype) for _ in range(thread_count() + 1)]


def _parts(array):
    count = PART // array.dtype.itemsize
    return [slice(n, min(n + count, array.size)) for n in range(0, array.size, count)]


def _record(xp):
    event = xp.cuda.Event(disable_timing=True)
    event.record()
    return event
