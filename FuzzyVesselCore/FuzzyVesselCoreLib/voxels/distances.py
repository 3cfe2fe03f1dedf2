"""Distances in an object: to its outside (Euclidean, in mm) and along it (geodesic).

On a CUDA device or the CPU: the same numbers.
"""

import math
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from ..gpu.kernels import launch_per_item
from ..jit import compiled, longer
from ..progress import Progress, in_parts

KERNELS = Path(__file__).with_suffix(".cu")
LARGE = 1 << 20  # voxels of a box: in smaller ones the CPU has distances and labels sooner
ROUNDS = 16  # on a device, between two tests of whether anything changed
STEPS_PER_VOXEL = 16  # units in the smallest spacing
STEPS = np.array([step for step in np.ndindex(3, 3, 3) if step != (1, 1, 1)]) - 1
NO_ZERO = np.float32(1e12)  # squared mm: further than any line is long
FAR = np.int32(1 << 30)  # not reached; a step more is no overflow


def distance_to_outside(
    mask: np.ndarray, spacing: Sequence[float], progress: Progress | None = None, gpu: Any = None
) -> np.ndarray:
    """The exact distance of each voxel's centre to the nearest centre outside the object, in mm.

    Separable lower envelopes of parabolas (Felzenszwalb and Huttenlocher 2012), along each axis on
    runs of the object's voxels alone: nothing outside is nearer than the ends of a run, so thin
    branches in a large box take little time (the packages edt and scipy.ndimage go through all of
    it). The mask (bool or uint8; K, J, I) is not 0 in the object; nothing is known beyond the
    array: pad an object that touches its border. Returns float32, 0 outside.
    """
    progress = Progress.of(progress)
    if gpu is not None:
        return gpu.get(distance_on(gpu, gpu.put(mask), spacing, progress))
    solid = np.ascontiguousarray(mask) != 0
    voxels, squared = np.flatnonzero(solid), np.zeros(solid.shape, np.float32)
    for axis in (2, 1, 0):
        line = axis, math.prod(solid.shape[axis + 1 :]), solid.shape[axis], spacing[axis] ** 2
        task = squared.reshape(-1), solid.reshape(-1), voxels, *line
        in_parts(partial(_lower_envelopes, *task), len(voxels), len(voxels))
        progress.check()
    return squared


def distance_on(gpu: Any, mask: Any, spacing: Sequence[float], progress: Progress) -> Any:
    """`distance_to_outside` of a device's mask (bool)."""
    distance = gpu.xp.where(mask, NO_ZERO, np.float32(0))
    for axis in (2, 1, 0):
        squared, distance = distance, gpu.xp.empty_like(distance)
        stride = np.int64(np.prod(mask.shape[axis + 1 :], dtype=int))
        line = stride, np.int64(mask.shape[axis]), np.float64(spacing[axis] ** 2)
        task = squared, distance, np.int64(mask.size), *line, np.int32(axis == 0)
        launch_per_item(gpu, KERNELS, "nearest_outside", mask.size, task)
        progress.check()
    return distance


@compiled
def _lower_envelopes(squared, solid, voxels, axis, stride, length, square, first, last):
    """Replace squared distances by the lower envelope of the parabolas on them, run by run.

    The runs, along an axis of so many voxels `stride` apart, are those that begin at some voxels.
    The axes are 2, 1 and 0 in turn, from nothing known before to distances.
    """
    values, feet = np.empty(length), np.empty(length, np.int64)
    borders = np.empty(length + 1)
    for voxel in voxels[first:last]:
        before = voxel // stride % length  # voxels on the line
        if before and solid[voxel - stride]:
            continue
        low = end = min(before, 1)  # the voxel outside before the run, if there is one, is 0
        start, left = voxel - low * stride, length - before + low
        values[0] = 0
        while end < left and solid[start + end * stride]:
            values[end] = NO_ZERO if axis == 2 else squared[start + end * stride]
            end += 1
        count = end
        if end < left:
            values[end] = 0
            count += 1
        top = 0
        feet[0], borders[0], borders[1] = 0, -np.inf, np.inf
        for n in range(1, count):
            while True:
                foot = feet[top]
                # where the parabola on n falls below the one on foot
                meet = 0.5 * ((values[n] - values[foot]) / (square * (n - foot)) + n + foot)
                if meet > borders[top]:
                    break
                top -= 1
            top += 1
            feet[top], borders[top], borders[top + 1] = n, meet, np.inf
        place = 0
        for n in range(low, end):
            while borders[place + 1] < n:
                place += 1
            foot = feet[place]
            value = np.float32(square * (n - foot) * (n - foot) + values[foot])
            squared[start + n * stride] = value if axis else np.sqrt(value)


# ---- along the object


