"""Where curves begin: where the unit force converges, where the surface is sharp, and at roots."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from scipy import ndimage

from FuzzyVesselCoreLib.gpu.kernels import launch_per_item
from FuzzyVesselCoreLib.jit import compiled, compiled_inside
from FuzzyVesselCoreLib.progress import Progress, in_parts
from FuzzyVesselCoreLib.voxels.masks import erode

from .force_field import BOUNDARY

KERNELS = Path(__file__).with_suffix(".cu")
TIE = 1e-4  # smaller differences can be rounding errors: the position decides
REACH = 3  # voxels on each side of the cube in which the surface's curvature is measured
SHARP = 0.28  # share of the cube inside the object: about 4/7 on a plane, 1/3 on an edge


def divergence_seeds(
    vectors: np.ndarray,
    classes: np.ndarray,
    share: float,
    progress: Progress | None = None,
    gpu: Any = None,
) -> np.ndarray:
    """Local minima of the unit force's divergence in the lowest part of its range.

    Forces (float32, K, J, I, 3) are at boundary and inner voxels (`classes`) alone. The share is
    per cent of the range between the lowest and the highest divergence (Cornea et al. 2005); 0
    gives no seeds. Returns voxels K, J, I (n, 3), the lowest divergence first.
    """
    progress = Progress.of(progress)
    if share <= 0:
        return np.empty((0, 3), np.int64)
    xp = np if gpu is None else gpu.xp
    if gpu is None:
        divergence = np.empty(classes.shape, np.float32)
        found = in_parts(
            lambda first, last: unit_divergence(vectors, classes, divergence, first, last),
            len(classes),
            classes.size,
        )
    else:
        divergence = xp.full(classes.shape, np.inf, np.float32)
        task = _grid(gpu, vectors, classes), divergence
        launch_per_item(gpu, KERNELS, "unit_divergence", classes.size, task)
        finite = xp.where(divergence < np.inf, divergence, -np.inf)
        found = [(gpu.get(divergence.min()), gpu.get(finite.max()))]
    progress.check()
    lowest, highest = (np.float32(f(ends)) for f, ends in zip((min, max), zip(*found)))
    if lowest > highest:
        return np.empty((0, 3), np.int64)
    voxels = xp.flatnonzero(divergence <= lowest + share / 100 * (highest - lowest))
    return _lowest_first(divergence, voxels, np.asarray if gpu is None else gpu.get)


def _grid(gpu: Any, vectors: np.ndarray, classes: np.ndarray) -> Any:
    """The struct `Grid` of seeds.cu."""
    return gpu.record(gpu.put(vectors), gpu.put(classes), *map(np.int64, classes.shape))


@compiled
def unit_divergence(vectors, classes, divergence, first, last):
    """Write the divergence to some planes by central differences; the lowest and the highest value.

    It is infinite but for voxels off the border of the volume all of whose six neighbours have a
    force.
    """
    shape, least, most = classes.shape, np.float32(np.inf), np.float32(-np.inf)
    for k in range(first, last):
        for j in range(shape[1]):
            for i in range(shape[2]):
                divergence[k, j, i] = np.inf
                is_off = 0 < k < shape[0] - 1 and 0 < j < shape[1] - 1 and 0 < i < shape[2] - 1
                if not is_off or classes[k, j, i] == 0:
                    continue
                total = 0.0
                for axis in range(3):
                    a, b, c = axis == 0, axis == 1, axis == 2
                    after = unit_force(vectors, classes, k + a, j + b, i + c, axis)
                    before = unit_force(vectors, classes, k - a, j - b, i - c, axis)
                    total += 0.5 * (after - before)
                if abs(total) < np.inf:  # infinite or no number where a neighbour has no force
                    value = np.float32(total)
                    divergence[k, j, i] = value
                    least, most = min(least, value), max(most, value)
    return least, most


@compiled_inside
def unit_force(vectors, classes, k, j, i, axis):
    """A component of the force by its length; infinite where there is no force."""
    if classes[k, j, i] < BOUNDARY:
        return np.inf
    square = 0.0
    for n in range(3):
        square += np.float64(vectors[k, j, i, n]) ** 2
    if square == 0:
        return np.inf
    return vectors[k, j, i, axis] / max(np.sqrt(square), 1e-300)


def curvature_seeds(mask: np.ndarray, progress: Progress | None = None) -> np.ndarray:
    """Surface voxels (n, 3) where the object takes up the least of a cube round them, in order.

    The mask (bool, K, J, I) does not touch the border of the array.
    """
    progress = Progress.of(progress)
    share = ndimage.uniform_filter(mask.astype(np.float32), 2 * REACH + 1, mode="constant")
    progress.check()
    share = ndimage.uniform_filter(share, 3, mode="constant")  # plateaus get one lowest voxel
    progress.check()
    share[~mask | erode(mask)] = np.inf
    return _lowest_first(share, np.flatnonzero(share <= SHARP))


def _lowest_first(values: Any, voxels: Any, get: Callable = np.asarray) -> np.ndarray:
    """Those voxels (flat, none on the border) that are local minima, as (n, 3), the lowest first.

    Of values equal within `TIE` the first in memory is the lowest. ``get`` copies from the device.
    """
    flat, (_, rows, width) = values.reshape(-1), values.shape
    for n, (k, j, i) in enumerate(np.ndindex(3, 3, 3)):
        here = flat[voxels].astype(float)
        other = flat[voxels + (((k - 1) * rows + j - 1) * width + i - 1)]
        voxels = voxels[other > here + TIE if n < 13 else other >= here - TIE]
    voxels, lowest = get(voxels), get(flat[voxels])
    order = np.argsort(lowest, kind="stable")
    rising = lowest[order]
    group = np.cumsum(np.diff(rising, prepend=rising[:1]) > TIE)
    order = order[np.lexsort((order, group))]
    return np.stack(np.unravel_index(voxels[order], values.shape), axis=1)


# ---- Roots of a vector field that is trilinear between voxels, by subdivision and Newton steps
# A trilinear field has no root in a cell without a change of sign among its corners, nor in such a
# part of a cell, within which it is trilinear again. Nor is there one where a combination of its
# components has none: those that are nearly the offset from the root along each axis tell most.

MAX_SUBDIVISIONS = 4  # of a cell along each axis before Newton steps begin
NEWTON_STEPS = 30
NEAR_ZERO = 1e-5  # share of the largest product below which a combination may be 0 close by
CORNERS = np.array(list(np.ndindex(2, 2, 2)))  # of a cell, K, J, I
# Of each of the eight parts of a cell, the places of its corners on a grid of 27.
CORNERS_OF_PARTS = (CORNERS[:, None] + CORNERS) @ np.array([9, 3, 1])


def cells_with_sign_changes(
    vectors: np.ndarray, classes: np.ndarray, lowest_class: int, gpu: Any = None
) -> tuple[np.ndarray, np.ndarray]:
    """Cells of eight voxels, all of at least a class, in which all components change sign.

    Returns their first corners (n, 3; K, J, I, rising) and the vectors at their corners (n, 8, 3),
    I fastest.
    """
    offsets = CORNERS @ [classes[0].size, classes.shape[2], 1]
    values, flat = vectors.reshape(-1, 3), classes.reshape(-1)

    def work(first: int, last: int) -> np.ndarray:
        return cells_of_planes(values, flat, classes.shape, offsets, lowest_class, first, last)

    if gpu is None:
        found = in_parts(work, len(classes) - 1, classes.size)
    else:
        marks = gpu.xp.empty(classes.size, bool)
        task = _grid(gpu, vectors, classes), np.int32(lowest_class), marks
        launch_per_item(gpu, KERNELS, "mark_cells", classes.size, task)
        found = [gpu.get(gpu.xp.flatnonzero(marks))]
    cells = np.concatenate([np.empty(0, np.int64), *found])
    return np.stack(np.unravel_index(cells, classes.shape), axis=1), values[
        cells[:, None] + offsets
    ]


@compiled
def cells_of_planes(vectors, classes, shape, offsets, lowest_class, first, last):
    """The same, flat, of cells that begin in some planes, from all vectors and classes (flat)."""
    found = [0]  # left out below: numba has the list's type from it
    for k in range(first, last):
        for j in range(shape[1] - 1):
            row = (k * shape[1] + j) * shape[2]
            for cell in range(row, row + shape[2] - 1):
                if classes[cell] < lowest_class:
                    continue
                is_found, axis = True, 0
                for offset in offsets[1:]:
                    is_found = is_found and classes[cell + offset] >= lowest_class
                while is_found and axis < 3:
                    low = high = vectors[cell, axis]
                    for offset in offsets[1:]:
                        low = min(low, vectors[cell + offset, axis])
                        high = max(high, vectors[cell + offset, axis])
                    is_found = low <= 0 and high >= 0 and low < high
                    axis += 1
                if is_found:
                    found.append(cell)
    return np.array(found)[1:]


def find_roots(corners: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Roots within cells, whose corners (n, 8, 3) are those of `cells_with_sign_changes`.

    Returns the number of the cell (m,) that each root lies in, its place in the unit cell (m, 3)
    and the Jacobian there (m, 3, 3).
    """
    corners = corners.astype(float)
    cell, size = np.flatnonzero(_may_have_root(corners)), 1.0
    low, parts = np.zeros((len(cell), 3)), corners[cell]
    for _ in range(MAX_SUBDIVISIONS):
        size /= 2
        grid = parts.swapaxes(0, 1).reshape(2, 2, 2, -1, 3)
        for axis in range(3):
            first, last = np.moveaxis(grid, axis, 0)
            grid = np.stack([first, (first + last) / 2, last], axis)
        parts = grid.reshape(27, -1, 3)[CORNERS_OF_PARTS]  # (8, 8, n, 3)
        least, most = parts.min(axis=1), parts.max(axis=1)
        n, part = np.nonzero(((least <= 0) & (most >= 0) & (least < most)).all(axis=2).T)
        parts = parts[part, :, n]
        likely = _may_have_root(parts)
        n, part, parts = n[likely], part[likely], parts[likely]
        cell, low = cell[n], low[n] + size * CORNERS[part]
    middle = low + size / 2
    converged, places = _newton(corners[cell], middle)
    # A root outside its part is found from the part that holds it.
    found = converged & (abs(places - middle) <= size / 2 * (1 + 1e-6)).all(axis=1)
    cell, places = cell[found], places[found]
    return cell, places, force_and_jacobian(corners[cell], places)[1]


