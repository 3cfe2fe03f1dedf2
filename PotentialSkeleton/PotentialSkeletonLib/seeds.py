"""Seeds of curves: where the unit force converges, and where the surface is sharp."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from FuzzyVesselCoreLib.gpu.kernels import launch_per_item
from FuzzyVesselCoreLib.jit import compiled, compiled_inside
from FuzzyVesselCoreLib.progress import Progress, in_parts
from FuzzyVesselCoreLib.voxels.masks import erode

from .critical_points import CORNERS
from .voxel_classes import BOUNDARY

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
    from scipy import ndimage

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


# ---- Cells between eight voxels in which a vector field may have a root


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
    found = [0]
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
