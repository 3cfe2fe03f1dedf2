"""Passes over large arrays by several threads, which a single one cannot feed with memory."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import numpy as np

from ..threads import thread_count

CHUNK = 1 << 20  # elements that a thread takes at a time


Allocate = Callable[[Any, Any], np.ndarray]  # as `np.empty`: shape and dtype to an array


def zeros(shape: Sequence[int], dtype: Any) -> np.ndarray:
    """An array of zeros whose memory is there: pages are not first made when they are used.

    Examples
    --------
    >>> zeros((2, 3), "uint8")
    array([[0, 0, 0],
           [0, 0, 0]], dtype=uint8)
    """
    return _cleared(np.empty(shape, dtype))


def zeros_soon(
    shape: Sequence[int], dtype: Any, allocate: Allocate = np.empty
) -> "Future[np.ndarray]":
    """The same, made while the caller does something else.

    Examples
    --------
    >>> zeros_soon((2,), "uint8").result()
    array([0, 0], dtype=uint8)
    """
    pool = ThreadPoolExecutor(1)
    soon = pool.submit(_cleared, allocate(shape, dtype))
    pool.shutdown(wait=False)
    return soon


def _cleared(array: np.ndarray) -> np.ndarray:
    flat = array.reshape(-1)

    def clear(part: slice) -> None:
        flat[part] = 0

    for _done in _by_threads(clear, flat.size):
        pass
    return array


def at_least(values: np.ndarray, lowest: Any, allocate: Allocate = np.empty) -> np.ndarray:
    """Where values are at least a number, as uint8 (0 or 1) of the same shape.

    Examples
    --------
    >>> at_least(np.array([1.0, 2.0, 3.0]), 2)
    array([0, 1, 1], dtype=uint8)
    """
    flat = np.ascontiguousarray(values).reshape(-1)
    result = allocate(np.shape(values), np.uint8)
    labels = result.reshape(-1).view(bool)

    def compare(part: slice) -> None:
        np.greater_equal(flat[part], lowest, out=labels[part])

    for _done in _by_threads(compare, flat.size):
        pass
    return result


def value_range(values: np.ndarray) -> tuple[float, float]:
    """The least and the greatest of some values; NaN where one is.

    Examples
    --------
    >>> value_range(np.array([3.0, 1.0, 2.0]))
    (1.0, 3.0)
    """
    flat = np.ascontiguousarray(values).reshape(-1)
    found = list(_by_threads(lambda part: (flat[part].min(), flat[part].max()), flat.size))
    return float(np.min([low for low, _ in found])), float(np.max([high for _, high in found]))


def same_values(one: np.ndarray, other: np.ndarray) -> bool:
    """Whether two arrays have the same type, shape and values; ends at the first difference.

    Arrays on the same memory are the same.

    Examples
    --------
    >>> same_values(np.arange(3), np.arange(3)), same_values(np.arange(3), np.ones(3))
    (True, False)
    """
    if one.dtype != other.dtype or one.shape != other.shape:
        return False
    if one is other or one.__array_interface__ == other.__array_interface__:
        return True
    if not (one.flags.c_contiguous and other.flags.c_contiguous):
        return np.array_equal(one, other)
    first, second = one.reshape(-1), other.reshape(-1)
    return all(_by_threads(lambda part: np.array_equal(first[part], second[part]), first.size))


def _by_threads(work: Callable[[slice], Any], size: int) -> Iterator[Any]:
    """Results of the work on each chunk, in order; at an early end, the rest is left."""
    chunks = [slice(n, min(n + CHUNK, size)) for n in range(0, size, CHUNK)]
    if len(chunks) < 2:
        yield from map(work, chunks)
        return
    pool = ThreadPoolExecutor(min(thread_count(), len(chunks)))
    try:
        yield from pool.map(work, chunks)
    finally:
        pool.shutdown(cancel_futures=True)
