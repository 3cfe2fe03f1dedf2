"""The voxels that curves pass, and where they pass them.

In a symmetric object curves run along the faces between voxels and through their corners. Rounding
errors, which differ from one field method to another, must not decide there: the faces are taken a
hair off, and a voxel in which only a short piece lies is left out. The voxels before and after it
are neighbours.
"""

import numpy as np
from numba import njit

OFF_THE_FACE = 1e-3  # voxels: a position nearer than this to an upper face is in the voxel above
SHORT = 0.05  # voxels: length of all curves in a voxel from which on they pass it
ON_IT = 1e-9  # voxels from a face
LONGEST_SEGMENT = 4.0  # voxels: neighbouring points that were moved are no further apart
CENTRAL = 0.8  # depth of a place as a share of a neighbour's below which it is off the middle
WITHIN = 0.499  # voxels from its centre that the skeleton may pass in a voxel


def voxels_of(positions):
    """Voxels of positions (n, 3) or (3,), those on a face in the one below; integers."""
    return np.floor(np.asarray(positions) + (0.5 - OFF_THE_FACE)).astype(np.int64)


class CurveVoxels:
    """Gathers curves.

    Parameters
    ----------
    depths : Tiles
        Distance to the outside, float32; 0 outside of the object.
    """

    def __init__(self, depths):
        self.depths = depths
        self._voxels = np.empty(0, np.int64)  # flat, rising
        self._sums = np.empty((0, 4))  # length, and length times position
        self._new = []  # curves that are not among these yet

    def add(self, curve):
        """Add a curve (n, 3); what lies off the object's middle is moved there."""
        self._new.append(np.asarray(curve, float))

    def voxels(self):
        """Flat indices, rising, of the object's voxels that the curves pass."""
        self._gather()
        voxels = self._voxels[self._sums[:, 0] >= SHORT]
        places = np.stack(np.unravel_index(voxels, self.depths.shape), axis=1)
        return voxels[self.depths.at(places) > 0]

    def places(self, voxels):
        """Where curves pass each of the voxels (n, 3), else its centre; float (n, 3)."""
        self._gather()
        places = voxels.astype(float)
        if not len(self._voxels) or not len(voxels):
            return places
        flat = np.ravel_multi_index(voxels.T, self.depths.shape)
        at = np.minimum(np.searchsorted(self._voxels, flat), len(self._voxels) - 1)
        passed = (self._voxels[at] == flat) & (self._sums[at, 0] >= SHORT)
        sums = self._sums[at[passed]]
        places[passed] = sums[:, 1:] / sums[:, :1]
        # A hair off the faces between voxels, so that rounding always gives the voxel.
        return np.clip(places, voxels - WITHIN, voxels + WITHIN)

    def _gather(self):
        if not self._new:
            return
        depths, curves = self.depths, np.concatenate(self._new)
        if not depths.is_complete:
            depths.require(voxels_of(curves), reach=1)
        ends = np.cumsum([0, *map(len, self._new)])
        voxels, sums = pieces_of_all(
            curves, ends, depths.volumes[0], depths.numbers, depths.side, depths.shape
        )
        voxels = np.concatenate([self._voxels, voxels])
        sums = np.concatenate([self._sums, sums])
        self._voxels, group = np.unique(voxels, return_inverse=True)
        self._sums = np.stack(
            [np.bincount(group, column, len(self._voxels)) for column in sums.T], axis=1
        )
        self._new = []


@njit(cache=True, inline="always")
def voxel_along(position):
    """As `voxels_of`, along one axis."""
    return np.int64(np.floor(position + (0.5 - OFF_THE_FACE)))


@njit(cache=True)
def pieces_of_all(points, ends, depth, numbers, side, shape):
    """Curves, one behind the other, `centred` and cut into `pieces`; those of all curves."""
    count = ends.size - 1
    inside, firsts = np.empty_like(points), np.zeros(count + 1, np.int64)
    lengths = np.empty(count, np.int64)
    for n in range(count):
        curve = inside[ends[n] : ends[n + 1]]
        lengths[n] = centred(points[ends[n] : ends[n + 1]], depth, numbers, side, shape, curve)
        firsts[n + 1] = pieces(curve[: lengths[n]], shape, None, None)
    firsts = np.cumsum(firsts)
    voxels, sums = np.empty(firsts[count], np.int64), np.empty((firsts[count], 4))
    for n in range(count):
        curve = inside[ends[n] : ends[n] + lengths[n]]
        pieces(curve, shape, voxels[firsts[n] :], sums[firsts[n] :])
    return voxels, sums


