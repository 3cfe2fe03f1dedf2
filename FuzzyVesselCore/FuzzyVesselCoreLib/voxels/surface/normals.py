"""Normals of a surface at its vertices."""

import numpy as np
from numba import njit


def vertex_normals(vertices: np.ndarray, triangles: np.ndarray) -> np.ndarray:
    """Return the mean direction of the triangles around each vertex.

    Parameters
    ----------
    vertices : ndarray of float32, shape (N, 3)
        X, Y, Z.
    triangles : ndarray of int64, shape (M, 3)

    Returns
    -------
    ndarray of float32, shape (N, 3)
        Of length 1; 0 where the triangles have no area.

    Examples
    --------
    >>> corners = np.array([[0, 0, 0], [2, 0, 0], [0, 3, 0]], np.float32)
    >>> vertex_normals(corners, np.array([[0, 1, 2]]))[0]
    array([0., 0., 1.], dtype=float32)
    """
    normals = np.zeros(vertices.shape, np.float32)
    _add_normals(vertices, triangles, normals)
    return normals


@njit(cache=True, nogil=True)
def _add_normals(vertices, triangles, normals):
    """Add the directions of the triangles to their vertices, and make them as long as 1."""
    for n in range(len(triangles)):
        a, b, c = triangles[n, 0], triangles[n, 1], triangles[n, 2]
        ux = vertices[c, 0] - vertices[b, 0]
        uy = vertices[c, 1] - vertices[b, 1]
        uz = vertices[c, 2] - vertices[b, 2]
        vx = vertices[a, 0] - vertices[b, 0]
        vy = vertices[a, 1] - vertices[b, 1]
        vz = vertices[a, 2] - vertices[b, 2]
        x, y, z = uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx
        length = np.sqrt(x * x + y * y + z * z)
        if length > 0:
            for vertex in (a, b, c):
                normals[vertex, 0] += x / length
                normals[vertex, 1] += y / length
                normals[vertex, 2] += z / length
    for n in range(len(vertices)):
        x, y, z = normals[n, 0], normals[n, 1], normals[n, 2]
        length = np.sqrt(x * x + y * y + z * z)
        if length > 0:
            normals[n, 0], normals[n, 1], normals[n, 2] = x / length, y / length, z / length
