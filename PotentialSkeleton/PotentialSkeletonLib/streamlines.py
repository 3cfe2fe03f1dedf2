"""Curves that follow the force (Zhao et al. 2016, section 1, step 4).

A curve is an integral curve of the force as it is between the voxels, trilinear: its zeros are the
critical points, so from a saddle it leads to another critical point. It ends there, at a curve
that was traced before, or where the solid that carries the charges ends.

On a tube of constant width the force along the tube is some 1/200 of the force across it: steps
that follow the force alone would have to be as short. A step is therefore exponential Euler: across
the tube it settles on the valley at once, and its length is spent along it.
"""

from collections.abc import Iterator, Sequence

import numpy as np

from FuzzyVesselCoreLib.jit import compiled, compiled_inside, inlined, longer

from .critical_points import CriticalPoint

START = 0.3  # voxels from a saddle to the first point of its curves
NEAR = 0.5  # voxels within which a curve ends at a critical point or another curve
TIE = 1e-6  # squared voxels: of two points that are equally near, the one inserted first counts
MIN_STEP = 1e-4  # voxels: a curve ends where its step would be shorter
LOOK_BACK = 32  # points over which a curve must advance by more than NEAR
SAME_EIGENVALUE = 1e-3  # relative difference up to which eigenvalues are taken to be equal
NO_POINT = -1
PERIOD = 64  # voxels; of a power of two remainders are quick


class Tracer:
    """Traces curves one after the other, each up to those before it.

    `vectors` (float32, K, J, I, 3) are the forces, 0 where there is none; curves may run where
    `classes` is not 0, and end at the critical points `ends` (n, 3), in voxels.
    """

    def __init__(
        self, vectors: np.ndarray, classes: np.ndarray, ends: Sequence[np.ndarray]
    ) -> None:
        self.vectors, self._classes = vectors, classes
        # Points of earlier curves: voxels whose indices have the same remainders, which are far
        # apart, share a linked list of those that lie nearest to them.
        self._first = np.full((PERIOD, PERIOD, PERIOD), NO_POINT, np.int32)
        self._points, self._following = np.empty((1024, 3)), np.empty(1024, np.int32)
        self._used = 0
        self._insert(np.array(ends, float).reshape(-1, 3))

    def _insert(self, points: np.ndarray) -> None:
        """Let later curves end at points (n, 3)."""
        while self._used + len(points) > len(self._points):
            self._points = np.concatenate([self._points, np.empty_like(self._points)])
            self._following = np.concatenate([self._following, np.empty_like(self._following)])
        insert_points(points, self._used, self._points, self._following, self._first)
        self._used += len(points)

    def trace(self, start: np.ndarray, own: int = NO_POINT) -> np.ndarray:
        """Follow the force from a start (3,); points (n, 3), none where there is no way.

        `own` is the number, among `ends`, of the critical point that the curve comes from.
        """
        start = np.asarray(start, float)
        index = self._points, self._following, self._first
        return follow(self.vectors, self._classes, start, own, *index)

    def trace_along(self, lead: np.ndarray) -> np.ndarray:
        """A curve along a lead (m, 3), and along the force from its last point."""
        lead = np.asarray(lead, float)
        curve = np.concatenate([lead[:-1], self.trace(lead[-1])])
        self._insert(curve)
        return curve

    def core_curves(self, points: Sequence[CriticalPoint]) -> Iterator[np.ndarray]:
        """Yield the curves of level 1: from each saddle both ways along each outgoing eigenvector.

        `points` are those at the `ends`, in their order.
        """
        for own, point in enumerate(points):
            if not point.kind.startswith("saddle"):
                continue
            for direction in outgoing_directions(point):
                for step in (START * direction, -START * direction):
                    path = self.trace(point.position + step, own)
                    self._insert(path[1:])
                    yield np.concatenate([point.position[None], path])


@compiled
def insert_points(
    new_points: np.ndarray, used: int, points: np.ndarray, following: np.ndarray, first: np.ndarray
) -> None:
    for n in range(new_points.shape[0]):
        k, j, i = round(new_points[n, 0]), round(new_points[n, 1]), round(new_points[n, 2])
        here = used + n
        for axis in range(3):
            points[here, axis] = new_points[n, axis]
        following[here] = first[k % PERIOD, j % PERIOD, i % PERIOD]
        first[k % PERIOD, j % PERIOD, i % PERIOD] = here


