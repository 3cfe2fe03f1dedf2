"""Zeros of a trilinear vector field by sign changes, subdivision and Newton steps: compiled."""

import numpy as np
from numba import njit, prange

SUBDIVISIONS = 4  # a cell is halved so often along each axis before Newton steps begin
NEWTON_STEPS = 30
TASKS = 64
FIRST_ROOM = 8  # zeros of a cell; where that does not suffice they are searched again


@njit(cache=True, parallel=True)
def cells_of_planes(vectors, classes, lowest_class, first, last):
    """Cells in which all components change sign, and the forces at their corners.

    Parameters
    ----------
    vectors : ndarray, shape (K, J, I, 3)
    classes : ndarray of uint8, shape (K, J, I)
    lowest_class : int
        All eight voxels of a cell have at least this class.
    first, last : int
        Planes of the cells, the latter excluded.

    Returns
    -------
    cells : ndarray of int64, (n, 3)
        Their first corners K, J, I, in rising order.
    corners : ndarray, (n, 8, 3)
        Of the vectors' type; I fastest.
    """
    counts = np.zeros(last - first, np.int64)
    for plane in prange(last - first):
        counts[plane] = cells_of_plane(vectors, classes, lowest_class, first + plane, None)
    cells = np.empty((counts.sum(), 3), np.int64)
    found = 0
    for plane in range(last - first):
        if counts[plane]:
            some = cells[found:]
            found += cells_of_plane(vectors, classes, lowest_class, first + plane, some)
    corners = np.empty((found, 8, 3), vectors.dtype)
    for n in range(found):
        load(vectors, cells[n, 0], cells[n, 1], cells[n, 2], corners[n])
    return cells, corners


@njit(cache=True)
def cells_of_plane(vectors, classes, lowest_class, k, cells):
    """Count them; and note them where there are `cells`."""
    corners, count = np.empty((8, 3)), 0
    for j in range(classes.shape[1] - 1):
        for i in range(classes.shape[2] - 1):
            if classes[k, j, i] < lowest_class:
                continue
            inside = True
            for n in range(1, 8):
                if classes[k + (n >> 2), j + (n >> 1 & 1), i + (n & 1)] < lowest_class:
                    inside = False
                    break
            if inside:
                load(vectors, k, j, i, corners)
                if has_sign_changes(corners):
                    if cells is not None:
                        cells[count, 0], cells[count, 1], cells[count, 2] = k, j, i
                    count += 1
    return count


@njit(cache=True)
def load(vectors, k, j, i, corners):
    for n in range(8):
        for axis in range(3):
            corners[n, axis] = vectors[k + (n >> 2), j + (n >> 1 & 1), i + (n & 1), axis]


@njit(cache=True)
def has_sign_changes(corners):
    for axis in range(3):
        low = high = corners[0, axis]
        for n in range(1, 8):
            low = min(low, corners[n, axis])
            high = max(high, corners[n, axis])
        if low > 0 or high < 0 or low == high:
            return False
    return True


@njit(cache=True)
def force_and_slopes(corners, k, j, i):
    """Force and Jacobian at a place within the unit cell: tuples of 3 and of 9 numbers."""
    force_k = force_j = force_i = 0.0
    kk = kj = ki = jk = jj = ji = ik = ij = ii = 0.0
    for n in range(8):
        from_k = k if n >> 2 else 1 - k
        from_j = j if n >> 1 & 1 else 1 - j
        from_i = i if n & 1 else 1 - i
        slope_k = from_j * from_i if n >> 2 else -from_j * from_i
        slope_j = from_k * from_i if n >> 1 & 1 else -from_k * from_i
        slope_i = from_k * from_j if n & 1 else -from_k * from_j
        share = from_k * from_j * from_i
        along_k, along_j, along_i = corners[n, 0], corners[n, 1], corners[n, 2]
        force_k += share * along_k
        kk += slope_k * along_k
        kj += slope_j * along_k
        ki += slope_i * along_k
        force_j += share * along_j
        jk += slope_k * along_j
        jj += slope_j * along_j
        ji += slope_i * along_j
        force_i += share * along_i
        ik += slope_k * along_i
        ij += slope_j * along_i
        ii += slope_i * along_i
    return (force_k, force_j, force_i), (kk, kj, ki, jk, jj, ji, ik, ij, ii)


@njit(cache=True)
def newton_step(slopes, force, scale):
    """Solve slopes @ step = force, both divided by a scale, by Cramer's rule.

    Whether there is one step, and the step.
    """
    a, b, c, d, e, f, g, h, i = slopes
    a, b, c = a / scale, b / scale, c / scale
    d, e, f = d / scale, e / scale, f / scale
    g, h, i = g / scale, h / scale, i / scale
    u, v, w = force[0] / scale, force[1] / scale, force[2] / scale
    second_third = e * i - f * h, f * g - d * i, d * h - e * g
    determinant = a * second_third[0] + b * second_third[1] + c * second_third[2]
    if abs(determinant) < 1e-30:
        return False, (0.0, 0.0, 0.0)
    third_first = h * c - i * b, i * a - g * c, g * b - h * a
    first_second = b * f - c * e, c * d - a * f, a * e - b * d
    return True, (
        (u * second_third[0] + v * third_first[0] + w * first_second[0]) / determinant,
        (u * second_third[1] + v * third_first[1] + w * first_second[1]) / determinant,
        (u * second_third[2] + v * third_first[2] + w * first_second[2]) / determinant,
    )


