"""Critical points of a force field: where the force vanishes (Zhao et al. 2016, section 1)."""

from dataclasses import dataclass

import numpy as np

from FuzzyVesselCoreLib.compilation import compiled_code

from ..object.voxel_classes import BOUNDARY

ATTRACTOR, SADDLE_1, SADDLE_2, REPELLER = "attractor", "saddle-1", "saddle-2", "repeller"
KINDS = (ATTRACTOR, SADDLE_1, SADDLE_2, REPELLER)  # by the number of positive eigenvalues
VOXELS_A_SLICE, CELLS_A_SLICE = 1 << 22, 1 << 12  # between two looks at the progress callback
SAME_POINT = 1e-3  # voxels: points on the common face of two cells are found from both


@dataclass(frozen=True)
class CriticalPoint:
    """A zero of the force field.

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


def critical_points(field, everywhere=False, report=None):
    """Find and classify the zeros of a force field.

    Cells of eight inner or boundary voxels in which all three components change sign are
    subdivided as long as they do (the field between voxels is trilinear, so a part without a
    change of sign at its corners has no zero); Newton steps finish. Two conjugate complex
    eigenvalues share their real part: the real parts alone decide.

    Parameters
    ----------
    field : ForceField
        Its `vectors`, shape (K, J, I, 3), `classes` and `object`, shape (K, J, I), are used.
    everywhere : bool
        Whether zeros count that lie between the object and charges that were moved outward.
    report : callable, optional
        Called between slices; raises to cancel.

    Returns
    -------
    list of CriticalPoint
        In the order of their positions K, J, I.
    """
    cells, corners = _cells_with_sign_changes(field.vectors, field.classes, report)
    return critical_points_in(cells, corners, None if everywhere else field.object, report)


def critical_points_in(cells, corners, mask=None, report=None):
    """Find and classify the zeros in some cells; see `critical_points`.

    Parameters
    ----------
    cells : ndarray of int64, (n, 3)
        First corners K, J, I of cells in which all components change sign, in rising order.
    corners : ndarray, (n, 8, 3)
        The forces at their corners, I fastest.
    mask : ndarray of bool, shape (K, J, I), optional
        Only zeros in these voxels count.
    report : callable, optional
        Called between slices; raises to cancel.

    Returns
    -------
    list of CriticalPoint
        In the order of their positions K, J, I.
    """
    with compiled_code():
        from .roots import find_zeros
    zeros = []
    for first in range(0, max(1, len(cells)), CELLS_A_SLICE):
        some = slice(first, first + CELLS_A_SLICE)
        zeros.append(find_zeros(cells[some], corners[some]))
        _look(report)
    positions, jacobians = (np.concatenate(found) for found in zip(*zeros))
    if mask is not None:
        inside = is_inside(positions, mask)
        positions, jacobians = positions[inside], jacobians[inside]
    first = _first_of_each(positions)
    return _classified(positions[first], jacobians[first])


def _cells_with_sign_changes(vectors, classes, report):
    with compiled_code():
        from .roots import cells_of_planes
    vectors = np.ascontiguousarray(vectors)
    planes = max(1, VOXELS_A_SLICE // max(1, classes[0].size))
    found = [(np.empty((0, 3), np.int64), np.empty((0, 8, 3), vectors.dtype))]
    for first in range(0, len(vectors) - 1, planes):
        last = min(first + planes, len(vectors) - 1)
        found.append(cells_of_planes(vectors, classes, BOUNDARY, first, last))
        _look(report)
    return tuple(np.concatenate(parts) for parts in zip(*found))


def _look(report):
    if report is not None:
        report()


def is_inside(positions, mask):
    """Whether each position (n, 3) lies in a voxel of the object."""
    return mask[tuple(np.rint(positions).astype(int).T)]


def index_sum(points):
    """Attractors - saddles-1 + saddles-2 - repellers: the object's Euler characteristic where
    the field is resolved well enough (Poincare and Hopf)."""
    return sum((-1) ** KINDS.index(point.kind) for point in points)


def _classified(positions, jacobians):
    """The `CriticalPoint` of each position (n, 3) and Jacobian (n, 3, 3)."""
    values, vectors = np.linalg.eig(jacobians)
    order = np.argsort(values.real, axis=1, kind="stable")
    values = np.take_along_axis(values, order, axis=1)
    vectors = np.take_along_axis(vectors, order[:, None], axis=2)
    is_complex = values.imag.any(axis=1).tolist()
    real = values.real.copy(), vectors.real.copy()
    positive = np.count_nonzero(real[0] > 0, axis=1).tolist()
    of_point = [
        (values[n], vectors[n]) if is_complex[n] else (real[0][n], real[1][n])
        for n in range(len(positions))
    ]
    return [
        CriticalPoint(position, KINDS[count], *own)
        for position, count, own in zip(positions, positive, of_point)
    ]


def _first_of_each(positions):
    """Indices of the points in the order of their positions, duplicates left out."""
    from scipy.spatial import cKDTree

    if not len(positions):
        return []
    order = np.lexsort(np.round(positions, 6).T[::-1])
    same = {}
    for one, other in cKDTree(positions).query_pairs(SAME_POINT):
        same.setdefault(one, []).append(other)
        same.setdefault(other, []).append(one)
    gone = set()
    for n in order:
        if n not in gone:
            gone.update(same.get(n, ()))
    return [n for n in order if n not in gone]