def force_and_jacobian(corners: np.ndarray, places: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Force (n, 3) and Jacobian (n, 3, 3) of trilinear fields (n, 8, 3) at places in the cell."""
    shares = np.where(CORNERS, places[:, None], 1 - places[:, None])  # (n, 8, 3)
    slopes = np.where(CORNERS, 1.0, -1.0)
    k, j, i = shares.transpose(2, 0, 1)
    force = ((k * j * i)[:, None] @ corners)[:, 0]
    by_axis = np.stack([j * i * slopes[:, 0], k * i * slopes[:, 1], k * j * slopes[:, 2]], axis=2)
    return force, corners.swapaxes(1, 2) @ by_axis


def _may_have_root(corners: np.ndarray) -> np.ndarray:
    """Whether all combinations of the components (n, 8, 3) by the adjugate Jacobian change sign."""
    slopes = corners.swapaxes(1, 2) @ np.where(CORNERS, 0.25, -0.25)  # in the middle
    adjugate = np.cross(slopes[:, [1, 2, 0]], slopes[:, [2, 0, 1]])
    values = np.ascontiguousarray((corners @ adjugate).swapaxes(0, 1))  # quick to compare
    limit = abs(corners).max(axis=(1, 2)) * abs(adjugate).max(axis=(1, 2)) * NEAR_ZERO
    least, most = values.min(axis=0), values.max(axis=0)
    return ((least <= limit[:, None]) & (most >= -limit[:, None])).all(axis=1)


def _newton(corners: np.ndarray, places: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Whether Newton steps from each place in its cell converge, and where."""
    corners = corners / np.maximum(abs(corners).max(axis=(1, 2), keepdims=True), 1e-300)
    places, converged = places.copy(), np.zeros(len(places), bool)
    active = np.arange(len(places))
    for _ in range(NEWTON_STEPS):
        if not len(active):
            break
        force, jacobian = force_and_jacobian(corners[active], places[active])
        regular = abs(np.linalg.det(jacobian)) >= 1e-30
        active, force, jacobian = active[regular], force[regular], jacobian[regular]
        step = np.linalg.solve(jacobian, force[..., None])[..., 0]
        places[active] -= step
        is_near = (abs(places[active] - 0.5) <= 2).all(axis=1)
        is_short = (abs(step) < 1e-10).all(axis=1)
        converged[active[is_near & is_short]] = True
        active = active[is_near & ~is_short]
    return converged, places
