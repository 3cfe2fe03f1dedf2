"""The stand-in for `FuzzyVesselCoreLib.gpu.device.CudaDevice`."""

import ctypes
import threading

import numpy as np

from FuzzyVesselCoreLib.gpu.nvrtc import read_source

from .arrays import MARGIN, GuardedNumpy, guarded_block, guarded_copy, is_overrun
from .fourier import Fourier
from .library import compile_library

_ORDERS = ("ascending", "descending")
_SHUFFLED = 2
_MOST_PARAMETERS = 64
_LARGEST_GRID = (2**31 - 1, 65535, 65535)
_LARGEST_BLOCK = (1024, 1024, 64)
_PROPERTIES = {  # of a card that has little of everything
    "warpSize": 32,
    "maxThreadsPerBlock": 1024,
    "maxThreadsPerMultiProcessor": 1024,
    "maxBlocksPerMultiProcessor": 16,
    "regsPerMultiprocessor": 65536,
    "sharedMemPerMultiprocessor": 65536,
    "reservedSharedMemPerBlock": 0,
    "multiProcessorCount": 2,
}
_one_launch = threading.Lock()  # the libraries keep a launch's state in globals


class KernelFault(RuntimeError):
    """A kernel did what CUDA forbids: a divergent barrier, a write outside of an array, a trap."""


class CpuCudaDevice:
    """A CUDA device played by the CPU, with the interface of `CudaDevice`.

    Parameters
    ----------
    order : "ascending", "descending" or int
        In which order blocks, and the threads of a block between two barriers, run; a number is
        the seed of an order that is shuffled anew after each barrier.
    interleave : int
        After about so many accesses to memory a thread gives way to another of its block, so that
        races show as on a card; reads outside of an array are reported too. About ten times
        slower. 0: a thread runs to the next barrier.
    held : int
        Blocks of a launch that run at a time, each a while in turn. All launches whose blocks wait
        for one another have so many.
    memory : int
        Bytes that `free_memory` reports.

    Attributes
    ----------
    xp : module
        numpy; arrays that it makes are uninitialised as on a card and guarded against overruns.
    launches : int
        Kernel launches so far.
    runs_blocks_together : bool
    """

    runs_blocks_together = True

    def __init__(self, order="ascending", *, interleave=0, held=1, memory=8 << 30):
        if order in _ORDERS:
            self._order, self._seed = _ORDERS.index(order), 0
        else:
            self._order, self._seed = _SHUFFLED, int(order)
        self.xp = GuardedNumpy()
        self.fourier = Fourier(self.xp)
        self.name = f"CUDA on the CPU ({order})"
        self.properties = dict(_PROPERTIES)
        self.peak_bytes = 0
        self.launches = 0
        self._interleave = interleave
        self._held = held
        self._memory = memory

    def __enter__(self):
        return self

    def __exit__(self, *error):
        pass

    def kernel(self, path, name, defines=()):
        """One kernel of a `.cu` file: ``kernel(grid, block, args)`` with tuples, as in CuPy."""
        library = compile_library(read_source(path), tuple(defines), self._interleave > 0)
        if not hasattr(library, f"launch_{name}"):
            raise AttributeError(f'{path} has no kernel extern "C" __global__ void {name}')
        return _Kernel(self, library, name)

    def launch_together(self, kernel, blocks, threads, args):
        """Launch as many blocks as are held at a time, whatever number is wanted."""
        kernel((self._held,), (threads,), args)

    def resources(self, kernel):
        return 32, 0

    def set_constant(self, kernel, name, array):
        kernel.set_constant(name, array)

    def forget_plans(self):
        pass

    def put(self, array):
        return guarded_copy(array)

    def get(self, array):
        return np.array(array)

    def synchronize(self):
        pass

    def free_memory(self):
        return self._memory


class _Launch(ctypes.Structure):
    """`cuda_on_cpu::Launch`."""

    _fields_ = (
        ("grid", ctypes.c_uint * 3),
        ("block", ctypes.c_uint * 3),
        ("dynamic_shared", ctypes.c_uint),
        ("order", ctypes.c_int),
        ("seed", ctypes.c_uint64),
        ("interleave", ctypes.c_uint),
        ("held", ctypes.c_uint),
        ("array_count", ctypes.c_uint),
        ("arrays", ctypes.POINTER(ctypes.c_void_p)),
        ("margin", ctypes.c_uint),
    )


