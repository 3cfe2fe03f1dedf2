"""Seeds of the finer levels: where the unit force converges, and where the surface is sharp."""

import numpy as np
from numba import njit, prange
from scipy import ndimage

from FuzzyVesselCoreLib.voxels.components.labels import CUBE
from FuzzyVesselCoreLib.voxels.components.run_length import end_of

REACH = 3  # voxels on each side of the cube in which the surface's curvature is measured
TIE = 1e-4  # what differs by less may differ by rounding errors: its position decides
VOXELS_A_SLICE = 1 << 20  # between two looks at the progress callback
SHARP = 0.28  # share of the cube inside the object: about 4/7 on a plane, 1/3 on an edge


def divergence_seeds(vectors, share, report=None, classes=None):
    """Local minima of the unit force's divergence in the lowest part of its range.

    Parameters
    ----------
    vectors : ndarray, shape (K, J, I, 3)
        Forces, 0 where there is none.
    share : float
        0..100: per cent of the range between the lowest and the highest divergence (Cornea et al.
        2005); 0 gives no seeds.
    report : callable, optional
        Called between steps; raises to cancel.
    classes : ndarray of uint8, shape (K, J, I), optional
        Not 0 wherever there is a force: other rows are not looked at.

    Returns
    -------
    ndarray of int, (n, 3)
        Voxels K, J, I, the lowest divergence first.
    """
    spans = whole_rows(vectors.shape) if classes is None else spans_of(classes)
    divergence = unit_divergence(vectors, spans, report)
    low, high = (np.float32(limit) for limit in finite_range(divergence, spans))
    if share <= 0 or low > high:
        return np.empty((0, 3), np.int64)
    _look(report)
    seeds = _all_local_minima(divergence, spans, highest_seed(low, high, share), report)
    return seeds[lowest_first(divergence[tuple(seeds.T)])]


def highest_seed(low, high, share):
    """The highest divergence of a seed, from the lowest and the highest of all (float32)."""
    return low + share / 100 * (high - low)


