"""Geodesic distance by a queue of buckets (Dial 1969), in Dijkstra's order.

No step is longer than the largest weight, so the voxels that wait lie in few buckets, which are
used again in turn; within a bucket there is no order.
"""

import numpy as np

from ...jit.decorators import compiled
from ...progress import Progress
from ..growing_arrays import doubled

VOXELS_PER_SLICE = 1 << 18  # settled between two checks of the progress


def lower_by_queue(
    distances: np.ndarray,
    sources: np.ndarray,
    offsets: np.ndarray,
    weights: np.ndarray,
    progress: Progress,
) -> None:
    """Lower distances, in place, to those from some sources; see `geodesic_sweeps.sweep_all`."""
    flat = distances.reshape(-1)
    # The longest step and the current bucket: no two distances that wait share a bucket.
    buckets = np.full(2 ** int(weights.max() + 1).bit_length(), -1, np.int64)
    flat[sources] = 0
    voxels = np.empty(max(1 << 12, 2 * len(sources)), np.int64)
    following = np.arange(1, len(voxels) + 1)  # the next entry of a bucket, or the next free entry
    voxels[: len(sources)] = sources
    if len(sources):
        buckets[0] = 0
        following[len(sources) - 1] = -1
    state = np.array([len(sources), len(sources), 0])  # first free entry, waiting, distance
    while state[1]:
        voxels, following = settle(
            flat, offsets, weights, buckets, voxels, following, state, VOXELS_PER_SLICE
        )
        progress.check()


@compiled
def settle(
    distances: np.ndarray,
    offsets: np.ndarray,
    weights: np.ndarray,
    buckets: np.ndarray,
    voxels: np.ndarray,
    following: np.ndarray,
    state: np.ndarray,
    budget: int,
) -> tuple[np.ndarray, np.ndarray]:
    """Settle up to `budget` voxels, the nearest first; return the entries, which may be moved."""
    free, waiting, here = state[0], state[1], state[2]
    while waiting and budget:
        at = buckets[here & (buckets.size - 1)]
        if at < 0:
            here += 1
            continue
        voxel = voxels[at]
        buckets[here & (buckets.size - 1)] = following[at]
        following[at], free = free, at
        waiting -= 1
        budget -= 1
        if distances[voxel] != here:
            continue  # it was settled from a nearer bucket
        if waiting + offsets.size > voxels.size:
            size = voxels.size
            voxels, following = doubled(voxels), doubled(following)
            for n in range(size, 2 * size):
                following[n] = n + 1
        for side in range(offsets.size):
            other = voxel + offsets[side]
            there = here + weights[side]
            if there < distances[other]:
                distances[other] = there
                at, free = free, following[free]
                voxels[at] = other
                bucket = there & (buckets.size - 1)
                following[at] = buckets[bucket]
                buckets[bucket] = at
                waiting += 1
    state[0], state[1], state[2] = free, waiting, here
    return voxels, following
