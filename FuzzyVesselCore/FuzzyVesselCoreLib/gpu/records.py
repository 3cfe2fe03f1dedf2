"""Structs that kernels take by value."""

import functools
from collections.abc import Callable
from typing import Any

import numpy as np


class Record(np.ndarray):
    """One struct in C's layout, which a launch passes by value.

    Attributes
    ----------
    arrays : tuple of device arrays
        What its pointers lead to; they live as long as the record.
    """

    arrays: tuple[Any, ...] = ()


def make_record(values: tuple[Any, ...], address: Callable[[Any], int]) -> Record:
    """A struct of these values; see `KernelLauncher.record`."""
    fields: list[Any] = []
    arrays: list[Any] = []
    for value in values:
        if isinstance(value, Record):  # a struct within the struct
            fields.append(value)
            arrays += value.arrays
        elif value is None or isinstance(value, np.generic):
            fields.append(np.uint64(0) if value is None else value)
        elif not hasattr(value, "flags") or not value.flags.c_contiguous:
            raise TypeError(f"{value!r}: give contiguous device arrays, None and numpy scalars")
        else:
            fields.append(np.uint64(address(value)))
            arrays.append(value)
    record = Record((), _layout(tuple(field.dtype for field in fields)))
    record[()] = tuple(field.item() if isinstance(field, Record) else field for field in fields)
    record.arrays = tuple(arrays)
    return record


@functools.cache
def _layout(types: tuple[np.dtype, ...]) -> np.dtype:
    return np.dtype([(f"f{n}", kind) for n, kind in enumerate(types)], align=True)
