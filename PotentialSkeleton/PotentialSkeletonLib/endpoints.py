"""Endpoints of an object: where it reaches furthest from a core, and by more than its own width.

Seen from the core, each protrusion of the object holds a local maximum of the geodesic distance.
The voxels further out than some level are connected components, one a protrusion; as that level
sinks, components grow and merge. A component's maximum is an endpoint as soon as the component is
long for its width. Bumps on a surface, blunt ends and the corners of boxes merge into larger
components before. Where a skeleton ends within a protrusion, little is left of it beyond: such an
end is extended.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from FuzzyVesselCoreLib.errors import DeviceError
from FuzzyVesselCoreLib.gpu.device import choose_device
from FuzzyVesselCoreLib.jit import compiled, compiled_inside
from FuzzyVesselCoreLib.progress import Progress
from FuzzyVesselCoreLib.threads import in_parts
from FuzzyVesselCoreLib.voxels.distances import (
    FAR,
    geodesic_distance,
    neighbour_steps,
    unit_of,
)
from FuzzyVesselCoreLib.voxels.topology import is_connected_26

SLENDERNESS = 2.0  # length of a component over its largest inscribed radius at an endpoint
MIN_EXTENSION = 1.3  # inscribed radii at an end of the core beyond which its protrusion goes on
CAP_REACH = 0.75  # share of a protrusion's radius by which its end cap reaches back
ALL_SIDES = 26  # no side in particular
LOW_BITS = (1 << 40) - 1  # of a key: the voxel


def protrusion_endpoints(
    distances: np.ndarray,
    depth: np.ndarray,
    spacing: Sequence[float],
    min_length: float,
    progress: Progress,
) -> np.ndarray:
    """Ends of the object's protrusions: flat indices, ascending.

    `distances` (int32, K, J, I) are geodesic from the core, -1 outside the object, which does not
    touch the border; `depth` (float32) is the distance to the outside in mm, `min_length` the mm
    that a protrusion is longer than `SLENDERNESS` times its radius.
    """
    flat, offsets = distances.reshape(-1), neighbour_steps(distances.shape, spacing)[0]
    sides, turns = np.zeros(flat.size, np.int8), np.zeros(flat.size, np.int32)

    def keys_of(first: int, last: int) -> np.ndarray:
        voxels = first + np.flatnonzero(flat[first:last] >= 0)
        mark_sides(flat, voxels, offsets, sides)
        return (flat[voxels].astype(np.int64) << 40) + voxels

    keys = np.concatenate(in_parts(keys_of, flat.size, flat.size))
    progress.check()
    keys.sort()
    keys = np.ascontiguousarray(keys[::-1])
    progress.check()
    links, depths = np.empty(len(keys), np.int32), np.empty(len(keys), np.float32)
    in_parts(lambda a, b: number_turns(keys, turns, a, b), len(keys), len(keys))
    task = keys, turns, sides, offsets, depth.reshape(-1), links, depths
    in_parts(lambda a, b: link_turns(*task, a, b), len(keys), len(keys))
    progress.check()
    maxima, widths = progress.wait_for(
        sink, keys, turns, links, depths, offsets, unit_of(spacing), min_length
    )
    return _end_caps(distances, maxima, widths, spacing, progress)


def endpoints_beyond(
    distances: np.ndarray,
    depth: np.ndarray,
    spacing: Sequence[float],
    skeleton: np.ndarray,
    endpoints: np.ndarray,
    progress: Progress,
) -> np.ndarray:
    """Ends of the protrusions that go on beyond an end of a skeleton: flat indices, ascending.

    Distances are from the skeleton (flat indices, ascending), `endpoints` those ends that stay; the
    rest as for `protrusion_endpoints`.
    """
    flat, depths = distances.reshape(-1), depth.reshape(-1)
    offsets, weights = neighbour_steps(distances.shape, spacing)
    neighbours = np.isin(skeleton[:, None] + offsets, skeleton).sum(axis=1)
    maxima, widths, seen = [], [], np.zeros(flat.size, np.uint8)
    for voxel in np.setdiff1d(skeleton[neighbours == 1], endpoints):
        progress.check()
        furthest, width = furthest_beyond(flat, offsets, weights, voxel, seen), depths[voxel]
        if flat[furthest] * unit_of(spacing) > MIN_EXTENSION * width:
            maxima.append(furthest)
            widths.append(width)
    return _end_caps(distances, maxima, widths, spacing, progress)


def _end_caps(
    distances: np.ndarray,
    maxima: Sequence[int] | np.ndarray,
    widths: Sequence[float] | np.ndarray,
    spacing: Sequence[float],
    progress: Progress,
) -> np.ndarray:
    """Where the axes of protrusions leave them, by their maxima and radii; flat, ascending."""
    found = []
    for maximum, width in zip(maxima, widths):
        found.append(end_cap_centre(distances, maximum, CAP_REACH * width, spacing))
        progress.check()
    return np.unique(np.array(found, np.int64))


@compiled
def mark_sides(
    distances: np.ndarray, voxels: np.ndarray, offsets: np.ndarray, sides: np.ndarray
) -> None:
    """Write to `sides` at which side each voxel joins a component when it is its turn in `sink`.

    The side is `ALL_SIDES` where the neighbours that join before are no
    connected set, so that components may merge, and where there are none.
    """
    for voxel in voxels:
        joined, found = 0, ALL_SIDES  # bits of the block round the voxel, and one's side
        for side in range(offsets.size):
            other = voxel + offsets[side]
            if (distances[other], other) > (distances[voxel], voxel):
                joined |= 1 << (side + (side > 12))
                found = side
        sides[voxel] = found if is_connected_26(joined) else ALL_SIDES


@compiled
def number_turns(keys: np.ndarray, turns: np.ndarray, first: int, last: int) -> None:
    """Write to `turns` when it is each voxel's turn, from 1."""
    for n in range(first, last):
        turns[keys[n] & LOW_BITS] = n + 1


