"""Geodesic distance inside an object, over steps to 26 neighbours, on a CUDA device."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ...progress import Progress
from .geodesic import neighbour_steps

KERNELS = Path(__file__).with_name("geodesic.cu")
SIDE, THREADS = 8, 64
MAX_BLOCKS = 4096  # more than any GPU holds at a time; each takes further tiles of a long list
MAX_ROUNDS = 16  # of tiles, between two tests of what is left; at first there are fewer


def geodesic_distance(
    mask: Any,
    sources: Any,
    spacing: Sequence[float],
    gpu: Any,
    progress: Progress | None = None,
) -> Any:
    """Return the length of the shortest path inside an object from the nearest source.

    Parameters
    ----------
    mask : CuPy's ndarray of uint8, shape (K, J, I)
        Not 0 in the object, which must not touch the border of the array.
    sources : CuPy's ndarray of int64
        Flat indices of the voxels that have distance 0.
    spacing : 3 floats K, J, I, in mm
    gpu : CudaDevice
    progress : Progress, optional
        Checked between rounds.

    Returns
    -------
    CuPy's ndarray of int32, shape (K, J, I)
        In units of `unit_of(spacing)`; -1 outside and where no source is reached.

    Raises
    ------
    Cancelled
        The progress callback returned False.
    """
    distances = gpu.xp.empty(mask.shape, np.int32)
    blocks = (min(-(-mask.size // 256), MAX_BLOCKS),)
    size = np.int64(mask.size)
    gpu.kernel(KERNELS, "mark_object")(blocks, (256,), (mask, size, distances))
    add_sources(distances, sources, spacing, gpu, progress)
    gpu.kernel(KERNELS, "mark_unreached")(blocks, (256,), (size, distances))
    return distances


def add_sources(
    distances: Any,
    sources: Any,
    spacing: Sequence[float],
    gpu: Any,
    progress: Progress | None = None,
) -> None:
    """Lower distances from `geodesic_distance`, in place, where other sources are nearer."""
    if len(sources) == 0:
        return
    progress = Progress.of(progress)
    shape = tuple(np.int32(n) for n in distances.shape)
    _, tiles_j, tiles_i = tiles = tuple(np.int32(-(-n // SIDE)) for n in shape)
    count = int(np.prod(tiles, dtype=np.int64))
    workspace = gpu.xp.zeros(3 * count + 3, np.int32)
    listed, counts, lists = workspace[:count], workspace[count : count + 3], workspace[count + 3 :]
    sources = gpu.xp.ascontiguousarray(sources, np.int64)
    first = sources, np.int32(len(sources)), lists[count:], counts[1:], listed
    sizes = *shape[1:], tiles_j, tiles_i
    gpu.kernel(KERNELS, "begin")((-(-len(sources) // 256),), (256,), (distances, *sizes, *first))
    visit = gpu.kernel(KERNELS, "visit_tiles")
    fixed = distances, *shape, gpu.put(step_lengths(spacing)), lists, counts, listed
    rounds, batch = 1, 4
    while True:
        for _ in range(batch):
            visit((min(count, MAX_BLOCKS),), (THREADS,), (*fixed, np.int32(rounds)))
            rounds += 1
        if gpu.get(counts)[rounds % 3] == 0:
            return
        progress.check()
        batch = min(2 * batch, MAX_ROUNDS)


def step_lengths(spacing: Sequence[float]) -> np.ndarray:
    """Return the lengths of steps along I (1), J (2), J and I (3), K (4) and so on; int32 (8,)."""
    weights = np.insert(neighbour_steps((3, 3, 3), spacing)[1], 13, 0).reshape(3, 3, 3)
    return weights[1:, 1:, 1:].reshape(8).astype(np.int32)
