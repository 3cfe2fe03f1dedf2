"""An estimate of the memory that a run will need."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from FuzzyVesselCoreLib.errors import InputError

# Bytes per voxel. Host: the volume and its copy, the scene (here and in its node), its levels, the
# labels, and workspace (37 bytes in the model "contrast", 9 in "affinity"). Device: voxels, levels
# and the exact solver's workspace; a mask is one byte more.
HOST_COPIES = 2
SCENE, LEVELS, LABELS = 8, 2, 2
CONTRAST, DEVICE_CONTRAST = 40, 15
DEVICE_WORKSPACE = 3


@dataclass(frozen=True)
class MemoryNeed:
    """Upper estimate of the bytes of a run, in host memory and on the CUDA device."""

    host: int
    device: int


def memory_need(shape: Sequence[int], voxel_type: Any) -> MemoryNeed:
    """Upper estimate of the memory of a run on a volume.

    Parameters
    ----------
    shape : tuple of int
        K, J, I.
    voxel_type : str or numpy.dtype

    Returns
    -------
    MemoryNeed

    Raises
    ------
    InputError
        The voxel type is not numeric.
    """
    try:
        size = np.dtype(voxel_type).itemsize
    except TypeError:
        raise InputError(f"Voxel type {voxel_type!r} is unknown.") from None
    voxels = int(np.prod(shape, dtype=np.int64))
    solver_size = min(size, 4)  # larger types become float32
    host = HOST_COPIES * size + SCENE + LABELS + CONTRAST
    device = max(solver_size + LEVELS + DEVICE_WORKSPACE, DEVICE_CONTRAST)
    return MemoryNeed(voxels * host, voxels * device)
