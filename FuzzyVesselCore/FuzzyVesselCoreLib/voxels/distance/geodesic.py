"""Geodesic distance inside an object, over steps to 26 neighbours, on the CPU.

Distances are integers: multiples of 1/16 of the smallest spacing. Thick objects are swept forward
and backward in the order of memory until nothing changes, which few sweeps do (`geodesic_sweeps`);
others have a bucket queue (`geodesic_queue`). Both give the same distances.
"""

from collections.abc import Sequence

import numpy as np

from ...progress import Progress
from ...threads import in_parts
from .geodesic_queue import lower_by_queue
from .geodesic_sweeps import FAR, sweep_all

STEPS_PER_VOXEL = 16  # units in the smallest spacing
STEPS = np.array([step for step in np.ndindex(3, 3, 3) if step != (1, 1, 1)]) - 1
SWEEP_MIN_VOXELS = 1 << 20  # objects with fewer voxels, ...
SWEEP_MIN_SHARE = 0.1  # ... or a smaller share of their volume, are left to the queue


def geodesic_distance(
    mask: np.ndarray,
    sources: np.ndarray,
    spacing: Sequence[float],
    progress: Progress | None = None,
) -> np.ndarray:
    """Return the length of the shortest path inside an object from the nearest source.

    Parameters
    ----------
    mask : ndarray of uint8, shape (K, J, I)
        Not 0 in the object, which must not touch the border of the array.
    sources : ndarray of int
        Flat indices of the voxels that have distance 0.
    spacing : 3 floats K, J, I, in mm
    progress : Progress, optional
        Checked between slices.

    Returns
    -------
    ndarray of int32, shape (K, J, I)
        In units of `unit_of(spacing)`; -1 outside and where no source is reached.

    Raises
    ------
    Cancelled
        The progress callback returned False.

    Examples
    --------
    >>> mask = np.zeros((3, 3, 5), np.uint8)
    >>> mask[1, 1, 1:4] = 1
    >>> geodesic_distance(mask, np.array([21]), (1.0, 1.0, 1.0))[1, 1]
    array([-1,  0, 16, 32, -1], dtype=int32)
    """
    progress = Progress.of(progress)
    distances = np.where(mask, FAR, np.int32(-1))
    offsets, weights = neighbour_steps(mask.shape, spacing)
    is_swept = np.count_nonzero(mask) >= max(SWEEP_MIN_VOXELS, SWEEP_MIN_SHARE * mask.size)
    if not is_swept or not sweep_all(distances, sources, offsets, weights, progress):
        lower_by_queue(distances, sources, offsets, weights, progress)
    mark_unreached(distances)
    return distances


def add_sources(
    distances: np.ndarray,
    sources: np.ndarray,
    spacing: Sequence[float],
    progress: Progress | None = None,
) -> None:
    """Lower distances from `geodesic_distance`, in place, where other sources are nearer.

    By the queue, which visits only these voxels: mostly few branches become shorter.
    """
    sources = sources[distances.reshape(-1)[sources] > 0]
    offsets, weights = neighbour_steps(distances.shape, spacing)
    lower_by_queue(distances, sources, offsets, weights, Progress.of(progress))


def unit_of(spacing: Sequence[float]) -> float:
    """Return the unit of geodesic distances in mm."""
    return min(spacing) / STEPS_PER_VOXEL


def neighbour_steps(
    shape: tuple[int, ...], spacing: Sequence[float]
) -> tuple[np.ndarray, np.ndarray]:
    """Return the flat offsets of the 26 neighbours and their distances in units, as integers."""
    offsets = STEPS @ np.array([shape[1] * shape[2], shape[2], 1])
    lengths = np.sqrt(((STEPS * np.asarray(spacing)) ** 2).sum(axis=1))
    return offsets, np.rint(lengths / unit_of(spacing)).astype(np.int64)


def mark_unreached(distances: np.ndarray) -> None:
    """Set the distances of voxels that no source has reached to -1."""

    def work(first: int, last: int) -> None:
        for k in range(first, last):
            np.putmask(distances[k], distances[k] == FAR, -1)

    in_parts(work, len(distances), distances.size)
