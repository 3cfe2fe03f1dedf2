"""Local maxima of the geodesic distance that may be ends of protrusions, by a quick test.

From a maximum a shortest path to the core is followed. When the maximum's component has sunk to
some level it holds the voxels of the path that are further out than that. So it is at least as wide
as these, and as long at most as down to the first voxel of the path that is not further out: an
endpoint must pass the comparison of length and width at some voxel of its path. Until then its
component must not hold a higher maximum, as to which the steepest ascent from the path may lead.
"""

from typing import Any

import numpy as np

from FuzzyVesselCoreLib.jit.decorators import compiled, compiled_inside
from FuzzyVesselCoreLib.progress import Progress
from FuzzyVesselCoreLib.threads import in_parts
from FuzzyVesselCoreLib.voxels.distances import neighbour_steps, unit_of

from .protrusion_rule import is_local_maximum, is_long

VOXELS_PER_SLICE = 1 << 22  # searched for maxima between two calls of the progress callback
FIRST_CAPACITY = 1 << 12  # maxima of a part; with more of them the search is repeated


def endpoint_candidates(
    distances: np.ndarray,
    depth: np.ndarray,
    spacing: tuple[float, ...],
    min_length: float,
    progress: Progress,
) -> np.ndarray:
    """Flat indices, ascending, of the maxima that pass the test, as all endpoints do.

    Parameters are those of `endpoints.protrusion_endpoints`.
    """
    offsets, weights = neighbour_steps(distances.shape, spacing)
    rule = depth.reshape(-1), offsets, weights, unit_of(spacing), min_length
    planes = max(1, VOXELS_PER_SLICE // distances[0].size)
    found = []
    for first in range(1, distances.shape[0] - 1, planes):
        last = min(first + planes, distances.shape[0] - 1)

        def work(low: int, high: int, first: int = first) -> np.ndarray:
            return candidates_of_planes(distances, rule, first + low, first + high)

        found += in_parts(work, last - first, (last - first) * distances[0].size)
        progress.check()
    return np.concatenate([np.empty(0, np.int64), *found])


def candidates_of_planes(distances: np.ndarray, rule: Any, first: int, last: int) -> np.ndarray:
    """Maxima of some planes that pass the test, ascending."""
    found = np.empty(FIRST_CAPACITY, np.int64)
    while True:
        arguments = (distances, *rule, first, last, found)
        count = maxima_with_long_paths(*arguments)
        if count <= len(found):
            return found[:count]
        found = np.empty(count, np.int64)


@compiled
def maxima_with_long_paths(
    distances: np.ndarray,
    depth: np.ndarray,
    offsets: np.ndarray,
    weights: np.ndarray,
    unit: float,
    min_length: float,
    first: int,
    last: int,
    found: np.ndarray,
) -> int:
    """Count the maxima of some planes that pass the test, and list as many as there is room for."""
    flat, size = distances.reshape(-1), distances.shape[1] * distances.shape[2]
    count = 0
    for voxel in range(first * size, last * size):
        if not flat[voxel] * unit > min_length or not is_local_maximum(flat, offsets, voxel):
            continue
        if has_long_path(voxel, flat, depth, offsets, weights, unit, min_length):
            if count < found.size:
                found[count] = voxel
            count += 1
    return count


@compiled_inside
def has_long_path(
    maximum: int,
    distances: np.ndarray,
    depth: np.ndarray,
    offsets: np.ndarray,
    weights: np.ndarray,
    unit: float,
    min_length: float,
) -> bool:
    """Whether a path to the core, at some voxel, is long for the width of the ones before."""
    height, voxel, width = distances[maximum], maximum, np.float32(0.0)
    while is_long(height * unit, width, min_length):
        here = distances[voxel]
        if is_long((height - here) * unit, width, min_length):
            return True
        higher = ascend(voxel, height, distances, offsets)
        if distances[higher] > height or (distances[higher] == height and higher < maximum):
            return False
        width = max(width, depth[voxel])
        following = voxel
        for side in range(offsets.size):
            other = voxel + offsets[side]
            is_nearer = distances[other] >= 0 and distances[other] == here - weights[side]
            if is_nearer and (following == voxel or depth[other] > depth[following]):
                following = other
        if following == voxel:
            return False
        voxel = following
    return False


@compiled_inside
def ascend(voxel: int, height: int, distances: np.ndarray, offsets: np.ndarray) -> int:
    """The maximum to which the steepest ascent leads, or the first voxel on it above a height."""
    while distances[voxel] <= height:
        steepest = voxel
        for offset in offsets:
            other = voxel + offset
            rise = distances[other] - distances[steepest]
            if rise > 0 or (rise == 0 and other > steepest):
                steepest = other
        if steepest == voxel:
            break
        voxel = steepest
    return voxel
