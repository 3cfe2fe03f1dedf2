"""The result of each component, the seconds of the stages, and the report that is made of them."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np

from FuzzyVesselCoreLib.progress import Progress

from . import messages
from .critical_points.critical_points import CriticalPoint
from .graph.curve_skeleton import Branch, Node
from .object.preparing import Prepared

TINY = 27  # voxels: components below it are reported


@dataclass(frozen=True)
class ComponentSkeleton:
    """What was found in one component, in voxels of its box."""

    voxels: np.ndarray  # of the skeleton, (n, 3), in ascending order of K, J, I
    nodes: list[Node]
    branches: list[Branch]
    critical_points: list[CriticalPoint]
    level_voxels: list[int]  # skeleton voxels of each level
    joins: int  # gaps between traced curves that were closed
    thinned: int  # voxels that no traced curve passes
    removable: int  # voxels that could go without a change of topology and are no ends
    is_thin: bool  # whether all of these belong to the level before, which must stay whole
    is_inside: bool
    pieces: int  # of the skeleton's voxels
    cycles: int
    characteristic: int  # the component's Euler characteristic
    charge_distance: int | None  # None where the component is too small for a field
    index_sum: int | None  # likewise
    messages: tuple[str, ...]  # from the field
    device: str  # of the field


class Stages:
    """Seconds of named stages, each a part of a run, on top of its progress."""

    def __init__(self, progress: Progress, seconds: dict[str, float] | None = None) -> None:
        self.progress = progress
        self.seconds: dict[str, float] = {} if seconds is None else seconds

    def part(self, start: float, end: float) -> "Stages":
        """Stages of a part of the run; their seconds count in `seconds`."""
        return Stages(self.progress.part(start, end), self.seconds)

    @contextmanager
    def stage(self, name: str, start: float, end: float) -> Iterator[Progress]:
        """Time a stage; it gets its own part of the progress."""
        progress = self.progress.part(start, end)
        progress.advance(0.0)
        began = perf_counter()
        yield progress
        self.seconds[name] = self.seconds.get(name, 0.0) + perf_counter() - began


def skeleton_report(
    prepared: Prepared,
    parts: Sequence[ComponentSkeleton],
    nodes: Sequence[Node],
    branches: Sequence[Branch],
) -> dict[str, Any]:
    """The report but for the seconds; its entries are documented at `skeletonize`."""
    pieces = sum(part.pieces for part in parts)
    characteristics = [part.characteristic for part in parts]
    object_cycles = len(parts) - sum(characteristics)
    skeleton_cycles = len(branches) - len(nodes) + pieces
    rounded = np.round([node.position for node in nodes], 6)
    guarantees = dict(
        thin=all(part.is_thin for part in parts),
        inside=all(part.is_inside for part in parts),
        one_piece_for_each_component=all(part.pieces == 1 for part in parts),
        same_cycles=skeleton_cycles == object_cycles == sum(part.cycles for part in parts),
        no_duplicate_nodes=len(np.unique(rounded, axis=0)) == len(nodes),
    )
    report: dict[str, Any] = dict(
        components=len(parts),
        tiny_components=int(np.count_nonzero(prepared.sizes < TINY)),
        object_cycles=object_cycles,
        skeleton_cycles=skeleton_cycles,
        **prepared.changes,
        joins=sum(part.joins for part in parts),
        thinned_voxels=sum(part.thinned for part in parts),
        skeleton_voxels=sum(len(part.voxels) for part in parts),
        removable_voxels=sum(part.removable for part in parts),
        level_voxels=[sum(level) for level in zip(*(part.level_voxels for part in parts))],
        charge_distances=[part.charge_distance for part in parts],
        index_sums=[part.index_sum for part in parts],
        euler_characteristics=characteristics,
        guarantees=guarantees,
        device=next((part.device for part in parts if part.device != "cpu"), "cpu"),
    )
    notes = [*messages.changes(report), *prepared.warnings]
    notes += dict.fromkeys(text for part in parts for text in part.messages if text not in notes)
    report["warnings"] = [*notes, *messages.doubts(report, nodes, branches)]
    return report
