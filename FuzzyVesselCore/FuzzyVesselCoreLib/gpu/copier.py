"""Copies in the form that `distributed` calls them."""

from concurrent.futures import Future
from typing import Any, Self

import numpy as np


class Copier:
    """Copies whose results are futures; a context manager."""

    def __init__(self, gpu: Any) -> None:
        self._gpu = gpu

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def put(self, array: np.ndarray) -> "Future[Any]":
        """Copy to a new array on the device (C order)."""
        return _done(self._gpu.put(array))

    def get_converted(self, array: Any, result: np.ndarray, convert: Any) -> "Future[None]":
        """Convert what launched kernels write to a device array."""
        return _done(self._gpu.get_converted(array, result, convert))


def _done(value: Any) -> "Future[Any]":
    done: Future[Any] = Future()
    done.set_result(value)
    return done
