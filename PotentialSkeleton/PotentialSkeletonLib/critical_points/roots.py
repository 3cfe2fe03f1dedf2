"""Roots of a vector field that is trilinear between voxels, by subdivision and Newton steps.

A trilinear field has no root in a cell without a change of sign among its corners, nor in such a
part of a cell, within which it is trilinear again.
"""

import numpy as np

MAX_SUBDIVISIONS = 4  # of a cell along each axis before Newton steps begin
NEWTON_STEPS = 30
CORNERS = np.array(list(np.ndindex(2, 2, 2)))  # of a cell, K, J, I


def cells_with_sign_changes(
    vectors: np.ndarray, classes: np.ndarray, lowest_class: int
) -> tuple[np.ndarray, np.ndarray]:
    """Cells of eight voxels in which all components change sign.

    Parameters
    ----------
    vectors : ndarray, shape (K, J, I, 3)
    classes : ndarray of uint8, shape (K, J, I)
    lowest_class : int
        All eight voxels of a cell have at least this class.

    Returns
    -------
    cells : ndarray of int64, (n, 3)
        First corners K, J, I, in rising order.
    corners : ndarray, (n, 8, 3)
        The vectors at their corners, I fastest.
    """
    is_cell, values = classes >= lowest_class, vectors.reshape(-1, 3)
    has_cell = np.zeros(classes.shape, bool)  # the last voxels along each axis begin none
    has_cell[:-1, :-1, :-1] = is_cell[:-1, :-1, :-1]
    cells = np.flatnonzero(has_cell)
    offsets = CORNERS @ np.array([classes.shape[1] * classes.shape[2], classes.shape[2], 1])
    for offset in offsets[1:]:
        cells = cells[is_cell.reshape(-1)[cells + offset]]
    for axis in range(3):
        component = values[:, axis]
        low = component[cells]
        high = low.copy()
        for offset in offsets[1:]:
            other = component[cells + offset]
            np.minimum(low, other, out=low)
            np.maximum(high, other, out=high)
        cells = cells[(low <= 0) & (high >= 0) & (low < high)]
    places = np.stack(np.unravel_index(cells, classes.shape), axis=1)
    return places, values[cells[:, None] + offsets]


def find_roots(corners: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Roots within cells.

    Parameters
    ----------
    corners : ndarray, (n, 8, 3)
        From `cells_with_sign_changes`.

    Returns
    -------
    cell : ndarray of int, (m,)
        Number of the cell that each root lies in.
    places : ndarray, (m, 3)
        In the unit cell.
    jacobians : ndarray, (m, 3, 3)
    """
    corners = corners.astype(float)
    cell, low, parts, size = np.arange(len(corners)), np.zeros((len(corners), 3)), corners, 1.0
    for _ in range(MAX_SUBDIVISIONS):
        size /= 2
        grid = GRID_WEIGHTS @ parts
        parts = grid[:, CORNERS_OF_PARTS]  # (n, 8, 8, 3)
        least, most = parts.min(axis=2), parts.max(axis=2)
        n, part = np.nonzero(((least <= 0) & (most >= 0) & (least < most)).all(axis=2))
        parts, cell, low = parts[n, part], cell[n], low[n] + size * CORNERS[part]
    middle = low + size / 2
    converged, places = _newton(corners[cell], middle)
    # A root outside its part is found from the part that holds it.
    found = converged & (abs(places - middle) <= size / 2 * (1 + 1e-6)).all(axis=1)
    cell, places = cell[found], places[found]
    return cell, places, force_and_jacobian(corners[cell], places)[1]


def force_and_jacobian(corners: np.ndarray, places: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Force (n, 3) and Jacobian (n, 3, 3) of trilinear fields (n, 8, 3) at places in the cell."""
    shares = np.where(CORNERS, places[:, None], 1 - places[:, None])  # (n, 8, 3)
    slopes = np.where(CORNERS, 1.0, -1.0)
    k, j, i = shares.transpose(2, 0, 1)
    force = ((k * j * i)[:, None] @ corners)[:, 0]
    by_axis = np.stack([j * i * slopes[:, 0], k * i * slopes[:, 1], k * j * slopes[:, 2]], axis=2)
    return force, corners.swapaxes(1, 2) @ by_axis


def _newton(corners: np.ndarray, places: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Whether Newton steps from each place in its cell converge, and where."""
    corners = corners / np.maximum(abs(corners).max(axis=(1, 2), keepdims=True), 1e-300)
    places, converged = places.copy(), np.zeros(len(places), bool)
    active = np.arange(len(places))
    for _ in range(NEWTON_STEPS):
        force, jacobian = force_and_jacobian(corners[active], places[active])
        regular = abs(np.linalg.det(jacobian)) >= 1e-30
        active, force, jacobian = active[regular], force[regular], jacobian[regular]
        step = np.linalg.solve(jacobian, force[..., None])[..., 0]
        places[active] -= step
        is_near = (abs(places[active] - 0.5) <= 2).all(axis=1)
        is_short = (abs(step) < 1e-10).all(axis=1)
        converged[active[is_near & is_short]] = True
        active = active[is_near & ~is_short]
    return converged, places


def _weights_on_grid() -> np.ndarray:
    """Trilinear weights (27, 8) of a cell's corners at the grid that halves it."""
    grid = np.array(list(np.ndindex(3, 3, 3)))[:, None] / 2
    return np.where(CORNERS, grid, 1 - grid).prod(axis=2)


GRID_WEIGHTS = _weights_on_grid()
# Of each of the eight parts of a cell, the places of its corners on the grid.
CORNERS_OF_PARTS = (CORNERS[:, None] + CORNERS) @ np.array([9, 3, 1])
