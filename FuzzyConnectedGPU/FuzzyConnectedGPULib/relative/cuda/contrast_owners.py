"""Owners by the weakest voxel of a path, on CUDA: group by group, then disputed voxels."""

from pathlib import Path

import numpy as np

from FuzzyVesselCoreLib.gpu.device import CudaDevice, DeviceArray
from FuzzyVesselCoreLib.gpu.kernel_structs import KernelStruct
from FuzzyVesselCoreLib.gpu.launches import check_voxel_count, launch_per_item
from FuzzyVesselCoreLib.progress import Progress

from ...affinity.levels import TOP_LEVEL
from ...contrast.paths.cuda_widest_paths import levels_from
from ..contrast_division import STEPS
from . import by_groups

KERNELS = Path(__file__).with_name("contrast_owners.cu")
STEPS_PER_BATCH = 16  # launched before the host checks whether anything changes


def owners_by_contrast(
    contrast: DeviceArray,
    noise: float,
    reached: np.ndarray,
    box: tuple[slice, ...],
    points: np.ndarray,
    groups: np.ndarray,
    gpu: CudaDevice,
    progress: Progress,
) -> np.ndarray:
    """Owners by iterative relative connectedness, as of `contrast_division.divide_levels`.

    Parameters
    ----------
    contrast : device array, shape (K, J, I), float32
    noise : float
    reached : ndarray of bool, of the box's shape
        No path leaves it.
    box : tuple of slice
        Of the volume of contrasts.
    points : ndarray, shape (n, 3), int64
        K, J, I in the box, of all groups.
    groups : ndarray, shape (n,), uint8
        Group of each.
    gpu : CudaDevice
    progress : Progress
        Checked between batches of kernels.

    Returns
    -------
    ndarray, uint8, of the box's shape
        The same as on the CPU, bit for bit.
    """
    xp, shape, size = gpu.xp, reached.shape, np.uint32(reached.size)
    check_voxel_count(contrast.size)
    place = _box_struct(contrast.shape, box, gpu)
    capacities = xp.empty(shape, np.uint16)
    args = contrast, gpu.put(reached.astype(np.uint8)), place, np.float32(noise)
    _run(gpu, "find_levels", reached.size, *args, np.float32(STEPS), capacities)
    best, other = xp.zeros(shape, np.uint16), xp.zeros(shape, np.uint16)
    owners, names = xp.zeros(shape, np.uint8), np.unique(groups)
    for n, group in enumerate(names):
        part = progress.part(0.8 * n / len(names), 0.8 * (n + 1) / len(names))
        levels = levels_from(capacities, points[groups == group], gpu, part)
        join = levels, np.int32(group), size, best, other, owners
        launch_per_item(gpu, by_groups.KERNELS, "join_group", reached.size, join)
        del levels, join  # their memory is reused for the next group
        part.advance(1.0)
    launch_per_item(
        gpu, by_groups.KERNELS, "find_disputed", reached.size, (best, other, size, owners)
    )
    flat = np.ravel_multi_index(tuple(points.T), shape).astype(np.int64)
    seeds, other = gpu.put(flat), None
    by_groups.own_points(seeds, gpu.put(groups), owners, gpu)
    top = np.uint32(flat.size), np.int32(TOP_LEVEL)
    _run(gpu, "raise_points", flat.size, seeds, *top, best)
    _iterate(capacities, best, owners, place, gpu, progress)
    return gpu.get(owners)


def _box_struct(shape: tuple[int, ...], box: tuple[slice, ...], gpu: CudaDevice) -> KernelStruct:
    nk, nj, ni = (side.stop - side.start for side in box)
    corner = int(np.ravel_multi_index([side.start for side in box], shape))
    sizes = dict(nk=nk, nj=nj, ni=ni, corner=corner, row=shape[2], plane=shape[1] * shape[2])
    return gpu.struct(KERNELS, "Box", **sizes)


def _iterate(
    capacities: DeviceArray,
    levels: DeviceArray,
    owners: DeviceArray,
    box: KernelStruct,
    gpu: CudaDevice,
    progress: Progress,
) -> None:
    """From relative to iterative relative connectedness: changes the owners."""
    xp, size = gpu.xp, np.uint32(owners.size)
    counted, none = xp.zeros(1, np.uint32), xp.empty(1, np.uint32)
    _run(gpu, "list_disputed", owners.size, owners, size, np.uint32(0), counted, none)
    count = int(gpu.get(counted)[0])
    if not count:
        return
    listed, edges = xp.empty(count, np.uint32), xp.empty(count, np.uint32)
    counted.fill(0)
    _run(gpu, "list_disputed", owners.size, owners, size, np.uint32(count), counted, listed)
    some, found = np.uint32(count), xp.zeros(owners.shape, np.uint8)
    _run(gpu, "find_optimal_edges", count, listed, some, capacities, levels, box, edges)
    changed = xp.ones(1, np.int32)
    while int(gpu.get(changed)[0]):
        for step in range(STEPS_PER_BATCH):
            if step == STEPS_PER_BATCH - 1:
                changed.fill(0)  # only changes of the batch's last step count
            _run(gpu, "step_along_edges", count, listed, some, edges, box, owners, found, changed)
        progress.check()
    _run(gpu, "take_found_owners", count, listed, some, found, owners)


def _run(gpu: CudaDevice, name: str, count: int, *args: object) -> None:
    launch_per_item(gpu, KERNELS, name, count, args)
