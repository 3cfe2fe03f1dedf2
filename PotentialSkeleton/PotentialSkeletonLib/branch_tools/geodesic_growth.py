"""The inner loop of `nearest_branch`: voxels are settled in the order of their distance."""

import heapq

import numpy as np

from FuzzyVesselCoreLib.jit.decorators import compiled


@compiled
def spread(
    heap: list[tuple[float, int, int]],
    inside: np.ndarray,
    labels: np.ndarray,
    lengths: np.ndarray,
    offsets: np.ndarray,
    weights: np.ndarray,
    most: int,
) -> bool:
    """Settle voxels in the order of length and label; False when none is left."""
    count = 0
    while len(heap) and count < most:
        length, label, voxel = heapq.heappop(heap)
        if length > lengths[voxel] or label != labels[voxel]:
            continue
        count += 1
        for side in range(offsets.size):
            other = voxel + offsets[side]
            if not inside[other]:
                continue
            further = length + weights[side]
            better = further < lengths[other]
            if better or (further == lengths[other] and label < labels[other]):
                lengths[other], labels[other] = further, label
                heapq.heappush(heap, (further, label, other))
    return len(heap) > 0
