"""Distances inside an object to its outside, in mm, for volumes that are on the card.

They equal those of `distance` bit for bit. There the stack of parabolas of each line is sequential;
here each voxel searches its line for the best foot, all voxels at a time.
"""

from pathlib import Path

import numpy as np

from . import euclidean as distance

KERNELS = Path(__file__).with_name("euclidean.cu")
ROWS_A_BLOCK = 4
TILE = (32, 16)  # voxels of a block: neighbouring lines, places along them
MOST_GROUPS = 65535  # along a grid's third side
VOXELS_A_LAUNCH = 1 << 25  # so that no launch takes long
THREADS = 128  # that do one voxel each
ROOM = 1 << 16  # depths in the list of the first try


def distance_to_outside(mask, spacing, gpu, report=None):
    """Exact distance of each voxel's centre to the nearest centre outside the object.

    Fewer than `distance.FEW_VOXELS` voxels are left to the CPU: there SciPy is asked, which rounds
    once and not after each pass, so that the last bit can be another.

    Parameters
    ----------
    mask : CuPy's ndarray of bool or uint8, shape (K, J, I), in C order
        Not 0 in the object. Beyond the array nothing is known: pad an object that touches it.
    spacing : 3 floats K, J, I, in mm
    gpu : CudaDevice
    report : callable, optional
        Called between launches; raises to cancel.

    Returns
    -------
    CuPy's ndarray of float32, shape (K, J, I), in mm; 0 outside
    """
    if mask.size < distance.FEW_VOXELS:
        on_host = gpu.get(mask).view(np.uint8)
        return gpu.put(distance.distance_to_outside(on_host, spacing, report))
    depth, rows, width = mask.shape
    squared, other = (gpu.xp.empty(mask.shape, np.float32) for _ in range(2))
    gpu.kernel(KERNELS, "along_rows")(
        (-(-depth * rows // ROWS_A_BLOCK),),
        (32 * ROWS_A_BLOCK,),
        (mask, np.int64(depth * rows), np.int32(width), np.float64(spacing[2]), squared),
    )
    _lower_envelopes(squared, (depth, rows, width), spacing[1], False, other, gpu, report)
    _lower_envelopes(other, (1, depth, rows * width), spacing[0], True, squared, gpu, report)
    return squared


def _lower_envelopes(values, shape, step, take_root, lower, gpu, report):
    """Take the array as groups of lines, (group, place in the line, line)."""
    groups, count, lines = shape
    values, lower = values.reshape(shape), lower.reshape(shape)
    kernel = gpu.kernel(KERNELS, "lower_envelopes")
    some_lines = max(TILE[0], min(lines, VOXELS_A_LAUNCH // count))
    some_groups = max(1, min(groups, MOST_GROUPS, VOXELS_A_LAUNCH // (count * some_lines)))
    for group in range(0, groups, some_groups):
        part = slice(group, min(group + some_groups, groups))
        for first in range(0, lines, some_lines):
            last = min(first + some_lines, lines)
            grid = -(-(last - first) // TILE[0]), -(-count // TILE[1]), part.stop - part.start
            sizes = np.int32(count), *(np.int64(n) for n in (lines, first, last))
            how = np.float64(step), np.int32(take_root)
            kernel(grid, TILE, (values[part], *sizes, *how, lower[part]))
            if report is not None:
                report()


def automatic_charge_distance(mask, depth, spacing, gpu, report=None):
    """What `distance.automatic_charge_distance` says of an object on the card.

    Parameters
    ----------
    mask, spacing, gpu, report
        As in `distance_to_outside`.
    depth : CuPy's ndarray of float32, shape (K, J, I)
        What `distance_to_outside` returned.

    Returns
    -------
    int
    """
    step = spacing[0]
    if len(set(spacing)) > 1:
        depth, step = distance_to_outside(mask, (1.0, 1.0, 1.0), gpu, report), 1.0
    return distance.charge_distance_for(ridge_depths(depth, gpu), step)


def order_at(depth, voxels, gpu):
    """As `distance.order_at`, of a depth on the card; voxels and order are on the host."""
    order = gpu.xp.empty(len(voxels), np.float32)
    if len(voxels):
        gpu.kernel(KERNELS, "order_at")(
            (-(-len(voxels) // THREADS),),
            (THREADS,),
            (depth, *(np.int32(n) for n in depth.shape), gpu.put(np.asarray(voxels, np.int64)),
             np.int64(len(voxels)), order),
        )  # fmt: skip
    return gpu.get(order)


def ridge_depths(depth, gpu):
    """Depths of the voxels that none of their 26 neighbours exceeds in depth.

    Parameters
    ----------
    depth : CuPy's ndarray of float32, shape (K, J, I)
    gpu : CudaDevice

    Returns
    -------
    numpy's ndarray of float32, (n,), in no order
    """
    blocks = max(depth.shape[0] - 2, 0) * max(depth.shape[1] - 2, 0)
    if blocks == 0:
        return np.zeros(0, np.float32)
    found, room = 0, ROOM
    while True:
        count, ridge = gpu.xp.zeros(1, np.int32), gpu.xp.empty(room, np.float32)
        sizes = (np.int32(n) for n in (*depth.shape[1:], room))
        gpu.kernel(KERNELS, "list_ridge")((blocks,), (64,), (depth, *sizes, count, ridge))
        found = int(count[0])
        if found <= room:
            return gpu.get(ridge[:found])
        room = found
