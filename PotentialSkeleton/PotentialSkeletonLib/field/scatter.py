"""Scatter: the forces and classes of one solid written to the volume."""

import numpy as np

from FuzzyVesselCoreLib.jit.decorators import compiled, inlined
from FuzzyVesselCoreLib.threads import in_parts

from ..object.voxel_classes import BOUNDARY, OUTSIDE
from .solid import Solid


def scatter_solid(
    solid: Solid,
    label: int,
    labels: np.ndarray,
    own_classes: np.ndarray,
    own_vectors: np.ndarray,
    classes: np.ndarray,
    vectors: np.ndarray,
) -> None:
    """Write the forces and classes of one solid to the volume.

    Parameters
    ----------
    solid : Solid
    label : int
    labels : ndarray, int, shape (K, J, I)
        Of the volume. Voxels of other components are not written, nor are those outside of all
        components that have a class already.
    own_classes : ndarray, uint8, shape of the solid's box
    own_vectors : ndarray, shape of the solid's box and 3, or (n, 3)
        Forces of all its voxels, or of its boundary and inner voxels alone, in their order.
    classes, vectors : ndarray
        Of the volume; changed in place.
    """
    inside = tuple(slice(max(s.start, 0), min(s.stop, n)) for s, n in zip(solid.box, labels.shape))
    source = tuple(slice(i.start - s.start, i.stop - s.start) for i, s in zip(inside, solid.box))
    if own_vectors.ndim == 2:
        counts = np.count_nonzero(own_classes >= BOUNDARY, axis=(1, 2))
        firsts = np.concatenate(([0], np.cumsum(counts)))
        start = np.array([s.start for s in solid.box])

        def scatter(first: int, last: int) -> None:
            _scatter_listed(
                own_classes, own_vectors, firsts, start, label, labels, classes, vectors,
                first, last,
            )  # fmt: skip

    else:
        own = own_classes[source], own_vectors[source]
        there = [each[inside] for each in (labels, classes, vectors)]

        def scatter(first: int, last: int) -> None:
            _scatter(
                own[0][first:last], own[1][first:last], label,
                *(each[first:last] for each in there),
            )  # fmt: skip

    planes = len(own_classes) if own_vectors.ndim == 2 else len(own[0])
    in_parts(scatter, planes, own_classes.size)


@inlined
def _is_taken(label, other, present):
    return other != label if other else present != OUTSIDE


@compiled
def _scatter(own_classes, own_vectors, label, labels, classes, vectors):
    depth, rows, width = own_classes.shape
    for k in range(depth):
        for j in range(rows):
            for i in range(width):
                own = own_classes[k, j, i]
                if own == OUTSIDE or _is_taken(label, labels[k, j, i], classes[k, j, i]):
                    continue
                classes[k, j, i] = own
                if own >= BOUNDARY:
                    for axis in range(3):
                        vectors[k, j, i, axis] = own_vectors[k, j, i, axis]


@compiled
def _scatter_listed(
    own_classes, own_vectors, firsts, start, label, labels, classes, vectors, first, last
):
    _, rows, width = own_classes.shape
    for plane in range(first, last):
        k, n = plane + start[0], firsts[plane]
        if not 0 <= k < labels.shape[0]:
            continue
        for row in range(rows):
            for column in range(width):
                own = own_classes[plane, row, column]
                if own == OUTSIDE:
                    continue
                n += own >= BOUNDARY
                j, i = row + start[1], column + start[2]
                if not (0 <= j < labels.shape[1] and 0 <= i < labels.shape[2]):
                    continue
                if _is_taken(label, labels[k, j, i], classes[k, j, i]):
                    continue
                classes[k, j, i] = own
                if own >= BOUNDARY:
                    for axis in range(3):
                        vectors[k, j, i, axis] = own_vectors[n - 1, axis]
