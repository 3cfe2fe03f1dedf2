"""Roots of a vector field that is trilinear between voxels, by subdivision and Newton steps.

A trilinear field has no root in a cell without a change of sign among its corners, nor in such a
part of a cell, within which it is trilinear again. Nor is there one where a combination of its
components has none: those that are nearly the offset from the root along each axis tell most.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from FuzzyVesselCoreLib.compilation import needs_numba
from FuzzyVesselCoreLib.progress import Progress

from .voxel_classes import BOUNDARY

MAX_SUBDIVISIONS = 4  # of a cell along each axis before Newton steps begin
NEWTON_STEPS = 30
NEAR_ZERO = 1e-5  # share of the largest product below which a combination may be 0 close by
CORNERS = np.array(list(np.ndindex(2, 2, 2)))  # of a cell, K, J, I
# Of each of the eight parts of a cell, the places of its corners on a grid of 27.
CORNERS_OF_PARTS = (CORNERS[:, None] + CORNERS) @ np.array([9, 3, 1])


def find_roots(corners: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Roots within cells, whose corners (n, 8, 3) are those of `seeds.cells_with_sign_changes`.

    Returns the number of the cell (m,) that each root lies in, its place in the unit cell (m, 3)
    and the Jacobian there (m, 3, 3).
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


# ---- Critical points of a force field: where the force vanishes (Zhao et al. 2016, section 1)

ATTRACTOR, SADDLE_1, SADDLE_2, REPELLER = "attractor", "saddle-1", "saddle-2", "repeller"
KINDS = (ATTRACTOR, SADDLE_1, SADDLE_2, REPELLER)  # by the number of positive eigenvalues
CELLS_PER_SLICE = 1 << 12  # between two checks of the progress
SAME_POINT = 1e-3  # voxels: points on the common face of two cells are found from both


@dataclass(frozen=True)
class CriticalPoint:
    """A root of the force field.

    Attributes
    ----------
    position : ndarray of float, (3,)
        Voxels K, J, I.
    kind : str
        "attractor" (all real parts of the Jacobian's eigenvalues are negative), "saddle-1" and
        "saddle-2" (so many are positive), "repeller" (all are positive).
    eigenvalues : ndarray, (3,)
        Of the Jacobian; real or complex; rising real parts.
    eigenvectors : ndarray, (3, 3)
        Columns, in the order of the eigenvalues.
    """

    position: np.ndarray
    kind: str
    eigenvalues: np.ndarray
    eigenvectors: np.ndarray


def critical_points(
    field: Any, everywhere: bool = False, progress: Progress | None = None, gpu: Any = None
) -> list[CriticalPoint]:
    """Find and classify the roots of a force field.

    Cells of eight inner or boundary voxels in which all three components change sign are
    subdivided as long as they do (the field between voxels is trilinear, so a part without a
    change of sign at its corners has no root); Newton steps finish. Two conjugate complex
    eigenvalues share their real part: the real parts alone decide.

    Parameters
    ----------
    field : ForceField
        Its `vectors`, shape (K, J, I, 3), `classes` and `object`, shape (K, J, I), are used.
    everywhere : bool
        Whether to include roots between the object and charges that were moved outward.
    progress : callable or Progress, optional
        Checked between slices.
    gpu : CudaDevice, optional
        In the device's block: it looks for the cells.

    Returns
    -------
    list of CriticalPoint
        In the order of their positions K, J, I.

    Raises
    ------
    Cancelled
        The progress callback returned False.

    Examples
    --------
    >>> from PotentialSkeletonLib import force_field
    >>> ball = np.sum((np.indices((15, 15, 15)) - 7) ** 2, axis=0) <= 36
    >>> [point.kind for point in critical_points(force_field(ball, device="cpu"))]
    ['attractor']
    """
    with needs_numba():
        from .seeds import cells_with_sign_changes
    progress = Progress.of(progress)
    cells, corners = cells_with_sign_changes(field.vectors, field.classes, BOUNDARY, gpu)
    found = [(np.empty((0, 3)), np.empty((0, 3, 3)))]
    for first in range(0, len(cells), CELLS_PER_SLICE):
        progress.check()
        some = slice(first, first + CELLS_PER_SLICE)
        number, places, some_jacobians = find_roots(corners[some])
        found.append((cells[some][number] + places, some_jacobians))
    positions, jacobians = (np.concatenate(parts) for parts in zip(*found))
    if not everywhere:
        inside = field.object[tuple(np.rint(positions).astype(int).T)]
        positions, jacobians = positions[inside], jacobians[inside]
    unique = _first_of_each(positions)
    return _classified(positions[unique], jacobians[unique])


def index_sum(points: list[CriticalPoint]) -> int:
    """Attractors - saddles-1 + saddles-2 - repellers.

    It is the object's Euler characteristic where the field is resolved (Poincare and Hopf).
    """
    return sum((-1) ** KINDS.index(point.kind) for point in points)


def _classified(positions: np.ndarray, jacobians: np.ndarray) -> list[CriticalPoint]:
    """The `CriticalPoint` of each position (n, 3) and Jacobian (n, 3, 3)."""
    found = []
    for position, values, vectors in zip(positions, *np.linalg.eig(jacobians)):
        order = np.argsort(values.real, kind="stable")
        values, vectors = values[order], vectors[:, order]
        if not values.imag.any():
            values, vectors = values.real.copy(), vectors.real.copy()
        kind = KINDS[np.count_nonzero(values.real > 0)]
        found.append(CriticalPoint(position, kind, values, vectors))
    return found


def _first_of_each(positions: np.ndarray) -> list[int]:
    """The indices of the points in the order of their positions, duplicates left out."""
    from scipy.spatial import cKDTree

    if not len(positions):
        return []
    order = np.lexsort(np.round(positions, 6).T[::-1])
    same: dict[int, list[int]] = {}
    for one, other in cKDTree(positions).query_pairs(SAME_POINT):
        same.setdefault(one, []).append(other)
        same.setdefault(other, []).append(one)
    gone: set[int] = set()
    for n in order:
        if n not in gone:
            gone.update(same.get(n, ()))
    return [n for n in order if n not in gone]
