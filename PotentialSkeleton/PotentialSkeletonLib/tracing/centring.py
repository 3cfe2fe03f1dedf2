"""Points of curves moved to the middle of thin parts, where the field does not resolve them."""

from typing import Any

import numpy as np

from FuzzyVesselCoreLib.jit.decorators import compiled_inside, inlined

FACE_OFFSET = 1e-3  # voxels: a position nearer than this to an upper face is in the voxel above
CENTRAL = 0.8  # depth of a voxel as a share of a neighbour's below which it is off the middle


def voxels_of(positions: Any) -> np.ndarray:
    """Voxels of positions (n, 3) or (3,), those on a face in the one below; integers."""
    return np.floor(np.asarray(positions) + (0.5 - FACE_OFFSET)).astype(np.int64)


@inlined
def voxel_along(position: float) -> int:
    """As `voxels_of`, along one axis."""
    return int(np.floor(position + (0.5 - FACE_OFFSET)))


@compiled_inside
def centre_points(points: np.ndarray, tiles: tuple, inside: np.ndarray) -> int:
    """Points (n, 3) of a curve, those outside of the object or close to its border moved.

    The field does not resolve parts that are few voxels thick: a curve follows their border there
    or, where charges were moved outward, leaves them for a short way. Its points go to the centre
    of the deepest neighbour of their voxel, the nearest of those; one adjacent to the point before
    goes first. Points without a neighbour in the object are left out. Where the object is thick,
    neighbours are nearly as deep, and all points stay.

    Parameters
    ----------
    points : ndarray, (n, 3)
    tiles : tuple
        Depths, numbers, side and shape of `Tiles`.
    inside : ndarray, (n, 3)
        Output: the points.

    Returns
    -------
    int
        How many points there are.
    """
    count = 0
    known, deepest = (-2, -2, -2), np.float32(0)  # most points lie in the voxel of the one before
    depths = np.empty(27, np.float32)
    for n in range(points.shape[0]):
        k, j, i = voxel_along(points[n, 0]), voxel_along(points[n, 1]), voxel_along(points[n, 2])
        if (k, j, i) != known:
            known, deepest = (k, j, i), load_depths(tiles, k, j, i, depths)
        if deepest == 0:
            continue
        if depths[13] >= CENTRAL * deepest:
            for axis in range(3):
                inside[count, axis] = points[n, axis]
        else:
            moved = deepest_neighbour(points[n], (k, j, i), depths, inside[:count])
            inside[count, 0], inside[count, 1], inside[count, 2] = moved
        count += 1
    return count


@compiled_inside
def deepest_neighbour(
    point: np.ndarray, voxel: tuple[int, int, int], depths: np.ndarray, before: np.ndarray
) -> tuple[int, int, int]:
    """The neighbour of a point's voxel to which the point is moved; see `centre_points`."""
    best, nearest, found = (False, np.float32(0)), 0.0, voxel
    for side in range(27):
        depth = depths[side]
        if depth == 0:
            continue
        a, b, c = voxel[0] + side // 9 - 1, voxel[1] + side // 3 % 3 - 1, voxel[2] + side % 3 - 1
        is_adjacent = False
        if len(before) > 0:
            last = before[-1]
            is_adjacent = max(abs(last[0] - a), abs(last[1] - b), abs(last[2] - c)) < 1.5
        if (is_adjacent, depth) < best:
            continue
        squared = (point[0] - a) ** 2 + (point[1] - b) ** 2 + (point[2] - c) ** 2
        nearness = round(-squared, 3)
        if (is_adjacent, depth) > best or nearness > nearest:
            best, nearest, found = (is_adjacent, depth), nearness, (a, b, c)
    return found


@compiled_inside
def load_depths(tiles: tuple, k: int, j: int, i: int, depths: np.ndarray) -> np.float32:
    """Set `depths` (27,) to those of a voxel and its neighbours; returns the largest."""
    depth, numbers, side, shape = tiles
    last = (1 << side) - 1
    deepest = np.float32(0)
    if not (0 < k < shape[0] - 1 and 0 < j < shape[1] - 1 and 0 < i < shape[2] - 1):
        for n in range(27):
            depths[n] = depth_at(tiles, k + n // 9 - 1, j + n // 3 % 3 - 1, i + n % 3 - 1)
            deepest = max(deepest, depths[n])
    elif k & last and j & last and i & last:
        tile = depth[numbers[k >> side, j >> side, i >> side]]  # all of them are in it
        k, j, i = k & last, j & last, i & last
        for n in range(27):
            depths[n] = tile[k + n // 9 - 1, j + n // 3 % 3 - 1, i + n % 3 - 1]
            deepest = max(deepest, depths[n])
    else:
        for n in range(27):
            a, b, c = k + n // 9 - 1, j + n // 3 % 3 - 1, i + n % 3 - 1
            number = numbers[a >> side, b >> side, c >> side]
            depths[n] = depth[number, a & last, b & last, c & last]
            deepest = max(deepest, depths[n])
    return deepest


@compiled_inside
def depth_at(tiles: tuple, k: int, j: int, i: int) -> np.float32:
    """Depth of a voxel, 0 beyond the volume."""
    depth, numbers, side, shape = tiles
    if not (0 <= k < shape[0] and 0 <= j < shape[1] and 0 <= i < shape[2]):
        return np.float32(0)
    last = (1 << side) - 1
    return depth[numbers[k >> side, j >> side, i >> side], k & last, j & last, i & last]
