"""Seeds of the finer levels: where the unit force converges, and where the surface is sharp."""

import numpy as np
from numba import njit
from scipy import ndimage

from .labelling import CUBE

REACH = 3  # voxels on each side of the cube in which the surface's curvature is measured
TIE = 1e-4  # what differs by less may differ by rounding errors: its position decides
VOXELS_A_SLICE = 1 << 20  # between two looks at the progress callback
SHARP = 0.28  # share of the cube inside the object: about 4/7 on a plane, 1/3 on an edge


def divergence_seeds(vectors, share, report=None):
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

    Returns
    -------
    ndarray of int, (n, 3)
        Voxels K, J, I, the lowest divergence first.
    """
    divergence = unit_divergence(vectors, report)
    known = np.isfinite(divergence)
    if share <= 0 or not known.any():
        return np.empty((0, 3), np.int64)
    _look(report)
    low, high = divergence[known].min(), divergence[known].max()
    seeds = _all_local_minima(divergence, highest_seed(low, high, share), report)
    return seeds[lowest_first(divergence[tuple(seeds.T)])]


def highest_seed(low, high, share):
    """The highest divergence of a seed, from the lowest and the highest of all (float32)."""
    return low + share / 100 * (high - low)


def _slabs(shape):
    """First and last planes, the latter excluded, of slabs of all planes but the outermost two."""
    step = max(1, VOXELS_A_SLICE // max(1, shape[1] * shape[2]))
    return [(n, min(n + step, shape[0] - 1)) for n in range(1, shape[0] - 1, step)]


def unit_divergence(vectors, report=None):
    """Divergence of the force at unit length; infinite where a neighbour has no force."""
    divergence = np.full(vectors.shape[:3], np.inf, np.float32)
    for first, last in _slabs(divergence.shape):
        divergence_of_planes(vectors, divergence, first, last)
        _look(report)
    return divergence


@njit(cache=True)
def divergence_of_planes(vectors, divergence, first, last):
    shape = vectors.shape
    for k in range(first, last):
        for j in range(1, shape[1] - 1):
            for i in range(1, shape[2] - 1):
                total = 0.0
                for axis in range(3):
                    for sign in (-1, 1):
                        a = k + sign if axis == 0 else k
                        b = j + sign if axis == 1 else j
                        c = i + sign if axis == 2 else i
                        length = 0.0
                        for n in range(3):
                            length += np.float64(vectors[a, b, c, n]) ** 2
                        if length > 0:
                            total += 0.5 * sign * vectors[a, b, c, axis] / np.sqrt(length)
                        else:
                            total = np.inf
                divergence[k, j, i] = total


@njit(cache=True)
def is_lowest(values, k, j, i):
    """Whether none of the 26 neighbours is lower, or as low but for a `TIE` and earlier."""
    here = values[k, j, i]
    for n in range(27):
        other = values[k + n // 9 - 1, j + n // 3 % 3 - 1, i + n % 3 - 1]
        if other < here - TIE or (n < 13 and other <= here + TIE):
            return False
    return True


def _all_local_minima(values, highest, report):
    found = [np.empty((0, 3), np.int64)]
    for first, last in _slabs(values.shape):
        found.append(local_minima(values, highest, first, last))
        _look(report)
    return np.concatenate(found)


@njit(cache=True)
def local_minima(values, highest, first, last):
    """The local minima in some planes that are not above `highest`."""
    found = []
    for k in range(first, last):
        for j in range(1, values.shape[1] - 1):
            for i in range(1, values.shape[2] - 1):
                if values[k, j, i] <= highest and is_lowest(values, k, j, i):
                    found.append((k, j, i))
    seeds = np.empty((len(found), 3), np.int64)
    for n in range(len(found)):
        seeds[n, 0], seeds[n, 1], seeds[n, 2] = found[n]
    return seeds


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
    seeds = _all_local_minima(share, SHARP, report)
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