@compiled_inside
def nearest_ahead(
    position: np.ndarray,
    step: np.ndarray,
    own: int,
    points: np.ndarray,
    following: np.ndarray,
    first: np.ndarray,
) -> int:
    """Number of the nearest point but `own` within `NEAR` of a position and not behind it, or -1.

    What lies behind is where a curve comes from, not where it leads.
    """
    best, found = NEAR * NEAR, NO_POINT
    for k in range(round(position[0] - NEAR), round(position[0] + NEAR) + 1):
        for j in range(round(position[1] - NEAR), round(position[1] + NEAR) + 1):
            for i in range(round(position[2] - NEAR), round(position[2] + NEAR) + 1):
                n = first[k % PERIOD, j % PERIOD, i % PERIOD]
                while n >= 0:
                    away_k, away_j = points[n, 0] - position[0], points[n, 1] - position[1]
                    away_i = points[n, 2] - position[2]
                    squared = away_k * away_k + away_j * away_j + away_i * away_i
                    is_ahead = away_k * step[0] + away_j * step[1] + away_i * step[2] >= 0
                    if squared < best and n != own and is_ahead:
                        best, found = squared - TIE, n
                    n = following[n]
    return found


@compiled
def follow(
    vectors: np.ndarray,
    free: np.ndarray,
    start: np.ndarray,
    own: int,
    points: np.ndarray,
    following: np.ndarray,
    first: np.ndarray,
) -> np.ndarray:
    """Follow the force from a start up to an indexed point, or as long as there is a way."""
    path = np.empty((256, 3))
    if not is_free(free, start):
        return path[:0]
    shape, longest = free.shape, 4.0 * (free.shape[0] + free.shape[1] + free.shape[2])
    step, corners, within = np.empty(3), np.empty((8, 3)), np.empty(3)
    low, workspace = np.empty(3, np.int64), step_workspace()
    for axis in range(3):  # to assign rows takes numba seconds to compile
        path[0, axis] = start[axis]
    count, travelled = 1, 0.0
    while travelled < longest:
        position = path[count - 1]
        has_cell = True
        for axis in range(3):
            low[axis] = np.floor(position[axis])
            within[axis] = position[axis] - low[axis]
            has_cell = has_cell and 0 <= low[axis] < shape[axis] - 1
        if not has_cell:
            break
        for n in range(8):
            for axis in range(3):
                corners[n, axis] = vectors[
                    low[0] + (n >> 2), low[1] + (n >> 1 & 1), low[2] + (n & 1), axis
                ]
        length = exponential_euler_step(corners, within, step, workspace)
        end = nearest_ahead(position, step, own, points, following, first)
        if count == path.shape[0]:
            path = longer(path, 2 * count)
        if end >= 0:
            for axis in range(3):
                path[count, axis] = points[end, axis]
            count += 1
            break
        if length < MIN_STEP:
            break
        for axis in range(3):
            path[count, axis] = path[count - 1, axis] + step[axis]
        if not is_free(free, path[count]):
            break
        count += 1
        travelled += length
        if count > LOOK_BACK:  # one that goes round and round a sink is still near
            away = path[count - 1] - path[count - LOOK_BACK]
            if away[0] * away[0] + away[1] * away[1] + away[2] * away[2] < NEAR * NEAR:
                break
    return path[:count]


@compiled_inside
def is_free(free: np.ndarray, position: np.ndarray) -> bool:
    """Whether curves may run in the voxel nearest to a position."""
    k, j, i = round(position[0]), round(position[1]), round(position[2])
    if not (0 <= k < free.shape[0] and 0 <= j < free.shape[1] and 0 <= i < free.shape[2]):
        return False
    return bool(free[k, j, i] != 0)


def outgoing_directions(point: CriticalPoint) -> list[np.ndarray]:
    """Unit vectors (3,) that span a critical point's outgoing eigenspace.

    An eigenvector of a symmetric point is determined but for its sign or, where eigenvalues are
    equal, a rotation within their eigenspace. Both are fixed by the axes K, J, I, so that rounding
    decides nothing.
    """
    directions: list[np.ndarray] = []
    values = point.eigenvalues.real.tolist()
    outward = [n for n in range(3) if values[n] > 0]
    while outward:
        limit = values[outward[0]] * (1 + SAME_EIGENVALUE)
        same = sum(values[n] <= limit for n in outward)
        vectors = point.eigenvectors[:, outward[0] : outward[0] + same]
        basis = vectors.real
        if same > 1:  # a complex pair spans a plane as its real and imaginary parts
            both = np.concatenate([basis, vectors.imag], axis=1)
            basis = np.linalg.svd(both)[0][:, :same]
        directions += _basis_near_axes(basis)
        outward = outward[same:]
    return directions


def _basis_near_axes(basis: np.ndarray) -> list[np.ndarray]:
    """Orthonormal vectors with the span of a basis (3, n), made of projections of the axes."""
    found: list[np.ndarray] = []
    for _ in range(basis.shape[1]):
        projections = basis @ basis.T - sum(np.outer(vector, vector) for vector in found)
        axis = np.argmax(np.round(np.diag(projections), 3))
        found.append(projections[axis] / np.linalg.norm(projections[axis]))
    return found


# ---- One exponential Euler step along a force that is trilinear between the voxels, compiled.
# The unit force, linear round a position x, moves a point by t phi_1(t J) f in the time t, with J
# its Jacobian and phi_1(z) = (exp(z) - 1) / z. Doubling the time squares exp(t J). Vectors and
# matrices are tuples, row by row: compiled code keeps them in registers.

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
