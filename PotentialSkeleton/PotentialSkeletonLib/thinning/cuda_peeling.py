"""Homotopic peeling on a CUDA device; what is left is the same as by `peeling`."""

from pathlib import Path
from typing import Any

import numpy as np

from FuzzyVesselCoreLib.gpu.launches import THREADS
from FuzzyVesselCoreLib.progress import Progress

from ..tracing.cuda_descent_paths import strides_of

KERNELS = Path(__file__).with_name("peeling.cu")
STATE, DONE = 24, 23  # `State` of peeling.cu: its words, and the place of `is_done`
ROUNDS_PER_LAUNCH = 256  # so that none takes long


def peel(
    mask: Any,
    voxels: Any,
    order: Any,
    stays: np.ndarray,
    step: float,
    gpu: Any,
    progress: Progress,
) -> np.ndarray:
    """Peel an object until only what stays could go; see `peeling.peel`.

    Parameters
    ----------
    mask : CuPy's ndarray of uint8, shape (K, J, I)
        1 in the object, which must not touch the array's border, else 0.
    voxels : CuPy's ndarray of int64, (n,)
        Flat indices of its voxels.
    order : CuPy's ndarray of float32, (n,)
    stays : ndarray of int
        Flat indices; on the host.
    step : float
        From `peeling.rounds_step`.
    gpu : CudaDevice
    progress : Progress
        Checked between launches.

    Returns
    -------
    ndarray of int
        Flat indices, ascending; on the host.
    """
    xp, count = gpu.xp, len(voxels)
    states = mask.reshape(-1).copy()
    states[gpu.put(stays)] = 2
    row, plane = strides_of(mask)
    of_voxels = dict(voxels=voxels, order=order, count=count, row=row, plane=plane)
    solid = gpu.struct(KERNELS, "Object", **of_voxels, states=states)
    entries, words = xp.empty(count, np.int64), xp.zeros(STATE, np.int32)
    peeling = gpu.struct(KERNELS, "Peeling", entries=entries, words=words)
    grid = (-(-count // THREADS),), (THREADS,)
    gpu.kernel(KERNELS, "count_subfields")(*grid, (solid, peeling))
    gpu.kernel(KERNELS, "list_subfields")(*grid, (solid, peeling, np.float32(step)))
    kernel, launch, is_done = gpu.kernel(KERNELS, "peel_rounds"), 0, False
    blocks = min(-(-count // (8 * THREADS)), gpu.properties["multiProcessorCount"])
    while not is_done:
        numbers = np.int32(ROUNDS_PER_LAUNCH), np.int32(launch)
        gpu.launch_cooperative(kernel, blocks, THREADS, (solid, peeling, *numbers))
        is_done, launch = bool(gpu.get(words)[DONE]), launch + 1
        progress.check()
    return gpu.get(xp.flatnonzero(states))
