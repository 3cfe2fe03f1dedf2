"""One exponential Euler step along a force that is trilinear between the voxels, compiled.

The unit force, linear round a position x, moves a point by t phi_1(t J) f in the time t, with J its
Jacobian and phi_1(z) = (exp(z) - 1) / z. Doubling the time squares exp(t J). Vectors and matrices
are tuples, row by row: compiled code keeps them in registers.
"""

import numpy as np

from FuzzyVesselCoreLib.jit import compiled_inside, inlined

STEP = 0.25  # longest step, in voxels
MAX_DOUBLINGS = 64  # of the time of a step
RETRIED_DOUBLINGS = 6  # the last ones, when the time is refined
SAME = 1e-9  # largest difference of displacements that are taken to be equal

Vector = tuple[float, float, float]
Matrix = tuple[float, float, float, float, float, float, float, float, float]


@inlined
def step_workspace() -> np.ndarray:
    """Scratch array of `exponential_euler_step`, which is called at every point of a curve."""
    return np.empty((MAX_DOUBLINGS, 12))


@compiled_inside
def exponential_euler_step(
    corners: np.ndarray, position: np.ndarray, step: np.ndarray, workspace: np.ndarray
) -> float:
    """Displacement along the linearised force, at most `STEP` voxels long; returns its length.

    The series of a short time starts it; the time is doubled as long as the displacement is short
    enough. Then the last doublings are tried again, each added as a whole. `corners` (8, 3) are the
    forces of the cell that the position lies in, `step` is the output, `workspace` from
    `step_workspace`. 0 where there is no force.
    """
    force, jacobian = force_and_slopes(corners, position[0], position[1], position[2])
    speed = norm(force)
    if speed == 0:
        step[0] = step[1] = step[2] = 0
        return 0.0
    force = (force[0] / speed, force[1] / speed, force[2] / speed)
    exponential, shift = short_step(force, divided(jacobian, speed))
    last = 0
    store(workspace[0], exponential, shift)
    while last + 1 < MAX_DOUBLINGS:
        longer = composed(exponential, shift, shift)
        if not norm(longer) <= STEP or is_same(longer, shift):
            break
        exponential, shift = matrix_product(exponential, exponential), longer
        last += 1
        store(workspace[last], exponential, shift)
    for n in range(last, max(last - RETRIED_DOUBLINGS, -1), -1):
        exponential, following = stored(workspace[n])
        longer = composed(exponential, shift, following)
        if dot(longer, longer) <= STEP * STEP:
            shift = longer
    step[0], step[1], step[2] = shift
    return norm(shift)


@inlined
def short_step(force: Vector, jacobian: Matrix) -> tuple[Matrix, Vector]:
    """Matrix exponential and displacement of a time so short that four terms of the series do."""
    steepest = 1e-12
    for slope in jacobian:
        steepest = max(steepest, abs(slope))
    time = min(STEP / 16, 0.125 / steepest)
    exponential, phi = exponential_and_phi(jacobian, time)
    shift = matrix_vector(phi, force)
    return exponential, (time * shift[0], time * shift[1], time * shift[2])


@compiled_inside
def exponential_and_phi(jacobian: Matrix, time: float) -> tuple[Matrix, Matrix]:
    """exp(t J) and phi_1(t J) up to the third power of t J."""
    a, b, c, d, e, f, g, h, i = jacobian
    one = (a * time, b * time, c * time, d * time, e * time, f * time, g * time, h * time, i * time)
    two = matrix_product(one, one)
    three = matrix_product(two, one)
    exponential = (
        exponential_term(one[0], two[0], three[0]) + 1,
        exponential_term(one[1], two[1], three[1]),
        exponential_term(one[2], two[2], three[2]),
        exponential_term(one[3], two[3], three[3]),
        exponential_term(one[4], two[4], three[4]) + 1,
        exponential_term(one[5], two[5], three[5]),
        exponential_term(one[6], two[6], three[6]),
        exponential_term(one[7], two[7], three[7]),
        exponential_term(one[8], two[8], three[8]) + 1,
    )
    phi = (
        phi_term(one[0], two[0], three[0]) + 1,
        phi_term(one[1], two[1], three[1]),
        phi_term(one[2], two[2], three[2]),
        phi_term(one[3], two[3], three[3]),
        phi_term(one[4], two[4], three[4]) + 1,
        phi_term(one[5], two[5], three[5]),
        phi_term(one[6], two[6], three[6]),
        phi_term(one[7], two[7], three[7]),
        phi_term(one[8], two[8], three[8]) + 1,
    )
    return exponential, phi


@compiled_inside
def exponential_term(one: float, two: float, three: float) -> float:
    return one + two / 2 + three / 6


@compiled_inside
def phi_term(one: float, two: float, three: float) -> float:
    return one / 2 + two / 6 + three / 24


@compiled_inside
def composed(exponential: Matrix, shift: Vector, following: Vector) -> Vector:
    """Displacement of the step `following` and then, propagated by its exponential, of `shift`."""
    more = matrix_vector(exponential, shift)
    return following[0] + more[0], following[1] + more[1], following[2] + more[2]


@compiled_inside
def store(row: np.ndarray, m: Matrix, shift: Vector) -> None:
    (row[0], row[1], row[2], row[3], row[4], row[5], row[6], row[7], row[8]) = m
    row[9], row[10], row[11] = shift


@inlined
def stored(row: np.ndarray) -> tuple[Matrix, Vector]:
    m = (row[0], row[1], row[2], row[3], row[4], row[5], row[6], row[7], row[8])
    return m, (row[9], row[10], row[11])


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
