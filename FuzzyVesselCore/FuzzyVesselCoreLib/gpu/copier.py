"""Copies between host and device while the device computes."""

from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, Self

import numpy as np

from .transfers import Convert, convert_to_host, copy_to_device


class Copier:
    """One copy after the other, by a thread and a stream of their own; a context manager.

    One copier for each direction: a card copies in both at a time.

    Parameters
    ----------
    xp : module
        `cupy`; its current device, stream and allocator are those of the caller's arrays.
    """

    def __init__(self, xp: Any) -> None:
        self._xp, self._device = xp, xp.cuda.Device()
        self._stream = xp.cuda.Stream(non_blocking=True)
        self._thread = ThreadPoolExecutor(1)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._thread.shutdown(cancel_futures=True)

    def put(self, array: np.ndarray) -> "Future[Any]":
        """Copy to a new array on the device (C order), whose memory is allocated at once."""
        array = np.asarray(array)
        device, begun = self._xp.empty(array.shape, array.dtype), self._event()
        return self._thread.submit(self._put, array, device, begun)

    def get_converted(self, array: Any, result: np.ndarray, convert: Convert) -> "Future[None]":
        """Convert what launched kernels write to a device array; see `transfers.convert_to_host`.

        Until it is done the array must not be written again; no reference to it is needed.
        """
        return self._thread.submit(self._get, array, result, convert, self._event())

    def _event(self) -> Any:
        """After all that was launched, which may still use the memory that is written or read."""
        event = self._xp.cuda.Event(disable_timing=True)
        event.record()
        return event

    def _put(self, array: np.ndarray, device: Any, begun: Any) -> Any:
        with self._device, self._stream:
            self._stream.wait_event(begun)
            copy_to_device(self._xp, array, device)
            self._stream.synchronize()
        return device

    def _get(self, array: Any, result: np.ndarray, convert: Convert, begun: Any) -> None:
        with self._device, self._stream:
            self._stream.wait_event(begun)
            convert_to_host(self._xp, array, result, convert)
