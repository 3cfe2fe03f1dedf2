"""The paper's GPU programs: one CUDA thread per point sums over all charges.

The terms and their sums are float64: with float32 terms the error, a few 1e-8 of the sum of the
forces' lengths, exceeds 1e-6 of the force wherever the forces nearly cancel.
"""

from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from FuzzyVesselCoreLib.errors import DeviceError
from FuzzyVesselCoreLib.progress import Progress

from ..occupancy import Multiprocessor, active_blocks, best_threads_per_block, occupancy
from ..solid import ChargedSolid
from .interface import SumResult

KERNELS = Path(__file__).parent
# What constant memory holds. All variants take so many charges a launch: even on a GPU that is slow
# in float64, a launch of one wave of blocks then takes well under 0.1 s.
CHARGES_PER_LAUNCH = 2730
# Duration of a batch of launches, between two checks of the progress.
MIN_BATCH_SECONDS, MAX_BATCH_SECONDS = 0.01, 0.04


def sum_forces(
    solid: ChargedSolid,
    strength: int,
    vectors: Any,
    progress: Progress,
    gpu: Any = None,
    variant: str = "cuda-shared",
) -> SumResult:
    """Write the forces at the targets of a solid; see `interface.ForceMethod`.

    Parameters
    ----------
    variant : str
        "cuda-simple", "cuda-constant" or "cuda-shared".
    """
    launch = sum_members(solid, solid.targets, strength, vectors, progress, gpu, variant)
    return SumResult(direct=int(solid.targets.sum()), launch=launch)


def sum_members(
    solid: ChargedSolid,
    members: Any,
    strength: int,
    vectors: Any,
    progress: Progress,
    gpu: Any,
    variant: str,
) -> "Launch":
    """Write the forces at some voxels of the solid, a bool array on the device."""
    positions = solid.positions(members)
    forces, launch = sum_at(positions, solid.charges, strength, progress, gpu, variant)
    vectors[tuple(positions.T)] = forces.astype(vectors.dtype)
    return launch


def sum_at(
    positions: Any,
    charges: Any,
    strength: int,
    progress: Progress,
    gpu: Any,
    variant: str,
    threads: int | None = None,
) -> tuple[Any, "Launch"]:
    """Return the forces of charges at positions, both integers (n, 3), and the launch."""
    launch = Launch(gpu, strength, variant, threads)
    points = gpu.xp.asarray(positions, np.int32)
    charges = gpu.xp.asarray(charges, np.float64)
    forces = gpu.xp.zeros((len(positions), 3), np.float64)
    parts = [
        (slice(p, p + launch.wave), slice(c, c + CHARGES_PER_LAUNCH))
        for p in range(0, len(positions), launch.wave)
        for c in range(0, len(charges), CHARGES_PER_LAUNCH)
    ]
    done, batch = 0, 1
    while done < len(parts):
        start = perf_counter()
        for part_of_points, part_of_charges in parts[done : done + batch]:
            launch(points[part_of_points], charges[part_of_charges], forces[part_of_points])
        gpu.synchronize()
        done = min(done + batch, len(parts))
        progress.advance(done / len(parts))
        seconds = perf_counter() - start
        if seconds < MIN_BATCH_SECONDS:
            batch *= 2
        elif seconds > MAX_BATCH_SECONDS:
            batch = max(batch // 2, 1)
    return forces, launch


class Launch:
    """Launches one variant's kernel.

    Parameters
    ----------
    gpu : CudaDevice
    strength : int
    variant : str
    threads : int, optional
        Threads per block, in whole warps; by default those of the highest occupancy.

    Attributes
    ----------
    threads : int
    occupancy : float
    wave : int
        Points for which all blocks are resident.
    """

    def __init__(self, gpu: Any, strength: int, variant: str, threads: int | None = None) -> None:
        self._gpu, self._variant = gpu, variant
        file = KERNELS / f"{variant.replace('-', '_')}.cu"
        self._kernel = gpu.kernel(file, "sum_forces", (f"STRENGTH={strength}",))
        multiprocessor = Multiprocessor.of(gpu.properties)
        registers, shared = gpu.resources(self._kernel)
        staged = 3 * 8 if variant == "cuda-shared" else 0
        best = best_threads_per_block(multiprocessor, registers, shared, staged)
        self.threads = threads or best
        self._staged_bytes = staged * self.threads
        used = (multiprocessor, self.threads, registers, shared + self._staged_bytes)
        self.occupancy = occupancy(*used)
        self.wave = gpu.properties["multiProcessorCount"] * active_blocks(*used) * self.threads
        if not self.wave:
            raise DeviceError(
                f"{gpu.name} cannot run {variant} with {self.threads} threads a block."
            )

    def __call__(self, points: Any, charges: Any, forces: Any) -> None:
        grid = (-(-len(points) // self.threads),)
        counts = np.int32(len(points)), np.int32(len(charges))
        if self._variant == "cuda-constant":
            self._gpu.set_constant(self._kernel, "charges", charges)
            args: tuple[Any, ...] = (points, *counts, forces)
        else:
            args = (points, counts[0], charges, counts[1], forces)
        self._kernel(grid, (self.threads,), args, shared_mem=self._staged_bytes)
