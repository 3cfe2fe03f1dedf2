"""Critical points of a force field: where the force vanishes (Zhao et al. 2016, section 1)."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from FuzzyVesselCoreLib.compilation import needs_numba
from FuzzyVesselCoreLib.progress import Progress

from .force_field import BOUNDARY

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
    with needs_numba():  # the package can be imported without it
        from .seeds import cells_with_sign_changes, find_roots
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