def _slabs(shape):
    """First and last planes, the latter excluded, of slabs of all planes but the outermost two."""
    step = max(1, VOXELS_A_SLICE // max(1, shape[1] * shape[2]))
    return [(n, min(n + step, shape[0] - 1)) for n in range(1, shape[0] - 1, step)]


def whole_rows(shape):
    """`spans_of` a volume that is nowhere 0."""
    return np.broadcast_to(np.array([0, shape[2]], np.int32), (*shape[:2], 2)).copy()


@njit(cache=True)
def spans_of(volume):
    """For each row along I the first voxel that is not 0, and the one after the last; (K, J, 2)."""
    spans = np.zeros((volume.shape[0], volume.shape[1], 2), np.int32)
    for k in range(volume.shape[0]):
        for j in range(volume.shape[1]):
            row, last = volume[k, j], volume.shape[2]
            first = end_of(row, 0, np.uint8(0))
            if first < last:
                while row[last - 1] == 0:
                    last -= 1
                spans[k, j, 0], spans[k, j, 1] = first, last
    return spans


def unit_divergence(vectors, spans, report=None):
    """Divergence of the force at unit length; infinite where a neighbour has no force."""
    divergence = np.full(vectors.shape[:3], np.inf, np.float32)
    for first, last in _slabs(divergence.shape):
        divergence_of_planes(vectors, divergence, spans, first, last)
        _look(report)
    return divergence


@njit(cache=True, parallel=True, error_model="numpy")
def divergence_of_planes(vectors, divergence, spans, first, last):
    for k in prange(first, last):
        for j in range(1, vectors.shape[1] - 1):
            low = max(spans[k, j, 0], 1)
            for i in range(low, min(spans[k, j, 1], vectors.shape[2] - 1)):
                divergence[k, j, i] = divergence_at(vectors, k, j, i)


@njit(cache=True, error_model="numpy")
def divergence_at(vectors, k, j, i):
    total = 0.0
    for axis in range(3):
        for sign in (-1, 1):
            a = k + sign if axis == 0 else k
            b = j + sign if axis == 1 else j
            c = i + sign if axis == 2 else i
            length = 0.0
            for n in range(3):
                length += np.float64(vectors[a, b, c, n]) ** 2
            if not length > 0:
                return np.inf
            total += 0.5 * sign * vectors[a, b, c, axis] / np.sqrt(length)
    return total


@njit(cache=True, parallel=True)
def finite_range(values, spans):
    """The lowest and the highest finite value; infinity and its negative where there is none.

    Only these spans of rows are looked at.
    """
    low, high = np.full(len(values), np.inf), np.full(len(values), -np.inf)
    for k in prange(len(values)):
        for j in range(values.shape[1]):
            for value in values[k, j, spans[k, j, 0] : spans[k, j, 1]]:
                if np.isfinite(value):
                    low[k] = min(low[k], value)
                    high[k] = max(high[k], value)
    return low.min(), high.max()


@njit(cache=True)
def is_lowest(values, k, j, i):
    """Whether none of the 26 neighbours is lower, or as low but for a `TIE` and earlier."""
    here = values[k, j, i]
    for n in range(27):
        other = values[k + n // 9 - 1, j + n // 3 % 3 - 1, i + n % 3 - 1]
        if other < here - TIE or (n < 13 and other <= here + TIE):
            return False
    return True


def _all_local_minima(values, spans, highest, report):
    found = [np.empty((0, 3), np.int64)]
    for first, last in _slabs(values.shape):
        found.append(local_minima(values, spans, highest, first, last))
        _look(report)
    return np.concatenate(found)


@njit(cache=True, parallel=True)
def local_minima(values, spans, highest, first, last):
    """The local minima in the spans of rows of some planes that are not above `highest`."""
    counts = np.zeros(last - first, np.int64)
    for plane in prange(last - first):
        counts[plane] = minima_of_plane(values, spans, highest, first + plane, None)
    seeds = np.empty((counts.sum(), 3), np.int64)
    found = 0
    for plane in range(last - first):
        if counts[plane]:
            found += minima_of_plane(values, spans, highest, first + plane, seeds[found:])
    return seeds


@njit(cache=True)
def minima_of_plane(values, spans, highest, k, seeds):
    """Count them; and note them where there are `seeds`."""
    count = 0
    for j in range(1, values.shape[1] - 1):
        for i in range(max(spans[k, j, 0], 1), min(spans[k, j, 1], values.shape[2] - 1)):
            if values[k, j, i] <= highest and is_lowest(values, k, j, i):
                if seeds is not None:
                    seeds[count, 0], seeds[count, 1], seeds[count, 2] = k, j, i
                count += 1
    return count


def curvature_seeds(mask, report=None):
    """Surface voxels where the object is sharp: local minima of its share of a cube round them.

    Parameters
    ----------
    mask : ndarray of bool, shape (K, J, I)
        The object, which must not touch the array's border.
    report : callable, optional
        Called between steps; raises to cancel.

    Returns
    -------
    ndarray of int, (n, 3)
        Voxels K, J, I, the sharpest first.
    """
    share = np.full(mask.shape, np.inf, np.float32)
    for first, last in _slabs(mask.shape):
        low = max(first - REACH - 1, 0)
        share[first:last] = _share_inside(mask[low : last + REACH + 1])[first - low : last - low]
        _look(report)
    seeds = _all_local_minima(share, spans_of(mask.view(np.uint8)), SHARP, report)
    return seeds[lowest_first(share[tuple(seeds.T)])]


def lowest_first(values):
    """Indices that sort values; those a `TIE` apart stay in their order."""
    order = np.argsort(values, kind="stable")
    group = np.cumsum(np.diff(values[order], prepend=values[order[:1]]) > TIE)
    return order[np.lexsort((order, group))]


def _share_inside(mask):
    """Share of the cube round each surface voxel that is inside; infinite elsewhere."""
    share = ndimage.uniform_filter(mask.astype(np.float32), 2 * REACH + 1, mode="constant")
    share = ndimage.uniform_filter(share, 3, mode="constant")  # plateaus get one lowest voxel
    share[~mask | ndimage.binary_erosion(mask, CUBE)] = np.inf
    return share


def _look(report):
    if report is not None:
        report()