class _Kernel:
    def __init__(self, device, library, name):
        self._device = device
        self._name = name
        self._library = library
        self._launch = getattr(library, f"launch_{name}")
        self._launch.restype = ctypes.c_char_p
        parameters = (ctypes.c_int * (3 * _MOST_PARAMETERS))()
        most_threads = ctypes.c_int()
        count = getattr(library, f"describe_{name}")(parameters, ctypes.byref(most_threads))
        self._parameters = [tuple(parameters[3 * i : 3 * i + 3]) for i in range(count)]
        self._most_threads = most_threads.value

    def __call__(self, grid, block, args, shared_mem=0):
        grid, block = _three(grid), _three(block)
        self._check_size(grid, block, shared_mem)
        if len(args) != len(self._parameters):
            raise TypeError(
                f"{self._name} takes {len(self._parameters)} arguments, not {len(args)}"
            )
        values = [self._value(i, argument) for i, argument in enumerate(args)]
        blocks = {i: guarded_block(array) for i, array in enumerate(args)}
        blocks = {i: memory for i, memory in blocks.items() if memory is not None}
        fault = self._launch_in(grid, block, shared_mem, values, blocks.values())
        if fault:
            raise KernelFault(f"{self._name}: {fault.decode()}")
        for i, memory in blocks.items():
            if is_overrun(memory):
                raise KernelFault(f"{self._name} wrote outside of its argument {i}")

    def set_constant(self, name, array):
        size = ctypes.c_size_t()
        find = getattr(self._library, f"constant_{name}")
        find.restype = ctypes.c_void_p
        address = find(ctypes.byref(size))
        if array.nbytes > size.value:
            raise KernelFault(f"{array.nbytes} bytes do not fit {name} with {size.value} bytes")
        ctypes.memmove(address, np.ascontiguousarray(array).ctypes.data, array.nbytes)

    def _launch_in(self, grid, block, shared_mem, values, blocks):
        device = self._device
        addresses = (ctypes.c_void_p * len(values))(*(value.ctypes.data for value in values))
        inside = [(memory.ctypes.data, memory.inside) for memory in blocks]
        ends = [start + n for start, part in inside for n in (part.start, part.stop)]
        launch = _Launch(
            grid=grid,
            block=block,
            dynamic_shared=shared_mem,
            order=device._order,
            seed=device._seed + device.launches,
            interleave=device._interleave,
            held=device._held,
            array_count=len(blocks),
            arrays=(ctypes.c_void_p * len(ends))(*ends),
            margin=MARGIN,
        )
        device.launches += 1
        with _one_launch:
            return self._launch(ctypes.byref(launch), addresses)

    def _check_size(self, grid, block, shared_mem):
        threads = int(np.prod(block))
        if any(not 0 < n <= most for n, most in zip(grid, _LARGEST_GRID)):
            raise ValueError(f"{self._name}: no grid can be {grid}")
        if any(not 0 < n <= most for n, most in zip(block, _LARGEST_BLOCK)):
            raise ValueError(f"{self._name}: no block can be {block}")
        if threads > self._most_threads:
            raise ValueError(f"{self._name}: {threads} threads, at most {self._most_threads}")
        if shared_mem > 48 * 1024:
            raise ValueError(f"{self._name}: {shared_mem} bytes of shared memory, at most 49152")

    def _value(self, i, argument):
        """The argument's bytes as the kernel reads them: an address, or the number itself."""
        size, pointed, floating = self._parameters[i]
        if argument is None:
            argument = np.uintp(0)
        if not isinstance(argument, np.ndarray):
            value = np.array(argument)  # Python's int is 8 bytes, as in CuPy
            if value.nbytes != size or (pointed == 0 and (value.dtype.kind == "f") != floating):
                raise TypeError(
                    f"{self._name}: argument {i} is {value.dtype}, the parameter has {size} bytes "
                    f"and is {'a float' if floating else 'no float'}"
                )
            return value
        if pointed == 0:
            raise TypeError(f"{self._name}: argument {i} is an array, the parameter is a number")
        if not argument.flags.c_contiguous:
            raise TypeError(f"{self._name}: argument {i} is not contiguous")
        if pointed > 0 and (
            argument.itemsize != pointed or (argument.dtype.kind == "f") != floating
        ):
            raise TypeError(
                f"{self._name}: argument {i} is {argument.dtype}, the parameter points to "
                f"{pointed}-byte {'floats' if floating else 'integers'}"
            )
        return np.array(argument.ctypes.data, dtype=np.uintp)


def _three(size):
    return tuple(int(n) for n in (*size, 1, 1)[:3])
