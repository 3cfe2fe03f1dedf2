"""Distances inside an object to its outside, in mm."""

import numpy as np
from numba import njit, prange
from scipy import ndimage

from ..components.run_length import end_of

LINES_A_SLICE = 1 << 14  # rows between two looks at the progress callback
FEW_VOXELS = 1 << 12
NO_ZERO = 1 << 20  # voxels: further than any row is long
MANY_VOXELS = 1 << 12  # fewer are done by one thread: more would take longer to start
ENOUGH_RADIUS = 6  # voxels from the deepest places to the outside from which on zeros are resolved
LARGEST_CHARGE_DISTANCE = 2
THIN_SHARE = 10  # per cent of the deepest places that may be thinner than the field resolves


def distance_to_outside(mask, spacing, report=None):
    """Exact distance of each voxel's centre to the nearest centre outside the object.

    Separable lower envelopes (Felzenszwalb and Huttenlocher 2012).

    Parameters
    ----------
    mask : ndarray of uint8, shape (K, J, I)
        Not 0 in the object. Beyond the array nothing is known: pad an object that touches it.
    spacing : 3 floats K, J, I, in mm
    report : callable, optional
        Called between slices; raises to cancel.

    Returns
    -------
    ndarray of float32, shape (K, J, I), in mm; 0 outside
    """
    if mask.size < FEW_VOXELS:  # threads would take longer to start
        return ndimage.distance_transform_edt(mask, sampling=spacing).astype(np.float32)
    squared = np.zeros(mask.shape, np.float32)  # rows that stay so are never touched
    used = np.zeros(mask.shape[:2], bool)
    along_rows(mask, squared, spacing[2], used)
    for axis in (1, 0):
        lines = np.moveaxis(squared, axis, -1)
        rows = used if axis == 1 else np.ascontiguousarray(used.T)
        step = max(1, LINES_A_SLICE // lines.shape[1])
        for first in range(0, len(lines), step):
            some = slice(first, first + step)
            lower_envelopes(lines[some], spacing[axis], rows[some])
            if report is not None:
                report()
    take_roots(squared, used)
    return squared


@njit(cache=True, parallel=True)
def along_rows(mask, squared, step, used):
    """Squared distance to the nearest zero of the same row, in the rows with anything else.

    `squared` is 0 before; `used` (K, J) is set for these rows.
    """
    for k in prange(mask.shape[0]):
        for j in range(mask.shape[1]):
            if end_of(mask[k, j], 0, np.uint8(0)) == mask.shape[2]:
                continue
            used[k, j] = True
            count = mask.shape[2]
            last = -NO_ZERO
            for i in range(count):
                if mask[k, j, i] == 0:
                    last = i
                squared[k, j, i] = i - last
            last = NO_ZERO
            for i in range(count - 1, -1, -1):
                if mask[k, j, i] == 0:
                    last = i
                distance = min(squared[k, j, i], np.float32(last - i)) * step
                squared[k, j, i] = distance * distance


@njit(cache=True)
def take_roots(squared, used):
    """Square roots of the rows that are used, in place."""
    for k in range(squared.shape[0]):
        for j in range(squared.shape[1]):
            if used[k, j]:
                row = squared[k, j]
                for i in range(row.size):
                    row[i] = np.sqrt(row[i])


@njit(cache=True, parallel=True)
def lower_envelopes(lines, step, used):
    """Replace each line by the lower envelope of the parabolas that stand on its values.

    `used` has, for the lines of each plane, where along them anything but 0 may be.
    """
    for first in prange(lines.shape[0]):
        count = lines.shape[2]
        values = np.empty(count)
        feet = np.empty(count, np.int64)
        borders = np.empty(count + 1)
        highest = np.zeros(lines.shape[1], np.float32)
        for n in range(count):
            if used[first, n]:  # from line to line memory is read in its order
                for second in range(lines.shape[1]):
                    highest[second] = max(highest[second], lines[first, second, n])
        for second in range(lines.shape[1]):
            if highest[second] > 0:
                lower_envelope(lines[first, second], step, values, feet, borders)


@njit(cache=True)
def lower_envelope(line, step, values, feet, borders):
    square = step * step
    for n in range(line.size):
        values[n] = line[n]
    top = 0
    feet[0], borders[0], borders[1] = 0, -np.inf, np.inf
    for n in range(1, line.size):
        while True:
            foot = feet[top]
            # Where the parabola on n falls below the one on foot.
            meet = 0.5 * ((values[n] - values[foot]) / (square * (n - foot)) + n + foot)
            if meet > borders[top]:
                break
            top -= 1
        top += 1
        feet[top], borders[top], borders[top + 1] = n, meet, np.inf
    place = 0
    for n in range(line.size):
        while borders[place + 1] < n:
            place += 1
        foot = feet[place]
        if values[n] > 0:  # else it stays 0, and its memory untouched
            line[n] = square * (n - foot) * (n - foot) + values[foot]


def order_at(depth, voxels):
    """In which order voxels may be removed, the least first: by depth, ties towards the middle.

    The depth counts for half, the mean of it in the block of 27 voxels round for the other half.

    Parameters
    ----------
    depth : ndarray of float32, shape (K, J, I)
        In C order.
    voxels : ndarray of int, (n,)
        Flat indices.

    Returns
    -------
    ndarray of float32, (n,); 0 outside the object and at the array's border
    """
    order = np.empty(len(voxels), np.float32)
    if len(voxels) < MANY_VOXELS:
        order_few(depth.reshape(-1), depth.shape, voxels, order)
    else:
        order_many(depth.reshape(-1), depth.shape, voxels, order)
    return order


@njit(cache=True)
def order_few(depth, shape, voxels, order):
    for n in range(len(voxels)):
        order[n] = order_of(depth, shape, voxels[n])


@njit(cache=True, parallel=True)
def order_many(depth, shape, voxels, order):
    for n in prange(len(voxels)):
        order[n] = order_of(depth, shape, voxels[n])


@njit(cache=True)
def order_of(depth, shape, voxel):
    row, i = divmod(voxel, shape[2])
    k, j = divmod(row, shape[1])
    at_border = k in (0, shape[0] - 1) or j in (0, shape[1] - 1) or i in (0, shape[2] - 1)
    if at_border or not depth[voxel] > 0:
        return np.float32(0)
    mean = np.float32(0)
    for n in range(27):
        step = ((n // 9 - 1) * shape[1] + n // 3 % 3 - 1) * shape[2] + n % 3 - 1
        mean += depth[voxel + step]
    return (depth[voxel] + mean / np.float32(27)) / np.float32(2)


def automatic_charge_distance(mask, depth, spacing, report=None):
    """Layers by which charges go outward, so that thin parts are resolved (0 to 2).

    Judged by the distances to the outside, in voxels, at its local maxima. `report` is called
    between slices; it raises to cancel.
    """
    step = spacing[0]
    if len(set(spacing)) > 1:
        depth, step = distance_to_outside(mask, (1.0, 1.0, 1.0), report), 1.0
    return charge_distance_for(ridge_depths(depth), step)


def charge_distance_for(ridges, step):
    """The charge distance for depths at local maxima, in units of which a voxel has `step`."""
    thin_radius = np.percentile(ridges, THIN_SHARE) / step
    return int(np.clip(np.ceil(ENOUGH_RADIUS - thin_radius), 0, LARGEST_CHARGE_DISTANCE))


def ridge_depths(depth):
    """Depths of the voxels that none of their 26 neighbours exceeds in depth."""
    ridge = np.zeros(depth.shape, bool)
    mark_ridge(depth, ridge)
    return depth[ridge]


@njit(cache=True, parallel=True)
def mark_ridge(depth, ridge):
    for k in prange(1, depth.shape[0] - 1):
        for j in range(1, depth.shape[1] - 1):
            row = depth[k, j]
            for i in range(1, depth.shape[2] - 1):
                # Most voxels have a deeper one beside them in their row.
                if row[i] > 0 and row[i] >= row[i - 1] and row[i] >= row[i + 1]:
                    ridge[k, j, i] = is_deepest(depth, k, j, i)


@njit(cache=True)
def is_deepest(depth, k, j, i):
    for n in range(27):
        if depth[k + n // 9 - 1, j + n // 3 % 3 - 1, i + n % 3 - 1] > depth[k, j, i]:
            return False
    return True