def geodesic_distance(
    mask: np.ndarray,
    sources: np.ndarray,
    spacing: Sequence[float],
    progress: Progress | None = None,
    known: np.ndarray | None = None,
    gpu: Any = None,
) -> np.ndarray:
    """The length of the shortest path inside an object from the nearest source; int32 (K, J, I).

    Steps lead to 26 neighbours; lengths are in units of `unit_of` the spacing, -1 outside and where
    no source is reached. A queue of buckets (Dial 1969) takes voxels by their distances. The object
    of the mask (not 0) must not touch the border; `sources` are flat indices of the voxels that
    have distance 0. Distances `known` from other sources are lowered where these are nearer; they
    may be written. A device keeps its copy of the distances.
    """
    if gpu is not None:
        return _geodesic_on(gpu, mask, sources, spacing, Progress.of(progress), known)
    offsets, weights = neighbour_steps(mask.shape, spacing)
    given = np.ascontiguousarray(mask)
    distances = np.where(given, FAR, np.int32(-1)) if known is None else known
    flat = distances.reshape(-1)
    sources = sources[flat[sources] > 0]
    flat[sources] = 0
    buckets = np.full(weights.max() + 1, -1)
    Progress.of(progress).wait_for(_lower, flat, sources, offsets, weights, buckets)
    if known is None:
        distances[distances == FAR] = -1
    return distances


def _geodesic_on(
    gpu: Any,
    mask: np.ndarray,
    sources: np.ndarray,
    spacing: Sequence[float],
    progress: Progress,
    known: np.ndarray | None,
) -> np.ndarray:
    """`geodesic_distance` on a device."""
    xp = gpu.xp
    steps = (gpu.put(step.astype(np.int32)) for step in neighbour_steps(mask.shape, spacing))
    solid = gpu.put(mask)
    voxels = xp.flatnonzero(solid)
    distances = xp.where(solid, FAR, np.int32(-1)) if known is None else gpu.put(known)
    gpu.drop(known)
    distances.reshape(-1)[gpu.put(np.asarray(sources))] = 0
    changed = xp.ones(1, np.int32)
    task = voxels, np.int64(len(voxels)), *steps, distances, changed
    while gpu.get(changed)[0]:
        progress.check()
        changed[:] = 0
        for _ in range(ROUNDS):
            launch_per_item(gpu, KERNELS, "lower", len(voxels), task)
    distances[distances == FAR] = -1
    return gpu.keep(gpu.get(distances), distances)


def unit_of(spacing: Sequence[float]) -> float:
    """Return the unit of geodesic distances in mm."""
    return min(spacing) / STEPS_PER_VOXEL


def neighbour_steps(
    shape: tuple[int, ...], spacing: Sequence[float]
) -> tuple[np.ndarray, np.ndarray]:
    """Return the flat offsets of the 26 neighbours and their distances in units, as integers."""
    offsets = STEPS @ np.array([shape[1] * shape[2], shape[2], 1])
    lengths = np.sqrt(((STEPS * np.asarray(spacing)) ** 2).sum(axis=1))
    return offsets, np.rint(lengths / unit_of(spacing)).astype(np.int64)


@compiled
def _lower(
    distances: np.ndarray,
    sources: np.ndarray,
    offsets: np.ndarray,
    weights: np.ndarray,
    buckets: np.ndarray,
    stop: np.ndarray,
) -> None:
    """Settle voxels, the nearest first, in buckets: linked lists of entries for a distance each.

    No step is longer than the largest weight, so few buckets (-1 before) are used again in turn.
    """
    voxels = np.empty(max(1 << 12, 2 * sources.size), np.int64)
    following = np.empty_like(voxels)  # the next entry of a bucket, or the next free entry
    for n in range(following.size):
        following[n] = n + 1
    waiting, free, here, steps = sources.size, sources.size, 0, 0
    for n in range(sources.size):
        voxels[n], following[n], buckets[0] = sources[n], buckets[0], n
    while waiting:
        at = buckets[here % buckets.size]
        if at < 0:
            here += 1
            continue
        voxel = voxels[at]
        buckets[here % buckets.size] = following[at]
        following[at], free = free, at
        waiting -= 1
        if distances[voxel] != here:
            continue  # it was settled from a nearer bucket
        steps += 1
        if steps % 65536 == 0 and stop[0]:
            return
        if waiting + offsets.size > voxels.size:
            size = voxels.size
            voxels, following = longer(voxels, 2 * size), longer(following, 2 * size)
            for n in range(size, 2 * size):
                following[n] = n + 1
        for side in range(offsets.size):
            other, there = voxel + offsets[side], here + weights[side]
            if there < distances[other]:
                distances[other] = there
                at, free = free, following[free]
                voxels[at] = other
                following[at] = buckets[there % buckets.size]
                buckets[there % buckets.size] = at
                waiting += 1
