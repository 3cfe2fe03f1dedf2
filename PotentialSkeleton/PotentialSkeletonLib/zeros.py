"""Zeros of a trilinear vector field by sign changes, subdivision and Newton steps: compiled."""

import numpy as np
from numba import njit, prange

SUBDIVISIONS = 4  # a cell is halved so often along each axis before Newton steps begin
NEWTON_STEPS = 30


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
def value_at(corners, place, value):
    """Value (3,) at a place within the unit cell; as `trilinear` sums it."""
    value[:] = 0
    for n in range(8):
        k = place[0] if n >> 2 else 1 - place[0]
        j = place[1] if n >> 1 & 1 else 1 - place[1]
        i = place[2] if n & 1 else 1 - place[2]
        for axis in range(3):
            value[axis] += k * j * i * corners[n, axis]


@njit(cache=True)
def trilinear(corners, place, value, jacobian):
    """Value (3,) and Jacobian (3, 3) at a place within the unit cell."""
    value[:] = 0
    jacobian[:] = 0
    for n in range(8):
        upper = (n >> 2, n >> 1 & 1, n & 1)
        k = place[0] if upper[0] else 1 - place[0]
        j = place[1] if upper[1] else 1 - place[1]
        i = place[2] if upper[2] else 1 - place[2]
        slope_k = j * i if upper[0] else -j * i
        slope_j = k * i if upper[1] else -k * i
        slope_i = k * j if upper[2] else -k * j
        for axis in range(3):
            force = corners[n, axis]
            value[axis] += k * j * i * force
            jacobian[axis, 0] += slope_k * force
            jacobian[axis, 1] += slope_j * force
            jacobian[axis, 2] += slope_i * force


@njit(cache=True)
def newton_step(jacobian, value, step):
    """Solve jacobian @ step = value by Cramer's rule; False if the Jacobian is singular."""
    a, b, c = jacobian[0], jacobian[1], jacobian[2]
    bc = np.array([b[1] * c[2] - b[2] * c[1], b[2] * c[0] - b[0] * c[2], b[0] * c[1] - b[1] * c[0]])
    determinant = (a * bc).sum()
    if abs(determinant) < 1e-30:
        return False
    ca = np.array([c[1] * a[2] - c[2] * a[1], c[2] * a[0] - c[0] * a[2], c[0] * a[1] - c[1] * a[0]])
    ab = np.array([a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]])
    step[:] = (value[0] * bc + value[1] * ca + value[2] * ab) / determinant
    return True


@njit(cache=True)
def newton(corners, place, value, jacobian):
    """Newton steps from `place`, which is changed; whether they converged."""
    scale = np.abs(corners).max()
    step = np.empty(3)
    for _ in range(NEWTON_STEPS):
        trilinear(corners, place, value, jacobian)
        if not newton_step(jacobian / scale, value / scale, step):
            return False
        place -= step
        if np.abs(place - 0.5).max() > 2:
            return False
        if np.abs(step).max() < 1e-10:
            trilinear(corners, place, value, jacobian)
            return True
    return False


@njit(cache=True, nogil=True)
def find_zeros(cells, forces):
    """Positions (n, 3) in voxels and Jacobians (n, 3, 3) of the zeros within some cells.

    Cells and forces are as `cells_of_planes` gives them.
    """
    positions, jacobians = [], []
    corners, part = np.empty((8, 3)), np.empty((8, 3))
    value, jacobian, place = np.empty(3), np.empty((3, 3)), np.empty(3)
    for number in range(len(cells)):
        cell = cells[number]
        corners[:] = forces[number]
        waiting = [(0.0, 0.0, 0.0, 1.0)]
        while len(waiting) > 0:
            k, j, i, size = waiting.pop()
            for n in range(8):
                place[0], place[1] = k + (n >> 2) * size, j + (n >> 1 & 1) * size
                place[2] = i + (n & 1) * size
                value_at(corners, place, value)
                part[n] = value
            if not has_sign_changes(part):
                continue
            half = size / 2
            if size > 0.5**SUBDIVISIONS:
                for n in range(8):
                    waiting.append(
                        (k + (n >> 2) * half, j + (n >> 1 & 1) * half, i + (n & 1) * half, half)
                    )
                continue
            place[0], place[1], place[2] = k + half, j + half, i + half
            # A zero outside this part is found from the part that holds it.
            if newton(corners, place, value, jacobian) and (
                max(abs(place[0] - k - half), abs(place[1] - j - half), abs(place[2] - i - half))
                <= half * (1 + 1e-6)
            ):
                positions.append(place + cell)
                jacobians.append(jacobian.copy())
    found = np.empty((len(positions), 3))
    slopes = np.empty((len(positions), 3, 3))
    for n in range(len(positions)):
        found[n] = positions[n]
        slopes[n] = jacobians[n]
    return found, slopes