@njit(cache=True)
def pieces(points, shape, voxels, sums):
    """Cut a curve at the faces between voxels; how many pieces that makes.

    Where there are `voxels` and `sums`, these are set to the pieces' voxels as flat indices, and to
    length and length times middle.
    """
    count = 0
    way = np.empty(3)
    for n in range(1, points.shape[0]):
        start = points[n - 1]
        for axis in range(3):
            way[axis] = points[n, axis] - start[axis]
        length = np.sqrt(way[0] * way[0] + way[1] * way[1] + way[2] * way[2])
        if length > LONGEST_SEGMENT:
            continue
        share = 0.0
        while share < 1 and length > 0:
            following = next_face(start, way, share)
            if voxels is not None:
                sums[count, 0] = (following - share) * length
                voxels[count] = 0
                for axis in range(3):
                    middle = start[axis] + 0.5 * (share + following) * way[axis]
                    voxels[count] = voxels[count] * shape[axis] + voxel_along(middle)
                    sums[count, 1 + axis] = sums[count, 0] * middle
            count += 1
            share = following
    return count


@njit(cache=True)
def next_face(start, way, share):
    """Share of a way, beyond `share`, at which it crosses the next face; at most 1."""
    following = 1.0
    for axis in range(3):
        if way[axis] == 0:
            continue
        cell = start[axis] + share * way[axis] + 0.5 - OFF_THE_FACE
        face = np.floor(cell + ON_IT) + 1 if way[axis] > 0 else np.ceil(cell - ON_IT) - 1
        following = min(following, share + (face - cell) / way[axis])
    return following


@njit(cache=True)
def centred(points, depth, numbers, side, shape, inside):
    """Points (n, 3) of a curve, those outside of the object or close to its border moved.

    The field does not resolve parts that are few voxels thick: a curve follows their border there
    or, where charges were moved outward, leaves them for a short way. Its points go to the middle
    of the deepest neighbour of their voxel, the nearest of those; one beside the point before goes
    first. Points without a neighbour in the object are left out. Where the object is thick,
    neighbours are nearly as deep, and all points stay. The depths are those of `Tiles`.

    The points are written to `inside`, an array as large; how many there are.
    """
    tiles = depth, numbers, side, shape
    count = 0
    known, deepest = (-2, -2, -2), np.float32(0)  # most points lie in the voxel of the one before
    around = np.empty(27, np.float32)
    for n in range(points.shape[0]):
        k, j, i = voxel_along(points[n, 0]), voxel_along(points[n, 1]), voxel_along(points[n, 2])
        if (k, j, i) != known:
            known, deepest = (k, j, i), depths_around(tiles, k, j, i, around)
        if deepest == 0:
            continue
        if around[13] >= CENTRAL * deepest:
            inside[count] = points[n]
            count += 1
            continue
        before = inside[max(count - 1, 0)]
        best, nearest, moved = (False, np.float32(0)), 0.0, (k, j, i)
        for beside in range(27):
            here = around[beside]
            if here == 0:
                continue
            a, b, c = k + beside // 9 - 1, j + beside // 3 % 3 - 1, i + beside % 3 - 1
            is_beside = count > 0 and (
                max(abs(before[0] - a), abs(before[1] - b), abs(before[2] - c)) < 1.5
            )
            if (is_beside, here) < best:
                continue
            away = (points[n, 0] - a) ** 2 + (points[n, 1] - b) ** 2 + (points[n, 2] - c) ** 2
            near = round(-away, 3)
            if (is_beside, here) > best or near > nearest:
                best, nearest, moved = (is_beside, here), near, (a, b, c)
        inside[count, 0], inside[count, 1], inside[count, 2] = moved
        count += 1
    return count


@njit(cache=True)
def depths_around(tiles, k, j, i, around):
    """Set `around` (27,) to the depths of a voxel and its neighbours; the largest of them."""
    depth, numbers, side, shape = tiles
    last = (1 << side) - 1
    deepest = np.float32(0)
    if (
        0 < k < shape[0] - 1 and 0 < j < shape[1] - 1 and 0 < i < shape[2] - 1
        and 0 < k & last < last and 0 < j & last < last and 0 < i & last < last
    ):  # fmt: skip
        tile = depth[numbers[k >> side, j >> side, i >> side]]  # all of them are in it
        k, j, i = k & last, j & last, i & last
        for n in range(27):
            around[n] = tile[k + n // 9 - 1, j + n // 3 % 3 - 1, i + n % 3 - 1]
            deepest = max(deepest, around[n])
        return deepest
    for n in range(27):
        a, b, c = k + n // 9 - 1, j + n // 3 % 3 - 1, i + n % 3 - 1
        around[n] = depth_at(tiles, a, b, c)
        deepest = max(deepest, around[n])
    return deepest


@njit(cache=True)
def depth_at(tiles, k, j, i):
    """Depth of a voxel, 0 beyond the volume."""
    depth, numbers, side, shape = tiles
    if not (0 <= k < shape[0] and 0 <= j < shape[1] and 0 <= i < shape[2]):
        return np.float32(0)
    last = (1 << side) - 1
    return depth[numbers[k >> side, j >> side, i >> side], k & last, j & last, i & last]
