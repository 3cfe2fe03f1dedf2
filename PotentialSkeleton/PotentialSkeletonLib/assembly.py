"""The stages of a skeleton: preparing, each component by itself, graph, checks, report."""

from dataclasses import dataclass, replace

import numpy as np
from scipy import ndimage

from FuzzyVesselCommon.errors import InputError

from . import cleaning, remarks
from .branches import Border, branch_points, node_positions
from .component import ComponentRun
from .curve_skeleton import END, ISOLATED, JUNCTION, LOOP, Branch, CurveSkeleton, Node
from .graph import VoxelGraph
from .labelling import sizes_of
from .solids import fill_cavities, label_components
from .thin_topology import thin_topology
from .voxel_classes import checked_object

TINY = 27  # voxels: components below it are reported


def assemble(mask, spacing, options, stages):
    """The `CurveSkeleton` of a mask; parameters checked, see `skeletonize`."""
    with stages("prepare", 0.0, 0.02):
        prepared = _prepare(mask, spacing, options, stages)
    parts = _component_skeletons(prepared, spacing, options, stages)
    stages.part(0.95, 0.05)
    with stages("graph", 0.0, 0.6):
        nodes, branches, voxels = _graph(prepared, parts, spacing, stages.tick)
    with stages("checks", 0.6, 0.4):
        report = _report(prepared, parts, nodes, branches, voxels, options, stages.tick)
    report["seconds"] = stages.seconds
    stages.part(1.0, 0.0)
    stages.tick(1.0)
    points = [
        replace(point, position=point.position + origin)
        for origin, part in parts
        for point in part.critical_points
    ]
    shape = np.shape(mask) if np.ndim(mask) == 3 else (1, *np.shape(mask))
    return CurveSkeleton(nodes, branches, points, voxels, shape, spacing, report)


@dataclass
class Prepared:
    """The object that the skeleton is taken of, in its box; one empty voxel round it."""

    object: np.ndarray
    labels: np.ndarray
    count: int
    sizes: np.ndarray  # voxels of each component
    origin: np.ndarray  # of the box in the volume, K, J, I
    changes: dict
    warnings: list


def _prepare(mask, spacing, options, stages):
    given = checked_object(mask)
    if not given.any():
        raise InputError("The labelmap is empty: there is no object to take a skeleton of.")
    notes = []
    if options.strength == 2:
        notes.append("At strength 2 the field has no attractors; choose 3 to 9 for a skeleton.")
    if given.all():
        notes.append("The object fills the volume: its border is taken to be the volume's.")
    values = np.asarray(mask).reshape(given.shape)
    if values.dtype.kind == "f" and (values[given] != np.rint(values[given])).any():
        notes.append("The labelmap has values that are no whole numbers; all but 0 are the object.")
    box = _box_of(given)
    stages.tick()
    solid, cavities, cavity_voxels = fill_cavities(given[box], stages.tick)
    stages.tick()
    solid, islands, island_voxels = (
        cleaning.drop_islands(solid, options.drop_islands, stages.tick)
        if options.drop_islands > 1
        else (solid, 0, 0)
    )
    stages.tick()
    solid, tunnels, tunnel_voxels = (
        cleaning.close_tunnels(solid, options.close_tunnels, spacing, stages.tick)
        if options.close_tunnels > 0
        else (solid, 0, 0)
    )
    changes = dict(
        cavities_filled=cavities, cavity_voxels=cavity_voxels,
        islands_dropped=islands, island_voxels=island_voxels,
        tunnels_closed=tunnels, tunnel_voxels=tunnel_voxels,
    )  # fmt: skip
    solid = np.pad(solid, 1)
    stages.tick()
    labels, count = label_components(solid, stages.tick)
    sizes = sizes_of(labels, count, stages.tick)[1:]
    origin = np.array([side.start - 1 for side in box])
    return Prepared(solid, labels, count, sizes, origin, changes, notes)


def _box_of(mask):
    sides = []
    for axis in range(3):
        used = np.flatnonzero(mask.any(axis=tuple(a for a in range(3) if a != axis)))
        sides.append(slice(int(used[0]), int(used[-1]) + 1))
    return tuple(sides)


