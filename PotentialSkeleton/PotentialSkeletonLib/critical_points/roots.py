"""Roots of a vector field that is trilinear between voxels, by subdivision and Newton steps.

A trilinear field has no root in a cell without a change of sign among its corners, nor in such a
part of a cell, within which it is trilinear again. Nor is there one where a combination of its
components has none: those that are nearly the offset from the root along each axis tell most.
"""

import numpy as np

MAX_SUBDIVISIONS = 4  # of a cell along each axis before Newton steps begin
NEWTON_STEPS = 30
NEAR_ZERO = 1e-5  # share of the largest product below which a combination may be 0 close by
CORNERS = np.array(list(np.ndindex(2, 2, 2)))  # of a cell, K, J, I
# Of each of the eight parts of a cell, the places of its corners on a grid of 27.
CORNERS_OF_PARTS = (CORNERS[:, None] + CORNERS) @ np.array([9, 3, 1])


def find_roots(corners: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Roots within cells.

    Parameters
    ----------
    corners : ndarray, (n, 8, 3)
        From `cells.cells_with_sign_changes`.

    Returns
    -------
    cell : ndarray of int, (m,)
        Number of the cell that each root lies in.
    places : ndarray, (m, 3)
        In the unit cell.
    jacobians : ndarray, (m, 3, 3)
    """
    corners = corners.astype(float)
    cell, size = np.flatnonzero(_may_have_root(corners)), 1.0
    low, parts = np.zeros((len(cell), 3)), corners[cell]
    for _ in range(MAX_SUBDIVISIONS):
        size /= 2
        grid = parts.swapaxes(0, 1).reshape(2, 2, 2, -1, 3)
        for axis in range(3):
            first, last = np.moveaxis(grid, axis, 0)
            grid = np.stack([first, (first + last) / 2, last], axis)
        parts = grid.reshape(27, -1, 3)[CORNERS_OF_PARTS]  # (8, 8, n, 3)
        least, most = parts.min(axis=1), parts.max(axis=1)
        n, part = np.nonzero(((least <= 0) & (most >= 0) & (least < most)).all(axis=2).T)
        parts = parts[part, :, n]
        likely = _may_have_root(parts)
        n, part, parts = n[likely], part[likely], parts[likely]
        cell, low = cell[n], low[n] + size * CORNERS[part]
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


def _may_have_root(corners: np.ndarray) -> np.ndarray:
    """Whether all combinations of the components (n, 8, 3) by the adjugate Jacobian change sign."""
    slopes = corners.swapaxes(1, 2) @ np.where(CORNERS, 0.25, -0.25)  # in the middle
    adjugate = np.cross(slopes[:, [1, 2, 0]], slopes[:, [2, 0, 1]])
    values = corners @ adjugate
    limit = abs(corners).max(axis=(1, 2)) * abs(adjugate).max(axis=(1, 2)) * NEAR_ZERO
    least, most = values.min(axis=1), values.max(axis=1)
    return ((least <= limit[:, None]) & (most >= -limit[:, None])).all(axis=1)


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
