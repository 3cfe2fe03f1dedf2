"""Directions along which the force leads away from critical points."""

from collections.abc import Iterable, Sequence

import numpy as np

from ..critical_points.critical_points import CriticalPoint

SAME_EIGENVALUE = 1e-3  # relative difference up to which eigenvalues are taken to be equal


def outgoing_directions(points: Sequence[CriticalPoint]) -> list[list[np.ndarray]]:
    """For each point, unit vectors (3,) that span the outgoing eigenspace.

    An eigenvector of a symmetric point is determined but for its sign or, where eigenvalues are
    equal, a rotation within their eigenspace. Both are fixed by the axes K, J, I, so that rounding
    decides nothing.
    """
    eigenspaces = []  # number of the point, eigenvectors of equal eigenvalues
    for number, point in enumerate(points):
        eigenvalues = point.eigenvalues.real.tolist()
        outward = [n for n in range(3) if eigenvalues[n] > 0]
        while outward:
            limit = eigenvalues[outward[0]] * (1 + SAME_EIGENVALUE)
            same = sum(eigenvalues[n] <= limit for n in outward)
            eigenspaces.append((number, point.eigenvectors[:, outward[0] : outward[0] + same]))
            outward = outward[same:]
    directions: list[list[np.ndarray]] = [[] for _ in points]
    bases = _bases_near_axes([vectors for _, vectors in eigenspaces])
    for (number, _), basis in zip(eigenspaces, bases):
        directions[number].extend(basis)
    return directions


def _bases_near_axes(eigenspaces: Sequence[np.ndarray]) -> list[Iterable[np.ndarray]]:
    """Orthonormal basis, close to the axes, of the span of the columns (3, n) of each matrix."""
    bases: list[Iterable[np.ndarray]] = [()] * len(eigenspaces)
    for size in {vectors.shape[1] for vectors in eigenspaces}:
        numbers = [n for n, vectors in enumerate(eigenspaces) if vectors.shape[1] == size]
        vectors = np.array([eigenspaces[n] for n in numbers])
        # A complex pair spans a plane as its real and imaginary parts.
        planes = np.linalg.svd(np.concatenate([vectors.real, vectors.imag], axis=2))[0]
        planes = planes[:, :, :size]
        found = _signed(planes[:, :, 0]) if size == 1 else map(_basis_near_axes, planes)
        for n, basis in zip(numbers, found):
            bases[n] = basis
    return bases


def _signed(vectors: np.ndarray) -> list[list[np.ndarray]]:
    """As `_basis_near_axes`, for each of some single vectors (n, 3)."""
    axes = np.argmax(np.round(vectors * vectors, 3), axis=1)
    projections = vectors[np.arange(len(vectors)), axes][:, None] * vectors
    return [[p / np.sqrt(p.dot(p))] for p in projections]


def _basis_near_axes(basis: np.ndarray) -> list[np.ndarray]:
    """Orthonormal vectors with the span of a basis (3, n), made of projections of the axes."""
    found: list[np.ndarray] = []
    for _ in range(basis.shape[1]):
        projections = basis @ basis.T - sum(np.outer(vector, vector) for vector in found)
        axis = np.argmax(np.round(np.diag(projections), 3))
        found.append(projections[axis] / np.linalg.norm(projections[axis]))
    return found
