"""How much memory a run will need, to be said before it starts."""

from dataclasses import dataclass

import numpy as np

from FuzzyVesselCoreLib.errors import InputError

# Bytes a voxel. Host: the volume and its copy, the scene (here and in its node), its levels, the
# labels, and what a run works in (37 bytes in the model "contrast", 9 in "affinity"). Card: besides
# the voxels and levels what the exact solver works in; a mask is a byte more.
HOST_COPIES = 2
SCENE, LEVELS, LABELS = 8, 2, 2
CONTRAST, CARD_CONTRAST = 40, 15
CARD_WORK = 3


@dataclass(frozen=True)
class MemoryNeed:
    """Bytes that a run takes, an upper estimate."""

    host: int
    card: int


def memory_need(shape, voxel_type):
    """The memory that a run on a volume takes, estimated from above.

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
        The voxel type is no type of numbers.
    """
    try:
        size = np.dtype(voxel_type).itemsize
    except TypeError:
        raise InputError(f"Voxel type {voxel_type!r} is unknown.") from None
    voxels = int(np.prod(shape, dtype=np.int64))
    solver_size = min(size, 4)  # larger types become float32
    host = HOST_COPIES * size + SCENE + LABELS + CONTRAST
    return MemoryNeed(voxels * host, voxels * max(solver_size + LEVELS + CARD_WORK, CARD_CONTRAST))
