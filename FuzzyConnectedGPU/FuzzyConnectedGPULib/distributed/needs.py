"""What a run will need: memory of a task, and space for intermediate results."""

import shutil
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from FuzzyVesselCoreLib.errors import InputError

from .partition import Partition

# Upper estimates in bytes. Of a voxel of a block, besides what is read: float32, mask, levels and
# node numbers, nodes and edges (noise: 10), result. Of a face voxel of a group's members: index,
# intensity, edges twice, union-find; on disk: index, intensity, edge, number, level.
BLOCK_VOXEL, GROUP_VOXEL, DISK_VOXEL = 24, 64, 28
FILE = 4096  # the least that a file takes


@dataclass(frozen=True)
class RunNeed:
    """Upper estimate of the bytes that a run needs.

    Attributes
    ----------
    task_memory : int
        Of the task that needs most.
    disk : int
        In the run's folder.
    """

    task_memory: int
    disk: int


def run_need(partition: Partition, voxel_size: int) -> RunNeed:
    """What connectedness over a partition needs, for voxels of so many bytes.

    Examples
    --------
    >>> run_need(Partition((2048, 2048, 2048), (512, 512, 512)), 2).task_memory // 10**9
    3
    """
    largest = min(partition.block[0], partition.shape[0])
    largest *= min(partition.block[1], partition.shape[1])
    largest *= min(partition.block[2], partition.shape[2])
    return with_groups(largest * (voxel_size + BLOCK_VOXEL), partition, GROUP_VOXEL, DISK_VOXEL, 3)


def with_groups(
    block_memory: int, partition: Partition, face_memory: int, face_disk: int, files: int
) -> RunNeed:
    """The need of blocks and groups.

    Parameters
    ----------
    block_memory : int
        Bytes of the largest block's task.
    partition : Partition
    face_memory, face_disk : int
        Bytes for a face voxel, of a group's members in memory and of a group on disk.
    files : int
        Of each group.
    """
    memory, disk = block_memory, 0
    for level in range(partition.levels + 1):
        for group in partition.groups(level):
            disk += face_disk * partition.face_count(partition.box(group)) + files * FILE
            if level:
                members = map(partition.box, partition.members(group))
                memory = max(memory, sum(map(partition.face_count, members)) * face_memory)
    return RunNeed(memory, disk)


def require_memory(need: RunNeed, limit: int | None) -> None:
    """Refuse a run whose tasks need more than the limit."""
    if limit is not None and need.task_memory > limit:
        raise InputError(
            f"A task needs up to {need.task_memory / 1e9:.3g} GB, above the limit of "
            f"{limit / 1e9:.3g} GB: give smaller blocks (a block needs most), or larger ones if "
            "there are more than a thousand (their faces need most)."
        )


def require_space(place: Path, bytes_needed: int) -> None:
    """Refuse a run for which a disk has too little space; `place` may not exist yet."""
    existing = next(p for p in (place, *place.parents) if p.exists())
    there = sum(p.stat().st_size for p in place.rglob("*") if p.is_file()) if place.is_dir() else 0
    free = shutil.disk_usage(existing).free
    if bytes_needed - there > free:
        raise InputError(
            f"{place}: the run needs up to {(bytes_needed - there) / 1e9:.3g} GB there, but "
            f"{free / 1e9:.3g} GB are free: free some space, or choose another disk."
        )


def array_bytes(shape: tuple[int, ...], voxel_type: np.dtype) -> int:
    """Of an array that is not compressed."""
    return int(np.prod(shape, dtype=object)) * np.dtype(voxel_type).itemsize
