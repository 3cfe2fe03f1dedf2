"""Smoothing of a surface by a low-pass filter that does not shrink it (windowed sinc).

This is not `vtkWindowedSincPolyDataFilter`, whose results it has to float32 rounding: it takes a
third of its processor seconds (0.06 instead of 0.19 for 182,000 triangles), and lends the
interpreter however VTK was built.

References
----------
G. Taubin, T. Zhang, G. Golub: Optimal surface smoothing as filter design. ECCV 1996.
"""

import functools

import numpy as np
from numba import njit

# Of Nuttall's window; VTK's default one since 9.4.
NUTTALL = np.array([0.355768, 0.487396, 0.144232, 0.012604])
NEAR_ONE, MAX_STEPS = 1e-3, 500  # of the filter at the pass band's end; of Newton's method


def smoothed(
    vertices: np.ndarray, triangles: np.ndarray, pass_band: float, iterations: int
) -> np.ndarray:
    """Return vertices of a closed surface, moved by the low-pass filter.

    Parameters
    ----------
    vertices : ndarray of float32, shape (N, 3)
    triangles : ndarray of int64, shape (M, 3)
        Each edge is one of two triangles (or of four), once in each direction.
    pass_band : float
        0..2: the smaller, the smoother.
    iterations : int
        Degree of the polynomial, 2 or more.

    Returns
    -------
    ndarray of float32, shape (N, 3)

    Examples
    --------
    >>> from .triangles import boundary_triangles
    >>> ball = np.pad(np.ones((3, 3, 3), np.uint8), 1)
    >>> smoothed(*boundary_triangles(ball), 0.01, 40).mean(axis=0).round(3)
    array([2., 2., 2.], dtype=float32)
    """
    if not len(vertices):
        return vertices
    starts = np.zeros(len(vertices) + 1, np.int32)
    np.cumsum(np.bincount(triangles.reshape(-1), minlength=len(vertices)), out=starts[1:])
    neighbours = np.empty(starts[-1], np.int32)
    _fill_neighbours(triangles, starts[:-1].copy(), neighbours)
    coefficients = filter_coefficients(pass_band, iterations).astype(np.float32)
    centre = (vertices.min(axis=0) + vertices.max(axis=0)) / 2
    values = vertices - centre
    found = np.empty_like(values)
    before, last = values.copy(), np.empty_like(values)
    _filter(values, starts, neighbours, coefficients, before, last, found)
    found += centre
    return found


@functools.lru_cache(16)
def filter_coefficients(pass_band: float, iterations: int) -> np.ndarray:
    """Coefficients of the filter's Chebyshev polynomials.

    The sinc's band is widened or narrowed until the filter is 1 where the pass band ends.

    Returns
    -------
    ndarray of float64, shape (iterations + 1,)
    """
    degrees = np.arange(iterations + 1)
    angles = degrees * np.pi / (iterations + 1)
    window = NUTTALL @ np.cos(np.outer(range(len(NUTTALL)), angles))
    theta = np.arccos(1 - pass_band / 2)
    polynomials = np.cos(degrees * theta)  # their values where the pass band ends
    offset = 0.0
    for _ in range(MAX_STEPS):
        band = theta + offset
        found = window * 2 * np.sin(degrees * band) / (np.maximum(degrees, 1) * np.pi)
        found[0] = window[0] * band / np.pi
        error = found @ polynomials - 1
        if abs(error) < NEAR_ONE:
            break
        offset -= error / (_derivative(found) @ polynomials)
    return found


def _derivative(series: np.ndarray) -> np.ndarray:
    """VTK's derivative of a Chebyshev series: without the highest degree, and twice the constant.

    With the true one the steps would end elsewhere in the tolerance, so that surfaces would differ
    from Slicer's by a hundredth of a voxel.
    """
    found = np.zeros_like(series)
    for n in range(len(series) - 3, -1, -1):
        found[n] = found[n + 2] + 2 * (n + 1) * series[n + 1]
    return found


# Compiled code gets its arrays ready: numba compiles long for making one.
@njit(cache=True, nogil=True)
def _fill_neighbours(triangles, free, neighbours):
    """Each vertex's neighbours, from its first free place on: the ends of the edges from it."""
    for n in range(len(triangles)):
        for corner in range(3):
            vertex = triangles[n, corner]
            neighbours[free[vertex]] = triangles[n, (corner + 1) % 3]
            free[vertex] += 1


@njit(cache=True, nogil=True)
def _filter(values, starts, neighbours, coefficients, before, last, found):
    """Filter points: each polynomial from the two before it, the new one in place of the older."""
    half, one = np.float32(0.5), np.float32(1)
    for degree in range(1, len(coefficients)):
        share = coefficients[degree]
        source = values if degree == 1 else last
        for n in range(len(values)):
            x, y, z = np.float32(0), np.float32(0), np.float32(0)
            for place in range(starts[n], starts[n + 1]):
                other = neighbours[place]
                x += source[other, 0]
                y += source[other, 1]
                z += source[other, 2]
            weight = one / np.float32(starts[n + 1] - starts[n])
            if degree == 1:
                last[n, 0] = half * (values[n, 0] + x * weight)
                last[n, 1] = half * (values[n, 1] + y * weight)
                last[n, 2] = half * (values[n, 2] + z * weight)
                for axis in range(3):
                    found[n, axis] = coefficients[0] * values[n, axis] + share * last[n, axis]
            else:
                x = last[n, 0] + x * weight - before[n, 0]
                y = last[n, 1] + y * weight - before[n, 1]
                z = last[n, 2] + z * weight - before[n, 2]
                before[n, 0], before[n, 1], before[n, 2] = x, y, z
                found[n, 0] += share * x
                found[n, 1] += share * y
                found[n, 2] += share * z
        if degree > 1:
            before, last = last, before
