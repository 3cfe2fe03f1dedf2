"""A trilinear vector field within a cell, and Newton steps to its roots; compiled."""

import numpy as np

from FuzzyVesselCoreLib.jit.decorators import compiled_inside

NEWTON_STEPS = 30

Vector = tuple[float, float, float]
Matrix = tuple[float, float, float, float, float, float, float, float, float]


@compiled_inside
def force_and_slopes(corners: np.ndarray, k: float, j: float, i: float) -> tuple[Vector, Matrix]:
    """Return force and Jacobian at a place within the unit cell: tuples of 3 and of 9 numbers."""
    force_k = force_j = force_i = 0.0
    kk = kj = ki = jk = jj = ji = ik = ij = ii = 0.0
    for n in range(8):
        from_k = k if n >> 2 else 1 - k
        from_j = j if n >> 1 & 1 else 1 - j
        from_i = i if n & 1 else 1 - i
        slope_k = from_j * from_i if n >> 2 else -from_j * from_i
        slope_j = from_k * from_i if n >> 1 & 1 else -from_k * from_i
        slope_i = from_k * from_j if n & 1 else -from_k * from_j
        share = from_k * from_j * from_i
        along_k, along_j, along_i = corners[n, 0], corners[n, 1], corners[n, 2]
        force_k += share * along_k
        kk += slope_k * along_k
        kj += slope_j * along_k
        ki += slope_i * along_k
        force_j += share * along_j
        jk += slope_k * along_j
        jj += slope_j * along_j
        ji += slope_i * along_j
        force_i += share * along_i
        ik += slope_k * along_i
        ij += slope_j * along_i
        ii += slope_i * along_i
    return (force_k, force_j, force_i), (kk, kj, ki, jk, jj, ji, ik, ij, ii)


@compiled_inside
def newton_step(slopes: Matrix, force: Vector, scale: float) -> tuple[bool, Vector]:
    """Solve slopes @ step = force, both divided by a scale, by Cramer's rule.

    Returns whether there is one step, and the step.
    """
    a, b, c, d, e, f, g, h, i = slopes
    a, b, c = a / scale, b / scale, c / scale
    d, e, f = d / scale, e / scale, f / scale
    g, h, i = g / scale, h / scale, i / scale
    u, v, w = force[0] / scale, force[1] / scale, force[2] / scale
    second_third = e * i - f * h, f * g - d * i, d * h - e * g
    determinant = a * second_third[0] + b * second_third[1] + c * second_third[2]
    if abs(determinant) < 1e-30:
        return False, (0.0, 0.0, 0.0)
    third_first = h * c - i * b, i * a - g * c, g * b - h * a
    first_second = b * f - c * e, c * d - a * f, a * e - b * d
    return True, (
        (u * second_third[0] + v * third_first[0] + w * first_second[0]) / determinant,
        (u * second_third[1] + v * third_first[1] + w * first_second[1]) / determinant,
        (u * second_third[2] + v * third_first[2] + w * first_second[2]) / determinant,
    )


@compiled_inside
def newton(corners: np.ndarray, k: float, j: float, i: float) -> tuple[bool, Vector, Matrix]:
    """Return whether Newton steps from a place converge, where, and the Jacobian there."""
    scale = 0.0
    for corner in range(8):
        for axis in range(3):
            scale = max(scale, abs(corners[corner, axis]))
    for _ in range(NEWTON_STEPS):
        force, slopes = force_and_slopes(corners, k, j, i)
        is_one, step = newton_step(slopes, force, scale)
        if not is_one:
            break
        k, j, i = k - step[0], j - step[1], i - step[2]
        if max(abs(k - 0.5), abs(j - 0.5), abs(i - 0.5)) > 2:
            break
        if max(abs(step[0]), abs(step[1]), abs(step[2])) < 1e-10:
            return True, (k, j, i), force_and_slopes(corners, k, j, i)[1]
    return False, (k, j, i), (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
