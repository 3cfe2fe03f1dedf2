"""Endpoints: where an object reaches furthest from a skeleton, and by more than its own width.

Seen from the skeleton, each protrusion of the object holds a local maximum of the geodesic
distance. The voxels further out than some level are connected components; as that level sinks,
components grow and merge. A component is a protrusion as soon as it is longer than its width
demands (`SLENDERNESS`), and the middle of the cap round its maximum is its endpoint. Bumps on a
surface, blunt ends and the corners of boxes merge into larger components before. Where a skeleton
ends within a protrusion, little is left of it beyond: such an end is extended.
"""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from FuzzyVesselCoreLib.gpu.kernels import launch_per_item
from FuzzyVesselCoreLib.jit import compiled, compiled_inside
from FuzzyVesselCoreLib.progress import Progress, in_parts
from FuzzyVesselCoreLib.voxels.distances import LARGE, neighbour_steps, unit_of
from FuzzyVesselCoreLib.voxels.masks import label_components
from FuzzyVesselCoreLib.voxels.topology import is_connected_26

KERNELS = Path(__file__).with_suffix(".cu")
SLENDERNESS = 2.0  # length of a component over its largest inscribed radius at an endpoint, to
MIN_LENGTH = 2.0  # which so many of the smallest spacings are added
MIN_EXTENSION = 1.3  # inscribed radii at a skeleton's end beyond which its protrusion goes on
CAP_REACH = 0.75  # share of a protrusion's radius by which its end cap reaches back
LOW_BITS = (1 << 40) - 1  # of a key: the voxel


def protrusion_endpoints(
    distances: np.ndarray,
    depth: np.ndarray,
    spacing: Sequence[float],
    progress: Progress,
    gpu: Any = None,
    min_length: float = MIN_LENGTH,
) -> np.ndarray:
    """The ends of all protrusions that a skeleton does not lead to yet: flat indices, ascending.

    `distances` (int32, K, J, I) are geodesic from the skeleton, -1 outside the object, which does
    not touch the border; `depth` (float32) is the distance to the outside in mm. Voxels are put in
    their order on the device.
    """
    task = distances, depth, neighbour_steps(distances.shape, spacing)[0]
    ordered = _ranked(gpu, *task)
    progress.check()
    limits = unit_of(spacing), min_length * min(spacing)
    maxima, widths = progress.wait_for(join_by_rank, *ordered, *limits)
    return _end_caps(distances, maxima, widths, spacing, progress, gpu)


