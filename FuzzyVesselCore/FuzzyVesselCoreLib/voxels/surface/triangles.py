"""Triangles between the voxels of an object and its background, plane by plane of voxels."""

import numpy as np
from numba import njit

from ...threads import in_parts
from .cell_cases import EDGES, TRIANGLES


def boundary_triangles(inside: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the closed surface between voxels that are inside and those that are not.

    A vertex lies in the middle between two voxels of which one is inside.

    Parameters
    ----------
    inside : ndarray of uint8, shape (K, J, I)
        0 and 1; 0 in all voxels at the border of the array.

    Returns
    -------
    vertices : ndarray of float32, shape (N, 3)
        Indices K, J, I.
    triangles : ndarray of int64, shape (M, 3)
        Numbers of vertices.

    Examples
    --------
    >>> one = np.zeros((3, 3, 3), np.uint8)
    >>> one[1, 1, 1] = 1
    >>> vertices, triangles = boundary_triangles(one)
    >>> len(vertices), len(triangles)
    (6, 8)
    """
    planes, rows = inside.shape[:2]
    spans = np.empty((planes, rows, 2), np.int32)
    in_parts(lambda first, last: _spans(inside, first, last, spans), planes, inside.size)
    counts = np.zeros((planes, 3), np.int64)
    in_parts(
        lambda first, last: _count(inside, spans, first, last, TRIANGLES, counts),
        planes - 1,
        inside.size,
    )
    ends = np.cumsum(counts[:, :2]).reshape(planes, 2)
    begins, faces = ends - counts[:, :2], np.cumsum(counts[:, 2]) - counts[:, 2]
    vertices = np.empty((ends[-1, 1], 3), np.float32)
    triangles = np.empty((counts[:, 2].sum(), 3), np.int64)

    def fill(first: int, last: int) -> None:
        # Numbers of the vertices on edges along I and J of two planes, and along K between them.
        numbers = np.empty((5, *inside.shape[1:]), np.int64)
        tables = (spans, EDGES, TRIANGLES, begins, faces)
        _fill(inside, first, last, *tables, numbers, vertices, triangles)

    in_parts(fill, planes - 1, inside.size)
    return vertices, triangles


@njit(cache=True, nogil=True)
def _spans(inside, first, last, spans):
    """Of each row the first voxel that is inside, and the one behind the last; equal if none is."""
    for k in range(first, last):
        for j in range(inside.shape[1]):
            row = inside[k, j]
            begin, end = 0, row.size
            while begin < end and row[begin] == 0:
                begin += 1
            while end > begin and row[end - 1] == 0:
                end -= 1
            spans[k, j, 0], spans[k, j, 1] = begin, end


@njit(cache=True, nogil=True)
def _union(spans, k, j, planes):
    """Voxels of the rows j and j + 1 in so many planes from which on a cell may have triangles."""
    begin, end = 1 << 30, 0
    for n in range(k, k + planes):
        for m in range(j, j + 2):
            if spans[n, m, 0] < spans[n, m, 1]:
                begin, end = min(begin, spans[n, m, 0]), max(end, spans[n, m, 1])
    return begin - 1, end


@njit(cache=True, nogil=True)
def _case(inside, k, j, i):
    """The case of a cell of which the voxel is the first corner."""
    below, above = inside[k], inside[k + 1]
    return (
        below[j, i]
        | below[j, i + 1] << 1
        | below[j + 1, i] << 2
        | below[j + 1, i + 1] << 3
        | above[j, i] << 4
        | above[j, i + 1] << 5
        | above[j + 1, i] << 6
        | above[j + 1, i + 1] << 7
    )


@njit(cache=True, nogil=True)
def _count(inside, spans, first, last, triangles_of, counts):
    """For planes: vertices in it, vertices between it and the next one, triangles between them."""
    for k in range(first, last):
        in_plane, between, triangles = 0, 0, 0
        for j in range(inside.shape[1] - 1):
            begin, end = _union(spans, k, j, 2)
            for i in range(begin, end):
                case = _case(inside, k, j, i)
                triangles += triangles_of[case]
                own = case & 1
                in_plane += (own != case >> 1 & 1) + (own != case >> 2 & 1)
                between += own != case >> 4 & 1
        counts[k, 0], counts[k, 1], counts[k, 2] = in_plane, between, triangles


@njit(cache=True, nogil=True)
def _number_plane(inside, spans, k, number, along_i, along_j, vertices):
    """Vertices of a plane, from a number on."""
    for j in range(inside.shape[1] - 1):
        begin, end = _union(spans, k, j, 1)
        for i in range(begin, end):
            if inside[k, j, i] != inside[k, j, i + 1]:
                along_i[j, i] = number
                vertices[number, 0], vertices[number, 1], vertices[number, 2] = k, j, i + 0.5
                number += 1
            if inside[k, j, i] != inside[k, j + 1, i]:
                along_j[j, i] = number
                vertices[number, 0], vertices[number, 1], vertices[number, 2] = k, j + 0.5, i
                number += 1


@njit(cache=True, nogil=True)
def _fill(
    inside,
    first,
    last,
    spans,
    edges,
    triangles_of,
    begins,
    faces,
    numbers,
    vertices,
    triangles,
):
    """Vertices and triangles between planes and their next ones."""
    rows, along_k = inside.shape[1], numbers[4]
    for k in range(first - 1, last):
        high = (k + 1 - first) & 1  # the next plane's numbers take the place of those before
        _number_plane(
            inside, spans, k + 1, begins[k + 1, 0], numbers[high], numbers[2 + high], vertices
        )
        if k < first:
            continue
        low = 1 - high
        number = begins[k, 1]
        for j in range(rows - 1):
            begin, end = _union(spans, k, j, 2)
            for i in range(begin, end):
                if inside[k, j, i] != inside[k + 1, j, i]:
                    along_k[j, i] = number
                    vertices[number, 0], vertices[number, 1], vertices[number, 2] = k + 0.5, j, i
                    number += 1
        face = faces[k]
        for j in range(rows - 1):
            begin, end = _union(spans, k, j, 2)
            for i in range(begin, end):
                case = _case(inside, k, j, i)
                for n in range(triangles_of[case]):
                    for corner in range(3):
                        edge = edges[case, 3 * n + corner]
                        above, far = (edge >> 1) & 1, edge & 1
                        if edge < 4:
                            number = numbers[low ^ above, j + far, i]
                        elif edge < 8:
                            number = numbers[2 + (low ^ above), j, i + far]
                        else:
                            number = along_k[j + above, i + far]
                        triangles[face, corner] = number
                    face += 1
