"""The forces of all components of an object, one solid after another, on the CPU or on CUDA."""

import warnings
from time import perf_counter
from typing import Any

import numpy as np

from FuzzyVesselCoreLib.compilation import needs_numba
from FuzzyVesselCoreLib.errors import CpuUsedNote, DeviceError
from FuzzyVesselCoreLib.progress import Progress
from FuzzyVesselCoreLib.voxels.bounding_box import box_size

from ..object.voxel_classes import BOUNDARY
from .cuda_solid import CudaSolid
from .solid import Solid, solids
from .summation import Summation


class StageTimer:
    """Seconds of stages, each from the end of the one before."""

    def __init__(self) -> None:
        self.seconds = dict.fromkeys(("classify", "sum", "boundary", "place"), 0.0)
        self._last = perf_counter()

    def __call__(self, stage: str) -> None:
        now = perf_counter()
        self.seconds[stage] += now - self._last
        self._last = now


def forces_of_components(
    labels: np.ndarray,
    strength: int,
    charge_distance: int,
    method: str,
    progress: Progress,
    gpu: Any = None,
    may_fall_back: bool = False,
) -> dict[str, Any]:
    """Sum the forces of labelled components; return the run's part of a `ForceField` by names.

    If it may fall back, the CPU is used if the CUDA device fails, and a note says so.
    """
    task = (labels, strength, charge_distance, method, progress)
    if gpu is None:
        return {**_run(*task), "device": "cpu"}
    try:
        with gpu:
            found = _run(*task, gpu)
            return {**found, "device": gpu.name, "peak_bytes": gpu.peak_bytes}
    except DeviceError as error:
        if not may_fall_back:
            raise
        note = CpuUsedNote(error)
    warnings.warn(note, stacklevel=4)
    found = _run(*task)
    return {**found, "device": "cpu", "notes": (note, *found["notes"])}


def _run(
    labels: np.ndarray,
    strength: int,
    charge_distance: int,
    method: str,
    progress: Progress,
    gpu: Any = None,
) -> dict[str, Any]:
    """Sum the forces of all solids and write them to the volume."""
    with needs_numba():
        from .scatter import scatter_solid
    vectors = np.zeros((*labels.shape, 3), np.float32)
    classes = np.zeros(labels.shape, np.uint8)
    summation = Summation(method, strength, gpu)
    timer = StageTimer()
    waiting = list(solids(labels, charge_distance))
    total = sum(box_size(solid.extent) for _, solid in waiting)
    done = 0.0
    while waiting:
        label, solid = waiting.pop(0)
        progress.advance(done)
        end = done + box_size(solid.extent) / total
        forces_of_solid = on_cpu if gpu is None else on_cuda
        found = forces_of_solid(solid, summation, timer, progress.part(done, end))
        progress.advance(end)
        scatter_solid(solid, label, labels, *found, classes, vectors)
        timer("place")
        done = end
    launch = summation.launch
    return dict(
        vectors=vectors,
        classes=classes,
        method=summation.used,
        threads_per_block=launch and launch.threads,
        occupancy=launch and launch.occupancy,
        seconds=timer.seconds,
        peak_bytes=summation.host_bytes,
        notes=summation.notes(),
    )


def on_cpu(
    solid: Solid, summation: Summation, timer: StageTimer, progress: Progress
) -> tuple[np.ndarray, np.ndarray]:
    """Return classes, and vectors of all voxels, of one solid in its box."""
    from .neighbour_mean import average_boundary

    vectors = np.zeros((*solid.object.shape, 3), np.float32)
    solid.classify(progress)  # so that its time counts as classifying
    progress.check()
    timer("classify")
    summation(solid, vectors, progress)
    timer("sum")
    average_boundary(solid.classes, vectors)
    timer("boundary")
    return solid.classes, vectors


def on_cuda(
    solid: Solid, summation: Summation, timer: StageTimer, progress: Progress
) -> tuple[np.ndarray, np.ndarray]:
    """Return classes of one solid, and vectors (n, 3) of its boundary and inner voxels alone."""
    gpu = summation.gpu
    on_device = CudaSolid(gpu.put(solid.object.view(np.uint8)), solid.charge_distance, gpu)
    vectors = on_device.forces(summation, progress, timer)
    listed = vectors.reshape(-1, 3)[gpu.xp.flatnonzero(on_device.classes >= BOUNDARY)]
    found = gpu.get(on_device.classes), gpu.get(listed)
    timer("place")
    return found