def endpoints_beyond(
    distances: np.ndarray,
    depth: np.ndarray,
    spacing: Sequence[float],
    skeleton: np.ndarray,
    endpoints: np.ndarray,
    progress: Progress,
    gpu: Any = None,
) -> np.ndarray:
    """The ends of those protrusions that go on beyond an end of a skeleton (flat, ascending).

    Ends that are such `endpoints` already are left out; otherwise as `protrusion_endpoints`.
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
    return _end_caps(distances, maxima, widths, spacing, progress, gpu)


def _end_caps(
    distances: np.ndarray,
    maxima: Sequence[int] | np.ndarray,
    widths: Sequence[float] | np.ndarray,
    spacing: Sequence[float],
    progress: Progress,
    gpu: Any,
) -> np.ndarray:
    """Where the axes of protrusions leave them, by their maxima and radii; flat, ascending."""
    found = []
    for maximum, width in zip(maxima, widths):
        found.append(end_cap_centre(distances, maximum, CAP_REACH * width, spacing, gpu))
        progress.check()
    return np.unique(np.array(found, np.int64))


def _ranked(
    gpu: Any, distances: np.ndarray, depth: np.ndarray, offsets: np.ndarray
) -> tuple[np.ndarray, ...]:
    """What `join_by_rank` takes first; found on a device, or with None on the CPU.

    By rank, from 1, in falling order of distance, of equal ones the last in memory first: each
    voxel's distance, the rank of the neighbour that it joins (0: it begins a component, or may join
    several), and its depth. Last, for each such 0, the voxel and its neighbours' ranks, (m, 26).
    """
    xp, put = (np, np.asarray) if gpu is None else (gpu.xp, gpu.put)
    distances, depth = put(distances).reshape(-1), put(depth).reshape(-1)
    voxels, ranks = xp.flatnonzero(distances >= 0), xp.zeros(distances.size, np.int32)
    keys = (distances[voxels].astype(np.int64) << 40) + voxels
    keys.sort()
    keys = xp.ascontiguousarray(keys[::-1])
    ranks[keys & LOW_BITS] = xp.arange(1, len(keys) + 1, dtype=np.int32)
    joined, depths = (xp.empty(len(keys), dtype) for dtype in (np.int32, np.float32))
    task = put(offsets.astype(np.int32)), ranks, depth, joined, depths
    if gpu is None:
        in_parts(partial(link_ranks, voxels, *task), len(keys), len(keys))
    else:
        count = np.int64(len(keys))
        launch_per_item(gpu, KERNELS, "link_ranks", len(keys), (voxels, count, *task))
    first = keys[joined == 0] & LOW_BITS
    near = ranks[first[:, None] + put(offsets)]
    found = (keys >> 40).astype(np.int32), joined, depths, first, near
    return found if gpu is None else tuple(gpu.get(array) for array in found)


@compiled
def link_ranks(
    voxels: np.ndarray, offsets: np.ndarray, ranks: np.ndarray, depth: np.ndarray,
    joined: np.ndarray, depths: np.ndarray, first: int, last: int,
) -> None:  # fmt: skip
    """Write, by rank, the depth of some voxels and the rank of the neighbour that each one joins.

    It is 0 where there is no neighbour of lower rank, so that a component begins, and where these
    are not connected, so that components may merge.
    """
    for voxel in voxels[first:last]:
        own, bits, found = ranks[voxel], 0, 0
        for side in range(offsets.size):
            other = ranks[voxel + offsets[side]]
            if 0 < other < own:
                bits |= 1 << (side + (side > 12))
                found = other
        joined[own - 1] = found if is_connected_26(bits) else 0
        depths[own - 1] = depth[voxel]


@compiled
def join_by_rank(
    distances: np.ndarray,
    joined: np.ndarray,
    depths: np.ndarray,
    first: np.ndarray,
    near: np.ndarray,
    unit: float,
    min_length: float,
    stop: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """Maxima that are endpoints, and the width in mm of each one's component.

    Voxels join by rank. When components merge the lower maximum is discarded, of equally high ones
    the one that is later in memory; but one that has an endpoint keeps it, and gets no other. All
    arrays are in this order: they are read one value after the other.
    """
    size, component = distances.size, np.zeros(distances.size + 1, np.int32)  # by rank
    # Of each component, from 1: the one it is part of, its maximum and the distance there, its
    # width until it is ended, and whether it is.
    parent, maximum = np.empty(size + 1, np.int32), np.empty(size + 1, np.int64)
    highest, width = np.empty(size + 1, np.int32), np.empty(size + 1, np.float32)
    is_ended = np.empty(size + 1, np.bool_)
    ends, widths = [np.int64(0)], [np.float32(0)]
    count = merging = 0
    for n in range(size):
        if stop[0]:
            break
        own, last, sides = 0, 0, near.shape[1]
        if joined[n]:
            own, sides = root_of(component[joined[n]], parent), 0
        else:
            merging += 1
        for side in range(sides):
            other = component[near[merging - 1, side]]
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
            parent[own], maximum[own], highest[own] = own, first[merging - 1], distances[n]
            width[own], is_ended[own] = 0, False
        component[n + 1] = own
        if is_ended[own]:
            continue
        length = (highest[own] - distances[n]) * unit
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
        distance = distances[voxel]
        if (distance, -voxel) > (distances[furthest], -furthest):
            furthest = voxel
        for side in range(offsets.size):
            other = voxel + offsets[side]
            if distances[other] == distance + weights[side] and not seen[other]:
                seen[other] = 1
                waiting.append(other)
    return furthest


def end_cap_centre(
    distances: np.ndarray,
    maximum: int,
    reach: float,
    spacing: Sequence[float],
    gpu: Any = None,
) -> int:
    """The voxel where a protrusion's axis leaves it: a blunt end has its maximum on the rim.

    `maximum` is the flat index of the protrusion's furthest voxel. The voxels of the end cap are
    nearer to the skeleton by at most `reach` (mm); the axis leads there from the cap with as much
    behind it. A large cap is found on the device.
    """
    shape, sides = distances.shape, np.asarray(spacing, float)
    voxel, reach = np.array(np.unravel_index(maximum, shape)), max(reach, 0.5 * min(spacing))
    radius = np.ceil(3 * reach / sides).astype(int) + 1
    low, high = np.maximum(voxel - radius, 0), np.minimum(voxel + radius + 1, shape)
    box = tuple(slice(a, b) for a, b in zip(low, high))
    values, xp, step = distances[box], np, sides
    start = int(np.ravel_multi_index(voxel - low, values.shape))
    lowest = distances.flat[maximum] - np.array([reach, 2 * reach]) / unit_of(spacing)
    if values.size < LARGE:
        gpu = None
    if gpu is not None:
        values, xp, step = gpu.put(distances)[box], gpu.xp, gpu.put(sides)
    cap, whole = (component_of(values, start, level, gpu) for level in lowest)
    middle, further = (part.mean(axis=1) * step for part in (cap, whole))
    axis = middle - further
    length = float(xp.linalg.norm(axis))
    if length < 1e-9:  # mm: the box is filled alike on both sides, but for rounding
        return int(maximum)
    away, direction = cap * step[:, None] - middle[:, None], axis[:, None] / length
    along = (direction * away).sum(axis=0)
    across = xp.linalg.norm(away - direction * along, axis=0)
    # Rounded, so that symmetric voxels tie on every machine; the first wins.
    furthest = xp.argmax(xp.rint((along - 2 * across) * 1e6))
    return int(np.ravel_multi_index(low + cap[:, furthest].tolist(), shape))


def component_of(values: Any, start: int, lowest: float, gpu: Any) -> Any:
    """Voxels (3, n), ascending, of the 26-connected component from `lowest` up that a voxel is in.

    The values are an array on the device, where there is one.
    """
    if gpu is None:
        xp, (labels, _) = np, label_components(values >= lowest)
    else:
        xp, (labels, _) = gpu.xp, gpu.ndimage.label(values >= lowest, gpu.xp.ones((3, 3, 3)))
    return xp.stack(xp.nonzero(labels == labels.reshape(-1)[start]))
