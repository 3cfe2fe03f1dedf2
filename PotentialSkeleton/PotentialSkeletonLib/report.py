"""The report of a skeleton: what was done, what was checked, and messages."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from FuzzyVesselCoreLib.progress import Progress
from FuzzyVesselCoreLib.voxels.topology.sparse import sparse_topology

from . import messages
from .component_skeleton import ComponentSkeleton
from .graph.skeleton_graph import SkeletonGraph
from .object.preparing import Prepared

TINY = 27  # voxels: components below it are reported


def skeleton_report(
    prepared: Prepared, parts: Sequence[ComponentSkeleton], graph: SkeletonGraph, progress: Progress
) -> dict[str, Any]:
    """The report but for device and seconds; its entries are documented at `skeletonize`."""
    characteristics = [part.characteristic for part in parts]
    topology = sparse_topology(graph.voxels)
    progress.check()
    object_cycles = len(prepared.sizes) - sum(characteristics)
    thin_cycles = topology.components - topology.characteristic
    skeleton_cycles = len(graph.branches) - len(graph.nodes) + topology.components
    rounded = np.round([node.position for node in graph.nodes], 6)
    positions = set(map(tuple, rounded.tolist()))
    guarantees = dict(
        thin=all(part.is_thin for part in parts),
        inside=bool((prepared.object[tuple(graph.voxels.T)] != 0).all()),
        one_piece_for_each_component=topology.components == len(prepared.sizes),
        same_cycles=skeleton_cycles == object_cycles == thin_cycles,
        no_duplicate_nodes=len(positions) == len(graph.nodes),
    )
    report: dict[str, Any] = dict(
        components=len(prepared.sizes),
        tiny_components=int(np.count_nonzero(prepared.sizes < TINY)),
        object_cycles=object_cycles,
        skeleton_cycles=skeleton_cycles,
        **prepared.changes,
        joins=sum(part.joins for part in parts),
        thinned_voxels=int(sum(np.count_nonzero(~part.traced) for part in parts)),
        skeleton_voxels=len(graph.voxels),
        removable_voxels=sum(part.removable for part in parts),
        level_voxels=[sum(level) for level in zip(*(part.level_voxels for part in parts))],
        charge_distances=[part.charge_distance for part in parts],
        index_sums=[part.index_sum for part in parts],
        euler_characteristics=characteristics,
        guarantees=guarantees,
    )
    notes = [*messages.changes(report), *prepared.warnings]
    notes += dict.fromkeys(text for part in parts for text in part.messages if text not in notes)
    report["warnings"] = [*notes, *messages.doubts(report, graph.nodes, graph.branches)]
    return report