@njit(cache=True)
def newton(corners, k, j, i):
    """Newton steps from a place: whether they converged, the place, and the Jacobian there."""
    scale = np.abs(corners).max()
    for _ in range(NEWTON_STEPS):
        force, slopes = force_and_slopes(corners, k, j, i)
        is_one, step = newton_step(slopes, force, scale)
        if not is_one:
            break
        k, j, i = k - step[0], j - step[1], i - step[2]
        if max(abs(k - 0.5), abs(j - 0.5), abs(i - 0.5)) > 2:
            break
        if max(abs(step[0]), abs(step[1]), abs(step[2])) < 1e-10:
            return True, (k, j, i), force_and_slopes(corners, k, j, i)[1]
    return False, (k, j, i), (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)


def find_zeros(cells, forces):
    """Positions (n, 3) in voxels and Jacobians (n, 3, 3) of the zeros within some cells.

    Cells and forces are as `cells_of_planes` gives them.
    """
    room = FIRST_ROOM
    while True:
        found, counts = zeros_of_cells(forces, room)
        if counts.max(initial=0) <= room:
            break
        room = int(counts.max())
    cell, number = np.nonzero(np.arange(room) < counts[:, None])
    found = found[cell, number]
    return found[:, :3] + cells[cell], found[:, 3:].reshape(-1, 3, 3)


@njit(cache=True, parallel=True)
def zeros_of_cells(forces, room):
    """Place within the cell and Jacobian (12 numbers) of up to `room` zeros of each; their counts.

    Cells beside each other take about as long: each task has cells from everywhere.
    """
    found, counts = np.empty((len(forces), room, 12)), np.empty(len(forces), np.int64)
    for task in prange(TASKS):
        corners = np.empty((8, 3))
        for cell in range(task, len(forces), TASKS):
            corners[:] = forces[cell]
            counts[cell] = zeros_of_cell(corners, found[cell])
    return found, counts


@njit(cache=True)
def zeros_of_cell(corners, found):
    """Note the zeros of a cell whose components change sign, as far as there is room; how many."""
    values, places = np.empty((3, 27)), np.empty((3, 27))
    waiting, left, count = np.empty((8 * (SUBDIVISIONS + 1), 4)), 1, 0
    waiting[0] = 0, 0, 0, 1
    while left:
        left -= 1
        k, j, i, size = waiting[left]
        half = size / 2
        if size > 0.5**SUBDIVISIONS:
            values_on_grid(corners, k, j, i, half, places, values)
            for n in range(8):
                if may_hold_zero(values, 9 * (n >> 2) + 3 * (n >> 1 & 1) + (n & 1)):
                    waiting[left, 0], waiting[left, 1] = (
                        k + (n >> 2) * half,
                        j + (n >> 1 & 1) * half,
                    )
                    waiting[left, 2], waiting[left, 3] = i + (n & 1) * half, half
                    left += 1
            continue
        # A zero outside this part is found from the part that holds it.
        is_found, place, slopes = newton(corners, k + half, j + half, i + half)
        if is_found and (
            max(abs(place[0] - k - half), abs(place[1] - j - half), abs(place[2] - i - half))
            <= half * (1 + 1e-6)
        ):
            if count < len(found):
                found[count, 0], found[count, 1], found[count, 2] = place
                for n in range(9):
                    found[count, 3 + n] = slopes[n]
            count += 1
    return count


@njit(cache=True)
def values_on_grid(corners, k, j, i, half, places, values):
    """Set `places` and `values` (3, 27) at the corners of the eight parts of a part.

    As `force_and_slopes` sums them, but for all corners at a time.
    """
    for n in range(27):
        places[0, n] = k + n // 9 * half
        places[1, n] = j + n // 3 % 3 * half
        places[2, n] = i + n % 3 * half
    for axis in range(3):
        forces = corners[:, axis]
        a, b, c, d = forces[0], forces[1], forces[2], forces[3]
        e, f, g, h = forces[4], forces[5], forces[6], forces[7]
        for n in range(27):
            k1, j1, i1 = places[0, n], places[1, n], places[2, n]
            k0, j0, i0 = 1 - k1, 1 - j1, 1 - i1
            lower = k0 * j0 * i0 * a + k0 * j0 * i1 * b + k0 * j1 * i0 * c + k0 * j1 * i1 * d
            values[axis, n] = (
                lower + k1 * j0 * i0 * e + k1 * j0 * i1 * f + k1 * j1 * i0 * g + k1 * j1 * i1 * h
            )


@njit(cache=True)
def may_hold_zero(values, first):
    """Whether all components change sign among the corners of a part; the grid's first of them."""
    for axis in range(3):
        low = high = values[axis, first]
        for n in range(1, 8):
            value = values[axis, first + 9 * (n >> 2) + 3 * (n >> 1 & 1) + (n & 1)]
            low, high = min(low, value), max(high, value)
        if low > 0 or high < 0 or low == high:
            return False
    return True
