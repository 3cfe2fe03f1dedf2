"""The stages of a skeleton: preparing, each component by itself, graph, checks, report."""

from dataclasses import replace
from functools import partial

import numpy as np

from FuzzyVesselCoreLib.errors import DeviceError, DeviceMemoryError
from FuzzyVesselCoreLib.gpu.selection import choose_device
from FuzzyVesselCoreLib.voxels.topology.sparse import sparse_topology

from . import messages as remarks
from .component import ComponentRun
from .component_volumes import ComponentVolumes
from .field.methods import CPU_METHODS
from .field.summation import checked_device
from .graph.branches import branch_points, node_positions
from .graph.curve_skeleton import END, ISOLATED, JUNCTION, LOOP, Branch, CurveSkeleton, Node
from .graph.voxel_graph import VoxelGraph
from .object import preparing

TINY = 27  # voxels: components below it are reported
FEW_FOR_A_CARD = 1 << 13  # voxels: smaller components are done sooner on the CPU, by estimate


def assemble(mask, spacing, options, stages):
    """The `CurveSkeleton` of a mask; parameters checked, see `skeletonize`."""
    chosen = choose_device(checked_device(options.method, options.device))
    if chosen == "cpu":
        return _assemble(mask, spacing, options, stages)
    try:
        with chosen:
            return _assemble(mask, spacing, options, stages, chosen)
    except DeviceMemoryError as error:
        note = f"All but the force field was done on the CPU: {error}"
    except DeviceError as error:
        if options.device != "auto" or options.method not in CPU_METHODS:
            raise
        options, note = replace(options, device="cpu"), f"The CPU was used: {error}"
    return _assemble(mask, spacing, options, stages, notes=[note])


def _assemble(mask, spacing, options, stages, gpu=None, notes=()):
    """The same; what touches every voxel is done on the card, if one is given."""
    with stages("prepare", 0.0, 0.02):
        prepared = prepared_object(mask, spacing, options, stages.tick, gpu)
        prepared.warnings += notes
    parts = _component_skeletons(prepared, spacing, options, stages, gpu)
    stages.part(0.95, 0.05)
    with stages("graph", 0.0, 0.6):
        nodes, branches, voxels = _graph(prepared, parts, stages.tick)
    with stages("checks", 0.6, 0.4):
        report = _report(prepared, parts, nodes, branches, voxels, options, stages.tick)
    report["device"] = "cpu" if gpu is None else gpu.name
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


def prepared_object(mask, spacing, options, tick, gpu):
    """The `Prepared` object of a mask."""
    if gpu is None:
        return preparing.prepare(mask, spacing, options, tick)
    from .object.cuda_preparing import prepare

    return prepare(mask, spacing, options, tick, gpu)


def _component_skeletons(prepared, spacing, options, stages, gpu):
    """For each component its origin in the volume and its `ComponentSkeleton`."""
    sizes, parts = prepared.sizes, prepared.parts
    found, done = [], 0
    for number, size in enumerate(sizes):
        stages.part(0.02 + 0.93 * done / sizes.sum(), 0.93 * size / sizes.sum())
        volumes = _volumes(parts, number, int(size), spacing, options, stages.tick, gpu)
        skeleton = ComponentRun(volumes, options, stages).run()
        found.append((parts.origin(number), skeleton))
        done += int(size)
    return found


def _volumes(parts, number, size, spacing, options, tick, gpu):
    """The volumes of one component, on the device that is faster if both may be used."""
    may_choose = options.device == "auto" and options.method in CPU_METHODS
    if gpu is not None and may_choose and size < FEW_FOR_A_CARD:
        gpu, options = None, replace(options, device="cpu")
    if gpu is None:
        return ComponentVolumes(parts.mask(number), spacing, options, tick)
    from .cuda_component_volumes import ComponentVolumesOnCuda

    on_card = partial(parts.on_device, number)
    return ComponentVolumesOnCuda(on_card, spacing, options, tick, gpu, size)


def _graph(prepared, parts, tick):
    """Nodes, branches, and the voxels (n, 3) of all components, in voxels of the volume."""
    voxels = np.concatenate([part.voxels + origin for origin, part in parts])
    places = np.concatenate([part.positions + origin for origin, part in parts])
    component = np.repeat(np.arange(1, len(parts) + 1), [len(part.voxels) for _, part in parts])
    order = np.lexsort(voxels.T[::-1])
    voxels, places, component = voxels[order], places[order], component[order]
    graph = VoxelGraph(voxels, tick)
    positions = node_positions(graph, places, prepared.object)
    curves = []
    for points in branch_points(graph, places, positions, prepared.object):
        tick()
        curves.append(points)
    ends = np.cumsum([len(positions), *map(len, curves)])
    radii = prepared.parts.radius_at(np.concatenate([positions, *curves]), tick)
    tick()
    radii = np.split(radii, ends[:-1])
    branches = [
        Branch(points, radius, first, last, int(component[graph.nodes[first][0]]))
        for (first, _, last), points, radius in zip(graph.chains, curves, radii[1:])
    ]
    degree = np.bincount(
        [node for first, _, last in graph.chains for node in (first, last)],
        minlength=len(graph.nodes),
    )
    nodes = [
        Node(position, _kind(meeting), float(radius), int(component[own[0]]))
        for position, meeting, radius, own in zip(positions, degree, radii[0], graph.nodes)
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
    skeleton = sparse_topology(voxels)
    tick()
    object_cycles = len(prepared.sizes) - sum(characteristics)
    skeleton_cycles = len(branches) - len(nodes) + skeleton.components
    guarantees = dict(
        thin=all(part.thin for _, part in parts),
        inside=bool((prepared.object[tuple(voxels.T)] != 0).all()),
        one_piece_for_each_component=skeleton.components == len(prepared.sizes),
        same_cycles=skeleton_cycles
        == object_cycles
        == skeleton.components - skeleton.characteristic,
        no_duplicate_nodes=len({tuple(np.round(node.position, 6)) for node in nodes}) == len(nodes),
    )
    report = dict(
        components=len(prepared.sizes),
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
