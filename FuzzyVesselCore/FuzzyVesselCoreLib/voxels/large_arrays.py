"""Functions of numpy in the form that callers asked for them."""

from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

import numpy as np

Allocate = Callable[[Any, Any], np.ndarray]
zeros = np.zeros


def zeros_soon(shape: Any, dtype: Any, allocate: Allocate = np.empty) -> "Future[np.ndarray]":
    """Zeros as a future."""
    array = allocate(shape, dtype)
    array.fill(0)
    done: Future[np.ndarray] = Future()
    done.set_result(array)
    return done


def at_least(values: np.ndarray, lowest: Any, allocate: Allocate = np.empty) -> np.ndarray:
    """Where values are at least a number, as uint8 (0 or 1) of the same shape."""
    result = allocate(np.shape(values), np.uint8)
    np.greater_equal(values, lowest, out=result.view(bool))
    return result


def value_range(values: np.ndarray) -> tuple[float, float]:
    """The least and the greatest of some values; NaN where one is."""
    return float(values.min()), float(values.max())


def same_values(one: np.ndarray, other: np.ndarray) -> bool:
    """Whether two arrays have the same type, shape and values."""
    return one is other or (one.dtype == other.dtype and np.array_equal(one, other))
