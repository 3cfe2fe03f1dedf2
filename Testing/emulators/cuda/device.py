"""The emulated device, in place of `FuzzyVesselCoreLib.gpu.device.CudaDevice`."""

import functools

import numpy as np
from scipy import ndimage

from FuzzyVesselCoreLib.gpu.kernels import make_record, read_source

from .arrays import GuardedNumpy
from .kernel import Kernel
from .library import compile_library

_PROPERTIES = {  # of a small GPU
    "warpSize": 32,
    "maxThreadsPerBlock": 1024,
    "maxThreadsPerMultiProcessor": 1024,
    "maxBlocksPerMultiProcessor": 16,
    "regsPerMultiprocessor": 65536,
    "sharedMemPerMultiprocessor": 65536,
    "reservedSharedMemPerBlock": 0,
    "multiProcessorCount": 2,
}


@functools.cache  # as for a GPU, what a file says is taken to stay the same
def _library(path, defines):
    return compile_library(read_source(path), defines)


class EmulatedDevice:
    """Runs kernels on the CPU, with the interface of `CudaDevice`.

    Parameters
    ----------
    descending : bool
        Whether blocks, and the threads of a block between two barriers, run from the last to the
        first. A kernel that lacks a barrier gives a wrong result in at least one of the two orders.
    memory : int
        Bytes that `free_memory` reports.

    Attributes
    ----------
    xp : module
        numpy; its new arrays are uninitialized as on a GPU and guarded against overruns.
    launches : int
        Kernel launches so far.
    """

    def __init__(self, descending=False, *, memory=8 << 30):
        self.descending = descending
        self.xp = GuardedNumpy()
        self.name = "CUDA on the CPU"
        self.properties = dict(_PROPERTIES)
        self.pool = None
        self.ndimage = ndimage
        self.launches = 0
        self._memory = memory
        self._kept = {}

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self._kept.clear()

    @property
    def peak_bytes(self):
        """The most memory that arrays had at a time."""
        return self.xp.peak

    def kernel(self, path, name, defines=()):
        """One kernel of a `.cu` file: ``kernel(grid, block, args)`` with tuples, as in CuPy."""
        library = _library(path, tuple(defines))
        if not hasattr(library, f"launch_{name}"):
            raise AttributeError(f'{path} has no kernel extern "C" __global__ void {name}')
        return Kernel(self, library, name)

    def record(self, *values):
        return make_record(values, lambda array: array.ctypes.data)

    def resources(self, kernel):
        return 32, 0

    def set_constant(self, kernel, name, array):
        kernel.set_constant(name, array)

    def keep(self, array, copy):
        self._kept[id(array)] = array, copy
        return array

    def drop(self, *arrays):
        for array in arrays:
            self._kept.pop(id(array), None)

    def put(self, array):
        if id(array) not in self._kept:
            return self.xp.array(array)
        copy = self._kept[id(array)][1]
        np.testing.assert_array_equal(copy, array, "one of the two was written", strict=True)
        return copy

    def get(self, array):
        return np.array(array)

    def synchronize(self):
        pass

    def free_unused_memory(self):
        pass

    def free_memory(self):
        return self._memory
