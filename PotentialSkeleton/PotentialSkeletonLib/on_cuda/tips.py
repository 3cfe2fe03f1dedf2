"""Tips of an object that is on the card; see `..tips`."""

from pathlib import Path

import numpy as np

from FuzzyVesselCommon.errors import NoRoomError

from ..geodesic import neighbour_steps, unit_of

KERNELS = Path(__file__).with_name("kernels") / "tips.cu"
THREADS, BLOCKS = 128, 4096
ROOM = 1 << 16  # tops in the list of the first try
AT_ONCE = 1 << 10  # tops that are copied together with their number
MOST_VOXELS = 2**31 - 1  # of a volume


def may_be_tips(distances, depth, spacing, smallest, gpu):
    """Flat indices of the tops that pass a quick test, which all tips do; see `..tips`.

    Parameters
    ----------
    distances : CuPy's ndarray of int32, shape (K, J, I)
        Geodesic distance from the core, -1 outside the object (`geodesic.distance_along`).
    depth : CuPy's ndarray of float32, shape (K, J, I)
        Distance to the outside in mm.
    spacing : 3 floats K, J, I, in mm
    smallest : float
        Millimetres that a limb is longer than `SLENDERNESS` times its radius.
    gpu : CudaDevice

    Returns
    -------
    ndarray of int64
        On the host, rising.
    """
    lines = lines_of(distances)
    numbers = np.float64(unit_of(spacing)), np.float64(smallest)
    blocks = (min(-(-distances.size // THREADS), BLOCKS),)
    steps, room = gpu.put(lengths(distances.shape, spacing)), ROOM
    while True:
        tops, found = gpu.xp.empty(room, np.int32), gpu.xp.zeros(room + 2, np.int32)
        gpu.kernel(KERNELS, "find_tops")(
            blocks,
            (THREADS,),
            (distances, np.int32(distances.size), *lines, *numbers, np.int32(room), tops, found),
        )
        gpu.kernel(KERNELS, "follow_ways")(
            (BLOCKS // 8,), (32,),
            (distances, depth, *lines, *numbers, steps, tops, np.int32(room), found[2:], found),
        )  # fmt: skip
        first = gpu.get(found[: AT_ONCE + 2])
        if first[0] <= room:
            break
        room = int(first[0])
    count = int(first[1])
    tips = first[2 : count + 2] if count <= AT_ONCE else gpu.get(found[2 : count + 2])
    return np.sort(tips).astype(np.int64)


def lines_of(volume):
    """Voxels from one row and from one plane to the next."""
    if volume.size > MOST_VOXELS:
        raise NoRoomError(
            f"A component's box has {volume.size:,} voxels, and {MOST_VOXELS:,} can be numbered "
            "on the card; use device 'cpu'."
        )
    return np.int32(volume.shape[2]), np.int32(volume.shape[1] * volume.shape[2])


def lengths(shape, spacing):
    """Lengths in units of the steps to the 27 voxels of a block, int32; 0 in the middle."""
    return np.insert(neighbour_steps(shape, spacing)[1], 13, 0).astype(np.int32)
