"""Arrays of `.npz` files, which several threads may read at a time.

`numpy.load` may not be called by several threads in Python 3.11: it has the header of an
array parsed by Python's parser, which counts the depth of what it builds for all threads together,
and ends with "AST constructor recursion depth mismatch" where two of them meet.
"""

import threading
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib import format as npy

CHUNK = 1 << 20  # bytes read at a time
_one_at_a_time = threading.Lock()


def read_arrays(place: Path) -> dict[str, np.ndarray]:
    """The arrays of a file of `numpy.savez`, by name.

    Raises
    ------
    OSError, ValueError, zipfile.BadZipFile
        The file is missing or damaged; every array has a checksum.
    """
    with zipfile.ZipFile(place) as file:
        return {name.removesuffix(".npy"): _read(file, name) for name in file.namelist()}


def _read(file: zipfile.ZipFile, name: str) -> np.ndarray:
    stored: Any
    with file.open(name) as stored:
        with _one_at_a_time:
            if npy.read_magic(stored) != (1, 0):
                raise ValueError(f"{name} was not written by numpy.savez")
            shape, transposed, dtype = npy.read_array_header_1_0(stored)
        if dtype.hasobject:
            raise ValueError(f"{name} holds Python objects")
        array = np.empty(shape[::-1] if transposed else shape, dtype)
        values: Any = array.reshape(-1).view(np.uint8)
        rest = memoryview(values)
        while rest:
            count = stored.readinto(rest[:CHUNK])
            if not count:
                raise ValueError(f"{name} ends too early")
            rest = rest[count:]
    return array.T if transposed else array
