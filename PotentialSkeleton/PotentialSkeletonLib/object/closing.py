"""Voxels that lie, as a whole, within a distance of an object: what a ball closes.

The object is the union of its voxels' closed boxes. So a slit, or a straight tunnel along the grid,
of n voxels is full from a distance of n / 2 voxels on, whether n is even or odd.
"""

from collections.abc import Sequence

import numpy as np

from FuzzyVesselCoreLib.jit.decorators import compiled, compiled_inside
from FuzzyVesselCoreLib.progress import Progress
from FuzzyVesselCoreLib.threads import in_parts

VOXELS_PER_SLICE = 1 << 13  # tested between two checks of the progress
VOXELS_PER_POINT = 256  # that are worked on otherwise in the time of one voxel
ROUNDING = 1e-5  # share of the distance


def covered(
    mask: np.ndarray,
    away: np.ndarray,
    distance: float,
    spacing: Sequence[float],
    progress: Progress | None = None,
) -> np.ndarray:
    """Return the voxels no point of which is further than `distance` from the object.

    The distance to the object is computed where it can be largest between voxels of a grid: at the
    centre of a voxel and of its faces, at the middle of its edges, and at its corners.

    Parameters
    ----------
    mask : ndarray of bool, shape (K, J, I)
        The object, with a margin round it that is wider than `distance` by one voxel or more.
    away : ndarray of float32, shape (K, J, I)
        Distance in mm from each voxel's centre to the nearest centre of the object's voxels.
    distance : float
        mm.
    spacing : 3 floats K, J, I, in mm
    progress : Progress, optional
        Checked between slices.

    Returns
    -------
    ndarray of bool, shape (K, J, I)
        With the object.

    Raises
    ------
    Cancelled
        The progress callback returned False.
    """
    progress = Progress.of(progress)
    limit = distance * (1 + ROUNDING)
    within = away <= limit  # every point of such a voxel has one of the object as near
    diagonal = float(np.linalg.norm(spacing))
    undecided = np.flatnonzero((away > limit) & (away <= limit + diagonal / 2))
    progress.check()
    offsets, first = _reach(limit, spacing, mask.shape)
    flat, near = mask.reshape(-1), within.reshape(-1)
    for start in range(0, undecided.size, VOXELS_PER_SLICE):
        some = undecided[start : start + VOXELS_PER_SLICE]

        def work(a: int, b: int, some: np.ndarray = some) -> np.ndarray:
            return _all_points_near(flat, some[a:b], offsets, first)

        parts = in_parts(work, some.size, VOXELS_PER_POINT * some.size)
        near[some] = np.concatenate([np.empty(0, bool), *parts])
        progress.check()
    return within


def _reach(
    limit: float, spacing: Sequence[float], shape: tuple[int, ...]
) -> tuple[np.ndarray, np.ndarray]:
    """Return for each of 27 points of a voxel the voxels whose boxes are near it, nearest first.

    Returns
    -------
    offsets : ndarray of int64
        Flat indices of those voxels, counted from the point's voxel.
    first : ndarray of int64, (28,)
        Where the offsets of each point begin.
    """
    step = np.asarray(spacing, float)
    most = np.ceil(limit / step).astype(int) + 1
    steps = np.stack(np.meshgrid(*[np.arange(-n, n + 1) for n in most], indexing="ij"), axis=-1)
    centres = np.linalg.norm(steps * step, axis=-1)
    # No voxel of the object is nearer than the limit: else there would be nothing to decide.
    shell = (centres > limit) & (centres <= limit + np.linalg.norm(step))
    steps, centres = steps[shell], centres[shell]
    flat = steps @ np.array([shape[1] * shape[2], shape[2], 1])
    found = []
    for point in np.ndindex(3, 3, 3):
        to_box = np.maximum(np.abs(steps - (np.array(point) - 1) / 2) - 0.5, 0) * step
        near = np.flatnonzero(np.linalg.norm(to_box, axis=1) <= limit)
        found.append(flat[near[np.argsort(centres[near], kind="stable")]])
    return np.concatenate(found), np.cumsum([0, *map(len, found)])


@compiled
def _all_points_near(mask, voxels, offsets, first):
    near = np.empty(voxels.size, np.bool_)
    for n in range(voxels.size):
        near[n] = _is_near(mask, voxels[n], offsets, first)
    return near


@compiled_inside
def _is_near(mask, voxel, offsets, first):
    for point in range(first.size - 1):
        found = False
        for n in range(first[point], first[point + 1]):
            other = voxel + offsets[n]
            if 0 <= other < mask.size and mask[other]:
                found = True
                break
        if not found:
            return False
    return True