def _component_skeletons(prepared, spacing, options, stages):
    """For each component its origin in the volume and its `ComponentSkeleton`."""
    sizes = prepared.sizes
    parts, done = [], 0
    for label, box in enumerate(ndimage.find_objects(prepared.labels), start=1):
        stages.part(0.02 + 0.93 * done / sizes.sum(), 0.93 * sizes[label - 1] / sizes.sum())
        component = np.pad(prepared.labels[box] == label, 1)
        origin = np.array([side.start - 1 for side in box]) + prepared.origin
        parts.append((origin, ComponentRun(component, spacing, options, stages).run()))
        done += int(sizes[label - 1])
    return parts


def _graph(prepared, parts, spacing, tick):
    """Nodes, branches, and the voxels (n, 3) of all components, in voxels of the volume."""
    voxels = np.concatenate([part.voxels + origin for origin, part in parts])
    places = np.concatenate([part.positions + origin for origin, part in parts])
    order = np.lexsort(voxels.T[::-1])
    voxels, places = voxels[order], places[order] - prepared.origin
    component = prepared.labels[tuple((voxels - prepared.origin).T)]
    graph = VoxelGraph(voxels, tick)
    border = Border(prepared.object, spacing)
    tick()
    positions = node_positions(graph, places, prepared.object)
    radii = border.radius(positions)
    branches = []
    for chain, points in zip(
        graph.chains, branch_points(graph, places, positions, prepared.object)
    ):
        tick()
        owner = int(component[graph.nodes[chain[0]][0]])
        radius = border.radius(points)
        branches.append(Branch(points + prepared.origin, radius, chain[0], chain[2], owner))
    degree = np.bincount(
        [node for first, _, last in graph.chains for node in (first, last)],
        minlength=len(graph.nodes),
    )
    nodes = [
        Node(position + prepared.origin, _kind(meeting), float(radius), int(component[own[0]]))
        for position, meeting, radius, own in zip(positions, degree, radii, graph.nodes)
    ]
    return nodes, branches, voxels


def _kind(degree):
    if degree == 0:
        return ISOLATED
    if degree == 1:
        return END
    return JUNCTION if degree > 2 else LOOP


def _report(prepared, parts, nodes, branches, voxels, options, tick):
    """What was done, what was checked, and what the user should know."""
    characteristics = [part.characteristic for _, part in parts]
    skeleton = thin_topology(voxels)
    tick()
    object_cycles = prepared.count - sum(characteristics)
    skeleton_cycles = len(branches) - len(nodes) + skeleton.pieces
    guarantees = dict(
        thin=all(part.thin for _, part in parts),
        inside=bool(prepared.object[tuple((voxels - prepared.origin).T)].all()),
        one_piece_for_each_component=skeleton.pieces == prepared.count,
        same_cycles=skeleton_cycles == object_cycles == skeleton.pieces - skeleton.characteristic,
        no_duplicate_nodes=len({tuple(np.round(node.position, 6)) for node in nodes}) == len(nodes),
    )
    report = dict(
        components=prepared.count,
        tiny_components=int(np.count_nonzero(prepared.sizes < TINY)),
        object_cycles=object_cycles,
        skeleton_cycles=skeleton_cycles,
        **prepared.changes,
        joins=sum(part.joins for _, part in parts),
        thinned_voxels=int(sum(np.count_nonzero(~part.traced) for _, part in parts)),
        skeleton_voxels=len(voxels),
        removable_voxels=sum(part.removable for _, part in parts),
        level_voxels=[sum(part.level_voxels[n] for _, part in parts) for n in range(options.level)],
        charge_distances=[part.charge_distance for _, part in parts],
        index_sums=[part.index_sum for _, part in parts],
        euler_characteristics=characteristics,
        guarantees=guarantees,
    )
    notes = [*remarks.changes(report), *prepared.warnings]
    notes += dict.fromkeys(note for _, part in parts for note in part.notes if note not in notes)
    report["warnings"] = [*notes, *remarks.doubts(report, nodes, branches)]
    return report
