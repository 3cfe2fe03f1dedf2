"""What is said of a skeleton: counts, checked guarantees, and sentences for the user."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from FuzzyVesselCoreLib.translation import counted

from .critical_points import index_sum
from .curve_skeleton import Branch, CurveSkeleton, Node
from .skeleton_graph import component_count, topology

if TYPE_CHECKING:
    from .force_field import ForceField
    from .preparing import Components
    from .thinning import LevelThinning

TINY = 27  # voxels: components below it are reported
# What may be done to an object before its skeleton is taken, and how often and to how many voxels.
CHANGES = (
    ("islands_dropped", "island_voxels", "Dropped {} of few voxels ({}).", "island", "islands"),
    ("cavities_filled", "cavity_voxels", "Filled {} inside the object ({}).", "cavity", "cavities"),
    ("tunnels_closed", "tunnel_voxels", "Closed {} through the object ({}).", "tunnel", "tunnels"),
)
NO_CHANGES = {name: 0 for change in CHANGES for name in change[:2]}
NOT_RESOLVED = (
    "Some thin parts or small tunnels are not resolved by the force field; they were completed "
    "along the deepest voxels."
)
BROKEN_GUARANTEES = {
    "thin": "In some places the skeleton is more than one voxel wide.",
    "inside": "Parts of the skeleton lie outside of the object.",
    "one_piece_for_each_component": "The skeleton does not have one connected component for each "
    "component of the object.",
    "same_cycles": "The skeleton does not have as many loops as the object.",
    "no_duplicate_nodes": "Some nodes of the skeleton lie at the same position.",
}


def component_report(
    skeleton: CurveSkeleton,
    mask: np.ndarray,
    is_traced: np.ndarray,
    thinning: "LevelThinning",
    field: "ForceField | None",
) -> dict[str, Any]:
    """The part of one component (bool) in the report of the whole; see `skeleton_report`.

    Checked are the skeleton's voxels, some of which are on traced curves (bool (n,)), and graph.
    """
    voxels, nodes, branches = skeleton.voxels, skeleton.nodes, skeleton.branches
    characteristic = thinning.characteristic
    sum_of_indices = index_sum(skeleton.critical_points) if field else None
    pieces, own_characteristic = topology(voxels)
    cycles = len(branches) - len(nodes) + pieces
    rounded = np.round([node.position for node in nodes], 6)
    guarantees = dict(
        thin=thinning.is_thin,
        inside=bool(mask[tuple(voxels.T)].all()),
        one_piece_for_each_component=pieces == 1,
        same_cycles=cycles == pieces - own_characteristic == 1 - characteristic,
        no_duplicate_nodes=len(np.unique(rounded, axis=0)) == len(nodes),
    )
    doubts = [NOT_RESOLVED] if sum_of_indices not in (None, characteristic) else []
    doubts += [BROKEN_GUARANTEES[name] for name, held in guarantees.items() if not held]
    return dict(
        sums=dict(
            object_cycles=1 - characteristic,
            skeleton_cycles=cycles,
            joins=max(component_count(voxels[is_traced]) - 1, 0),
            thinned_voxels=int(np.count_nonzero(~is_traced)),
            skeleton_voxels=len(voxels),
            removable_voxels=thinning.removable,
        ),
        level_voxels=thinning.level_voxels,
        lists=dict(
            charge_distances=field.charge_distance if field else None,
            index_sums=sum_of_indices,
            euler_characteristics=characteristic,
        ),
        guarantees=guarantees,
        device=field.device if field else "cpu",
        warnings=[*(field.notes if field else ()), *doubts],
    )


def skeleton_report(
    components: "Components",
    parts: Sequence[dict[str, Any]],
    nodes: Sequence[Node],
    branches: Sequence[Branch],
) -> dict[str, Any]:
    """The report of all components from those of each; `skeletonize` documents its entries.

    Counts and seconds are added up, some figures are listed, and a guarantee is held if it is held
    in each.
    """
    first, tiny = parts[0], int(np.count_nonzero(components.sizes < TINY))
    seconds = defaultdict(float, prepare=components.seconds)
    for part in parts:
        for stage, spent in part["seconds"].items():
            seconds[stage] += spent
    sentences = components.sentences
    sentences += [text for part in parts for text in part["warnings"]]
    if tiny:
        sentences.append(f"Tiny, perhaps noise: {tiny} of {counted(len(parts), 'component')}.")
    if not branches:
        points = counted(len(nodes), "point")
        sentences.append(
            f"There is no branch: the skeleton is {points}, seen in the labelmap only."
        )
    return dict(
        components=len(parts),
        tiny_components=tiny,
        **components.changes,
        **{name: sum(part["sums"][name] for part in parts) for name in first["sums"]},
        level_voxels=[sum(level) for level in zip(*(part["level_voxels"] for part in parts))],
        **{name: [part["lists"][name] for part in parts] for name in first["lists"]},
        guarantees={
            name: all(part["guarantees"][name] for part in parts) for name in first["guarantees"]
        },
        device=next((part["device"] for part in parts if part["device"] != "cpu"), "cpu"),
        seconds=dict(seconds),
        warnings=list(dict.fromkeys(sentences)),
    )


def sentences_on(changes: Mapping[str, int]) -> list[str]:
    """What was changed of the object before its skeleton was taken, in words."""
    return [
        text.format(counted(changes[count], *nouns), counted(changes[voxels], "voxel"))
        for count, voxels, text, *nouns in CHANGES
        if changes.get(count)
    ]
