"""Seeds of curves: where the unit force converges, and where the surface is sharp."""

import numpy as np

from FuzzyVesselCoreLib.progress import Progress
from FuzzyVesselCoreLib.threads import in_parts

from ..field.solid import eroded
from ..object.voxel_classes import BOUNDARY

TIE = 1e-4  # smaller differences can be rounding errors: the position decides
REACH = 3  # voxels on each side of the cube in which the surface's curvature is measured
SHARP = 0.28  # share of the cube inside the object: about 4/7 on a plane, 1/3 on an edge


def divergence_seeds(
    vectors: np.ndarray, classes: np.ndarray, share: float, progress: Progress | None = None
) -> np.ndarray:
    """Local minima of the unit force's divergence in the lowest part of its range.

    Parameters
    ----------
    vectors : ndarray of float32, shape (K, J, I, 3)
        Forces.
    classes : ndarray of uint8, shape (K, J, I)
        There are forces at boundary and inner voxels alone.
    share : float
        0 to 100: per cent of the range between the lowest and the highest divergence (Cornea et
        al. 2005); 0 gives no seeds.
    progress : Progress, optional
        Checked between steps.

    Returns
    -------
    ndarray of int, (n, 3)
        Voxels K, J, I, the lowest divergence first.
    """
    progress = Progress.of(progress)

    def work(first: int, last: int) -> tuple[np.ndarray, np.ndarray]:
        planes = slice(first, last + 2)  # with one before and one behind
        voxels, values = _unit_divergence(vectors[planes], classes[planes])
        return voxels + first * classes[0].size, values

    nothing = np.empty(0, np.int64), np.empty(0, np.float32)
    found = in_parts(work, max(len(classes) - 2, 0), classes.size)
    voxels, values = (np.concatenate(parts) for parts in zip(nothing, *found))
    progress.check()
    if share <= 0 or not len(voxels):
        return np.empty((0, 3), np.int64)
    divergence = np.full(classes.shape, np.inf, np.float32)
    divergence.reshape(-1)[voxels] = values
    highest = values.min() + share / 100 * (values.max() - values.min())
    return _lowest_first(divergence, voxels[values <= highest])


def _unit_divergence(vectors: np.ndarray, classes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Inner voxels (flat) of a box, all of whose six neighbours have a force, and the divergence.

    By central differences; voxels at the border of the box are left out.
    """
    forces, forced = vectors.reshape(-1, 3), np.flatnonzero(classes >= BOUNDARY)
    lengths = np.sqrt((forces[forced].astype(float) ** 2).sum(axis=1))
    has_force, is_inside = np.zeros(classes.size, bool), np.zeros(classes.shape, bool)
    has_force[forced] = lengths > 0
    is_inside[1:-1, 1:-1, 1:-1] = classes[1:-1, 1:-1, 1:-1] > 0
    voxels, steps = np.flatnonzero(is_inside), (classes[0].size, classes.shape[2], 1)
    for step in steps:
        voxels = voxels[has_force[voxels + step]]
        voxels = voxels[has_force[voxels - step]]
    total, component = np.zeros(len(voxels)), np.zeros(classes.size)
    for axis, step in enumerate(steps):
        component[forced] = forces[forced, axis] / np.maximum(lengths, 1e-300)
        total += 0.5 * (component[voxels + step] - component[voxels - step])
    return voxels, total.astype(np.float32)


def curvature_seeds(mask: np.ndarray, progress: Progress | None = None) -> np.ndarray:
    """Surface voxels where the object takes up the least of a cube round them.

    Parameters
    ----------
    mask : ndarray of bool, shape (K, J, I)
        The object, which must not touch the border of the array.
    progress : Progress, optional
        Checked between steps.

    Returns
    -------
    ndarray of int, (n, 3)
        Voxels K, J, I, the sharpest first.
    """
    from scipy import ndimage

    progress = Progress.of(progress)
    share = ndimage.uniform_filter(mask.astype(np.float32), 2 * REACH + 1, mode="constant")
    progress.check()
    share = ndimage.uniform_filter(share, 3, mode="constant")  # plateaus get one lowest voxel
    progress.check()
    share[~mask | eroded(mask)] = np.inf
    return _lowest_first(share, np.flatnonzero(share <= SHARP))


def _lowest_first(values: np.ndarray, voxels: np.ndarray) -> np.ndarray:
    """Those voxels (flat, none on the border) that are local minima, as (n, 3), the lowest first.

    Of values equal within `TIE` the first in memory is the lowest.
    """
    flat, (_, rows, width) = values.reshape(-1), values.shape
    for n, (k, j, i) in enumerate(np.ndindex(3, 3, 3)):
        here = flat[voxels].astype(float)
        other = flat[voxels + (((k - 1) * rows + j - 1) * width + i - 1)]
        voxels = voxels[other > here + TIE if n < 13 else other >= here - TIE]
    order = np.argsort(flat[voxels], kind="stable")
    rising = flat[voxels][order]
    group = np.cumsum(np.diff(rising, prepend=rising[:1]) > TIE)
    order = order[np.lexsort((order, group))]
    return np.stack(np.unravel_index(voxels[order], values.shape), axis=1)
