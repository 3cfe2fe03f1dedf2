"""The arguments of kernels: numbers, pointers and structs."""

import functools
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import DeviceMemoryError

THREADS = 256  # of a block, where each thread works on one voxel, cell or sample
MAX_VOXELS = (1 << 32) - THREADS  # kernels number voxels by 32 bits
CUDA_TYPES = {  # of C++, for the voxel types that kernels are compiled for
    "uint8": "unsigned char",
    "int16": "short",
    "uint16": "unsigned short",
    "float32": "float",
}


class Record(np.ndarray):
    """One struct in C's layout, which a launch passes by value.

    Attributes
    ----------
    arrays : tuple of device arrays
        What its pointers lead to; they live as long as the record.
    """

    arrays: tuple[Any, ...] = ()


def make_record(values: tuple[Any, ...], address: Callable[[Any], int]) -> Record:
    """A struct of these values; see `CudaDevice.record`."""
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


def launch_per_item(gpu: Any, path: Path, name: str, count: int, args: Sequence) -> None:
    """Run a kernel with one thread for each of `count` voxels."""
    gpu.kernel(path, name)((-(-count // THREADS),), (THREADS,), args)


def voxel_macro(dtype: np.dtype) -> str:
    """The macro that compiles a file for a voxel type."""
    return f"VOXEL={CUDA_TYPES[dtype.name]}"


def int32s(numbers: Sequence[int]) -> tuple[np.int32, ...]:
    """Integers in the type of a kernel's `int` parameters."""
    return tuple(np.int32(n) for n in numbers)


def pointer(array: Any) -> Any:
    """The array, or a null pointer for None."""
    return np.uintp(0) if array is None else array


def check_voxel_count(count: int) -> None:
    """Raise `DeviceMemoryError` for a volume whose voxels 32 bits cannot number."""
    if count > MAX_VOXELS:
        raise DeviceMemoryError(
            f"The volume has {count:,} voxels, and {MAX_VOXELS:,} can be numbered on a CUDA "
            "device; use device 'cpu', or a mask that leaves fewer."
        )
