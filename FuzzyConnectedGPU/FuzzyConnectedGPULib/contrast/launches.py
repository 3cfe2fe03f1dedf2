"""Launches of one thread a voxel, and the voxels that they can number."""

from pathlib import Path

import numpy as np

from FuzzyVesselCoreLib.errors import NoRoomError

THREADS = 256
MOST_VOXELS = (1 << 32) - THREADS  # numbers of voxels are 32 bits wide
VOXEL_NAMES = {
    "uint8": "unsigned char",
    "int16": "short",
    "uint16": "unsigned short",
    "float32": "float",
}
_FOLDER = Path(__file__).parent


def each(gpu, file, name, count, args, voxels=None):
    """Run a kernel with a thread for each of `count` voxels, cells or samples.

    Parameters
    ----------
    gpu : CudaDevice
    file : str
        Relative to this folder, without its ending: "evidence/convolution".
    name : str
        The kernel.
    count : int
    args : sequence
    voxels : array on the card, optional
        Whose type the file is compiled for.
    """
    defines = () if voxels is None else (f"VOXEL={VOXEL_NAMES[voxels.dtype.name]}",)
    kernel = gpu.kernel(_FOLDER / f"{file}.cu", name, defines)
    kernel((-(-count // THREADS),), (THREADS,), args)


def kernel(gpu, file, name):
    """A kernel of a file that needs no macros."""
    return gpu.kernel(_FOLDER / f"{file}.cu", name)


def integers(numbers):
    """int32 scalars, as kernels take them."""
    return tuple(np.int32(n) for n in numbers)


def pointer(array):
    """The array, or a null pointer."""
    return np.uintp(0) if array is None else array


def check_count(count):
    """Raise `NoRoomError` for a volume whose voxels cannot be numbered."""
    if count > MOST_VOXELS:
        raise NoRoomError(
            f"The volume has {count:,} voxels, and {MOST_VOXELS:,} can be numbered on a CUDA "
            "device; use device 'cpu', or a mask that leaves less."
        )
