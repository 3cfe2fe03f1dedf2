"""Vectors of 3 and matrices of 3 x 3 numbers as tuples, row-major: compiled code keeps them in
registers."""

import numpy as np

from FuzzyVesselCoreLib.jit.decorators import compiled_inside, inlined

from ..critical_points.trilinear import Matrix, Vector

SAME = 1e-9  # largest difference of vectors that are taken to be equal


@inlined
def divided(m: Matrix, by: float) -> Matrix:
    return (
        m[0] / by, m[1] / by, m[2] / by, m[3] / by, m[4] / by, m[5] / by, m[6] / by, m[7] / by,
        m[8] / by,
    )  # fmt: skip


@compiled_inside
def dot(a: Vector, b: Vector) -> float:
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@compiled_inside
def norm(vector: Vector) -> float:
    return np.sqrt(dot(vector, vector))


@inlined
def is_same(a: Vector, b: Vector) -> bool:
    return max(abs(a[0] - b[0]), abs(a[1] - b[1]), abs(a[2] - b[2])) < SAME


@compiled_inside
def matrix_vector(m: Matrix, vector: Vector) -> Vector:
    return (
        m[0] * vector[0] + m[1] * vector[1] + m[2] * vector[2],
        m[3] * vector[0] + m[4] * vector[1] + m[5] * vector[2],
        m[6] * vector[0] + m[7] * vector[1] + m[8] * vector[2],
    )


@compiled_inside
def matrix_product(a: Matrix, b: Matrix) -> Matrix:
    return (
        a[0] * b[0] + a[1] * b[3] + a[2] * b[6],
        a[0] * b[1] + a[1] * b[4] + a[2] * b[7],
        a[0] * b[2] + a[1] * b[5] + a[2] * b[8],
        a[3] * b[0] + a[4] * b[3] + a[5] * b[6],
        a[3] * b[1] + a[4] * b[4] + a[5] * b[7],
        a[3] * b[2] + a[4] * b[5] + a[5] * b[8],
        a[6] * b[0] + a[7] * b[3] + a[8] * b[6],
        a[6] * b[1] + a[7] * b[4] + a[8] * b[7],
        a[6] * b[2] + a[7] * b[5] + a[8] * b[8],
    )
