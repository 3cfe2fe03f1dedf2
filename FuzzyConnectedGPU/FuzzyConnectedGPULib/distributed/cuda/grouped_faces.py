"""Levels of face voxels that are too many for one graph on the card: joined group by group."""

from collections.abc import Sequence

import numpy as np

from FuzzyVesselCoreLib.gpu.device import CudaDevice

from ...affinity import GaussianAffinity
from ...solvers.cpu.blocks.nodes import Edges
from ..face_graph import FaceGraph, JoinedGraph, join, member_levels, merge
from ..partition import Group, Partition
from . import joining


def levels_by_groups(
    graphs: Sequence[FaceGraph],
    partition: Partition,
    affinity: GaussianAffinity,
    floor: int,
    gpu: CudaDevice,
) -> list[np.ndarray]:
    """Final levels (uint16) of the face voxels of each block of a partition.

    As in `distributed`: groups are merged until one is left, which is solved, then its members.

    Parameters
    ----------
    graphs : sequence of FaceGraph
        Of the partition's blocks, in its order.
    partition : Partition
    affinity : GaussianAffinity
    floor : int
        The lowest level that counts.
    gpu : CudaDevice
        Inside its ``with`` block.
    """
    known = dict(zip(partition.groups(0), graphs))
    given = partition, affinity, floor

    def forest(graph: JoinedGraph, kept: np.ndarray) -> Edges:
        return joining.forest(graph, kept, gpu)

    for group in (
        group for level in range(1, partition.levels) for group in partition.groups(level)
    ):
        members = partition.members(group)
        boxes, box = list(map(partition.box, members)), partition.box(group)
        known[group] = merge([known[m] for m in members], boxes, box, *given, forest)
    found: dict[Group, np.ndarray] = {}
    last = partition.groups(partition.levels)[0]
    found[last] = np.empty(0, np.uint16)
    for level in range(partition.levels, 0, -1):
        for group in partition.groups(level):
            members = partition.members(group)
            graph = join([known[m] for m in members], list(map(partition.box, members)), *given)
            outer = known[group].vertices if group != last else np.empty(0, np.int32)
            levels = member_levels(
                graph, outer, found[group], lambda graph: joining.face_levels(graph, gpu)
            )
            found.update(zip(members, levels))
    return [found[group] for group in partition.groups(0)]
