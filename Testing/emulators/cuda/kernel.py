"""A kernel of a compiled library: its arguments are checked as CUDA would, then it is launched."""

import ctypes
import threading

import numpy as np

from FuzzyVesselCoreLib.gpu.kernels import Record

from .arrays import is_overrun

_MAX_PARAMETERS = 64
_one_launch = threading.Lock()  # the libraries keep a launch's state in globals


class KernelFault(RuntimeError):
    """A kernel did what CUDA forbids: a divergent barrier, an out-of-bounds write, a trap."""


class _Launch(ctypes.Structure):
    """`cuda_on_cpu::Launch`."""

    _fields_ = (
        ("grid", ctypes.c_uint * 3),
        ("block", ctypes.c_uint * 3),
        ("dynamic_shared", ctypes.c_uint),
        ("descending", ctypes.c_int),
    )


class Kernel:
    """One kernel; called as CuPy's kernels are: ``kernel(grid, block, args, shared_mem=0)``."""

    def __init__(self, device, library, name):
        self._device = device
        self._name = name
        self._library = library
        self._launch = getattr(library, f"launch_{name}")
        self._launch.restype = ctypes.c_char_p
        parameters = (ctypes.c_int * (3 * _MAX_PARAMETERS))()
        max_threads = ctypes.c_int()
        count = getattr(library, f"describe_{name}")(parameters, ctypes.byref(max_threads))
        self._parameters = [tuple(parameters[3 * i : 3 * i + 3]) for i in range(count)]
        self._max_threads = max_threads.value

    def __call__(self, grid, block, args, shared_mem=0):
        grid, block = _three(grid), _three(block)
        if int(np.prod(block)) > self._max_threads:
            raise ValueError(f"{self._name}: at most {self._max_threads} threads")
        if len(args) != len(self._parameters):
            raise TypeError(f"{self._name} takes {len(self._parameters)} arguments")
        values = [self._value(i, argument) for i, argument in enumerate(args)]
        fault = self._launch_in(grid, block, shared_mem, values)
        if fault:
            raise KernelFault(f"{self._name}: {fault.decode()}")
        for i, argument in enumerate(args):
            arrays = argument.arrays if isinstance(argument, Record) else [argument]
            if any(map(is_overrun, arrays)):
                raise KernelFault(f"{self._name} wrote outside of its argument {i}")

    def set_constant(self, name, array):
        size = ctypes.c_size_t()
        find = getattr(self._library, f"constant_{name}")
        find.restype = ctypes.c_void_p
        address = find(ctypes.byref(size))
        ctypes.memmove(address, np.ascontiguousarray(array).ctypes.data, array.nbytes)

    def _launch_in(self, grid, block, shared_mem, values):
        addresses = (ctypes.c_void_p * len(values))(*(value.ctypes.data for value in values))
        self._device.launches += 1
        launch = _Launch(grid, block, shared_mem, self._device.descending)
        with _one_launch:
            return self._launch(ctypes.byref(launch), addresses)

    def _value(self, i, argument):
        """The argument's bytes as the kernel reads them: an address, or the number itself."""
        size, pointed, floating = self._parameters[i]
        if isinstance(argument, Record):
            value, fits = argument, pointed == 0 and argument.nbytes == size
        elif isinstance(argument, np.ndarray):
            value, fits = np.array(argument.ctypes.data, np.uintp), argument.flags.c_contiguous
            kind = argument.itemsize, argument.dtype.kind == "f"
            fits = fits and (pointed < 0 or kind == (pointed, floating))
        else:
            # Python's int is 8 bytes, as in CuPy
            value = np.array(np.uintp(0) if argument is None else argument)
            fits = value.nbytes == size
            fits = fits and (pointed != 0 or (value.dtype.kind == "f") == floating)
        if not fits:
            raise TypeError(f"{self._name}: argument {i} does not fit: {argument!r:.99}")
        return value


def _three(size):
    return tuple(int(n) for n in (*size, 1, 1)[:3])
