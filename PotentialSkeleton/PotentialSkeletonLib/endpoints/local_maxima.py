"""Which local maxima of the distance from a core are the ends of protrusions.

The voxels of an object join in falling order of their distance, of equal ones the last in memory
first. They make connected components (of superlevel sets), which grow and merge; when two merge,
the lower maximum is discarded, of equally high ones the one that is later in memory. A maximum is
an endpoint as soon as its component is long for its width, unless it was discarded before or the
component holds an endpoint already.

Here each maximum has its component grown for itself until it is an endpoint or discarded: what is
found of a maximum depends only on its own component. Lower maxima go first, so that a component
that reaches a lower endpoint knows it. A component is never much longer than wide, so few voxels
are visited.

Down to the level at which the component will be long for its width so far, all may join in any
order: it only gets wider, so there is no endpoint before. There the first in order joins alone,
with all that it leads up to; later ones at that level find the component as long and wider.
"""

import numpy as np

from FuzzyVesselCoreLib.jit.decorators import compiled, compiled_inside, inlined, longer

from .protrusion_rule import is_local_maximum, is_long, long_enough_level


@compiled
def protrusion_widths(
    maxima: np.ndarray,
    distances: np.ndarray,
    depth: np.ndarray,
    offsets: np.ndarray,
    unit: float,
    min_length: float,
    stop: np.ndarray,
) -> np.ndarray:
    """Width in mm of the protrusion of each maximum that is an endpoint, -1 of others.

    Lower maxima go first.
    """
    widths = np.full(maxima.size, -1, np.float32)
    visited, endpoints = np.zeros(distances.size, np.int32), np.zeros(distances.size, np.uint8)
    for n in range(maxima.size):
        widths[n] = grow_component(
            maxima[n], n + 1, distances, depth, offsets, unit, min_length, visited, endpoints, stop
        )
        endpoints[maxima[n]] = widths[n] >= 0
        if stop[0]:
            break
    return widths


@compiled_inside
def grow_component(
    maximum: int,
    number: int,
    distances: np.ndarray,
    depth: np.ndarray,
    offsets: np.ndarray,
    unit: float,
    min_length: float,
    visited: np.ndarray,
    endpoints: np.ndarray,
    stop: np.ndarray,
) -> np.float32:
    """Width in mm of a maximum's component if it is an endpoint, else -1, also if stopped.

    `visited` (int32) and `endpoints` (uint8) hold a number for each voxel; `number` must be new in
    `visited`, and `endpoints` is not 0 at those among lower maxima.
    """
    height, width, joining = distances[maximum], np.float32(0.0), -1
    visited[maximum] = number
    waiting, count, joined = np.array([maximum]), 1, np.empty(64, np.int64)
    while True:
        level = long_enough_level(height, width, unit, min_length)
        if level < 0:
            return np.float32(-1)
        # All join that are not below a limit in the order: a distance and an index in memory.
        least, last = level + 1, 0
        if joining >= 0:
            least, last = distances[joining], joining
        used, count, joined = take_joining(waiting, count, joined, distances, least, last)
        while used > 0:
            used -= 1
            voxel = joined[used]
            if voxel != joining:
                width = max(width, depth[voxel])
            if stop[0] or is_discarded(voxel, maximum, distances, offsets, endpoints):
                return np.float32(-1)
            joined = reserved(joined, used + offsets.size)
            waiting = reserved(waiting, count + offsets.size)
            for offset in offsets:
                other = voxel + offset
                there = distances[other]
                if there < 0 or visited[other] == number:
                    continue
                visited[other] = number
                if there > least or (there == least and other >= last):
                    joined[used] = other
                    used += 1
                else:
                    waiting[count] = other
                    count += 1
        if joining >= 0:
            is_endpoint = is_long((height - distances[joining]) * unit, width, min_length)
            width = max(width, depth[joining])
            joining = -1
            if is_endpoint:
                return width
        elif long_enough_level(height, width, unit, min_length) == level:
            joining = first_of(waiting[:count], distances)
            if joining < 0:
                return np.float32(-1)


@compiled_inside
def take_joining(
    waiting: np.ndarray,
    count: int,
    joined: np.ndarray,
    distances: np.ndarray,
    least: int,
    last: int,
) -> tuple[int, int, np.ndarray]:
    """Move to `joined` the waiting voxels that are not below a limit; how many are where."""
    used = kept = 0
    for n in range(count):
        voxel = waiting[n]
        there = distances[voxel]
        if there > least or (there == least and voxel >= last):
            joined = reserved(joined, used + 1)
            joined[used] = voxel
            used += 1
        else:
            waiting[kept] = voxel
            kept += 1
    return used, kept, joined


@compiled_inside
def reserved(array: np.ndarray, size: int) -> np.ndarray:
    """The array, or a longer copy of it."""
    return array if size <= array.size else longer(array, array.size + size)


@inlined
def first_of(voxels: np.ndarray, distances: np.ndarray) -> int:
    """The voxel that joins first: the furthest, of equally far ones the last in memory; or -1."""
    first = -1
    for voxel in voxels:
        here = distances[voxel]
        if first < 0 or (here, voxel) > (distances[first], first):
            first = voxel
    return first


@inlined
def is_discarded(
    voxel: int, maximum: int, distances: np.ndarray, offsets: np.ndarray, endpoints: np.ndarray
) -> bool:
    """Whether a component, by this voxel, holds an endpoint or a maximum that is kept instead."""
    if endpoints[voxel] or distances[voxel] > distances[maximum]:
        return True
    as_high = distances[voxel] == distances[maximum] and voxel < maximum
    return as_high and is_local_maximum(distances, offsets, voxel)
