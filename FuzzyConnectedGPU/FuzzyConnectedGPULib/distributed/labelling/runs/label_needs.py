"""What labels over blocks will need: memory of a task, and space for intermediate results."""

from ...needs import RunNeed, with_groups
from ...partition import Partition

# Upper estimates in bytes. Of a voxel of a block: object, labels, run lengths (noise: one run for
# two voxels), pieces (one for eight), result. Of a face voxel of a group's members: index, piece,
# order, both sorted, table of pieces (one for four); on disk: index, piece, table.
LABEL_VOXEL, FACE_VOXEL, DISK_VOXEL = 28, 64, 32


def label_need(partition: Partition, voxel_size: int, margin: int) -> RunNeed:
    """What labels over a partition need, for voxels of so many bytes, read with a margin.

    Examples
    --------
    >>> label_need(Partition((2048, 2048, 2048), (512, 512, 512)), 2, 0).task_memory // 10**9
    4
    """
    sides = [min(b, n) for b, n in zip(partition.block, partition.shape)]
    grown = [min(b + 2 * margin, n) for b, n in zip(sides, partition.shape)]
    read = grown[0] * grown[1] * grown[2]
    return with_groups(read * (voxel_size + LABEL_VOXEL), partition, FACE_VOXEL, DISK_VOXEL, 6)