@compiled
def link_turns(
    keys: np.ndarray, turns: np.ndarray, sides: np.ndarray, offsets: np.ndarray,
    depth: np.ndarray, links: np.ndarray, depths: np.ndarray, first: int, last: int,
) -> None:  # fmt: skip
    """Of each voxel, in the order of `keys`, the depth, and the turn of the one it joins, or 0."""
    for n in range(first, last):
        voxel = keys[n] & LOW_BITS
        depths[n], side = depth[voxel], sides[voxel]
        links[n] = 0 if side == ALL_SIDES else turns[voxel + offsets[side]]


@compiled
def sink(
    keys: np.ndarray,
    turns: np.ndarray,
    links: np.ndarray,
    depths: np.ndarray,
    offsets: np.ndarray,
    unit: float,
    min_length: float,
    stop: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """Maxima that are endpoints, and the width in mm of each one's component.

    Voxels join in the order of `keys` (distance and flat index): of falling distance, of equal ones
    the last in memory first. When components merge the lower maximum is discarded, of equally high
    ones the one that is later in memory; but one that has an endpoint keeps it, and gets no other.
    All arrays but `turns` are in this order: they are read one value after the other.
    """
    size, component = keys.size, np.zeros(keys.size + 1, np.int32)  # of each turn
    # Of each component, from 1: the one it is part of, its maximum and the distance there, its
    # width until it is ended, and whether it is.
    parent, maximum = np.empty(size + 1, np.int32), np.empty(size + 1, np.int64)
    highest, width = np.empty(size + 1, np.int64), np.empty(size + 1, np.float32)
    is_ended = np.empty(size + 1, np.bool_)
    ends, widths = [np.int64(0)], [np.float32(0)]
    count = 0
    for n in range(size):
        if stop[0]:
            break
        voxel, distance = keys[n] & LOW_BITS, keys[n] >> 40
        own, last = 0, 0
        if links[n]:
            own = root_of(component[links[n]], parent)
        for offset in offsets[: 0 if links[n] else offsets.size]:
            other = component[turns[voxel + offset]]
            if other == 0 or other == last:
                continue
            last = other
            other = root_of(other, parent)
            if own == 0 or other == own:
                own = other
                continue
            a, b = own, other
            is_better = (is_ended[b], highest[b], -maximum[b]) > (
                is_ended[a], highest[a], -maximum[a]
            )  # fmt: skip
            loser = own if is_better else other
            own = other if is_better else own
            parent[loser] = own
            width[own] = max(width[own], width[loser])
        if own == 0:
            count += 1
            own = count
            parent[own], maximum[own], highest[own] = own, voxel, distance
            width[own], is_ended[own] = 0, False
        component[n + 1] = own
        if is_ended[own]:
            continue
        length = (highest[own] - distance) * unit
        is_end = length > SLENDERNESS * width[own] + min_length
        width[own] = max(width[own], depths[n])
        if is_end:
            is_ended[own] = True
            ends.append(maximum[own])
            widths.append(width[own])
    return np.array(ends)[1:], np.array(widths)[1:]


@compiled_inside
def root_of(component: int, parent: np.ndarray) -> int:
    """The component that one is part of by now; the way there is halved."""
    while parent[component] != component:
        parent[component] = parent[parent[component]]
        component = parent[component]
    return component


@compiled
def furthest_beyond(
    distances: np.ndarray, offsets: np.ndarray, weights: np.ndarray, start: int, seen: np.ndarray
) -> int:
    """The voxel furthest from the skeleton of those whose shortest path to it ends at `start`."""
    waiting = [start]
    furthest = start
    while len(waiting) > 0:
        voxel = waiting.pop()
        if (distances[voxel], -voxel) > (distances[furthest], -furthest):
            furthest = voxel
        for side in range(offsets.size):
            other = voxel + offsets[side]
            if not seen[other] and distances[other] == distances[voxel] + weights[side]:
                seen[other] = 1
                waiting.append(other)
    return furthest


def end_cap_centre(
    distances: np.ndarray, maximum: int, reach: float, spacing: Sequence[float]
) -> int:
    """The voxel where a protrusion's axis leaves it: a blunt end has its maximum on the rim.

    `maximum` is the flat index of the protrusion's furthest voxel. The voxels of the end cap are
    nearer to the core by at most `reach` (mm); the axis leads there from the cap with as much
    behind it.
    """
    shape, sides = distances.shape, np.asarray(spacing, float)
    voxel, reach = np.array(np.unravel_index(maximum, shape)), max(reach, 0.5 * min(spacing))
    radius = np.ceil(3 * reach / sides).astype(int) + 1
    low, high = np.maximum(voxel - radius, 0), np.minimum(voxel + radius + 1, shape)
    box = distances[tuple(slice(a, b) for a, b in zip(low, high))]
    lowest = distances.flat[maximum] - np.array([reach, 2 * reach]) / unit_of(spacing)
    start = np.ravel_multi_index(voxel - low, box.shape)
    cap, whole = (component_of(box, start, level) for level in lowest)
    middle, further = (part.mean(axis=1) * sides for part in (cap, whole))
    axis = middle - further
    length = np.linalg.norm(axis)
    if length < 1e-9:  # mm: the box is filled alike on both sides, but for rounding
        return int(maximum)
    away = cap * sides[:, None] - middle[:, None]
    along = (axis / length) @ away
    across = np.linalg.norm(away - np.outer(axis / length, along), axis=0)
    # Rounded, so that symmetric voxels tie on every machine; the first wins.
    furthest = np.argmax(np.rint((along - 2 * across) * 1e6))
    return int(np.ravel_multi_index(cap[:, furthest] + low, shape))


@compiled
def component_of(values: np.ndarray, start: int, lowest: float) -> np.ndarray:
    """Voxels (3, n), ascending, of the 26-connected component from `lowest` up that a voxel is in.

    The component grows by runs of voxels along I.
    """
    depth, rows, width = values.shape
    marks = np.zeros(values.shape, np.uint8)
    waiting = [(start // width // rows, start // width % rows, start % width)]
    while len(waiting) > 0:
        k, j, i = waiting.pop()
        if marks[k, j, i]:
            continue
        first, last = i, i + 1
        while first > 0 and values[k, j, first - 1] >= lowest:
            first -= 1
        while last < width and values[k, j, last] >= lowest:
            last += 1
        marks[k, j, first:last] = 1
        for a in range(max(k - 1, 0), min(k + 2, depth)):
            for b in range(max(j - 1, 0), min(j + 2, rows)):
                was_new = False
                for n in range(max(first - 1, 0), min(last + 1, width)):
                    is_new = values[a, b, n] >= lowest and not marks[a, b, n]
                    if is_new and not was_new:
                        waiting.append((a, b, n))
                    was_new = is_new
    found, count = np.empty((3, np.count_nonzero(marks)), np.int32), 0
    for k in range(depth):
        for j in range(rows):
            for i in range(width):
                if marks[k, j, i]:
                    found[0, count], found[1, count], found[2, count] = k, j, i
                    count += 1
    return found


# ---- Geodesic distances in a large object on a CUDA device: the CPU's queue takes seconds there

KERNELS = Path(__file__).with_suffix(".cu")
LARGE = 1 << 20  # voxels of an object, from which on the device is used
THREADS, ROUNDS = 256, 16  # rounds between two tests of whether anything changed


def geodesic_distance_on(
    device: str,
    mask: np.ndarray,
    sources: np.ndarray,
    spacing: Sequence[float],
    progress: Progress,
    known: np.ndarray | None = None,
) -> np.ndarray:
    """`geodesic_distance` (the same numbers), on a device named as by users if the object is large.

    Known distances from other sources are lowered where these are nearer; the array may be written.
    Where the device's memory does not suffice the CPU is used.
    """
    gpu = choose_device(device) if np.count_nonzero(mask) >= LARGE else "cpu"
    if gpu != "cpu":
        try:
            with gpu:
                return _lowered(mask, sources, spacing, progress, known, gpu)
        except DeviceError:
            pass  # as likely as not its memory is full
    return geodesic_distance(mask, sources, spacing, progress, known)


def _lowered(
    mask: np.ndarray,
    sources: np.ndarray,
    spacing: Sequence[float],
    progress: Progress,
    known: np.ndarray | None,
    gpu: Any,
) -> np.ndarray:
    xp = gpu.xp
    steps = (gpu.put(step.astype(np.int32)) for step in neighbour_steps(mask.shape, spacing))
    solid = gpu.put(mask).reshape(-1)
    voxels = xp.flatnonzero(solid)
    if known is None:
        distances = xp.full(mask.size, -1, np.int32)
        distances[voxels] = FAR
    else:
        distances = gpu.put(known).reshape(-1)
    distances[gpu.put(np.asarray(sources))] = 0
    changed = xp.ones(1, np.int32)
    task = voxels, np.int64(len(voxels)), *steps, distances, changed
    lower, blocks = gpu.kernel(KERNELS, "lower"), -(-len(voxels) // THREADS)
    while gpu.get(changed)[0]:
        progress.check()
        changed[:] = 0
        for _ in range(ROUNDS):
            lower((blocks,), (THREADS,), task)
    distances[distances == FAR] = -1
    return gpu.get(distances).reshape(mask.shape)
