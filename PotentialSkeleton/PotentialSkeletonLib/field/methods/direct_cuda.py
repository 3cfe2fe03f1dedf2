"""The paper's GPU programs: a CUDA thread for each point goes through all charges.

The terms and their sums are float64: with float32 terms the error, a few 1e-8 of the sum of the
forces' lengths, exceeds 1e-6 of the force wherever the forces nearly cancel.
"""

from pathlib import Path
from time import perf_counter

import numpy as np

from FuzzyVesselCoreLib.errors import DeviceError

from ..occupancy import Multiprocessor, active_blocks, best_threads_per_block, occupancy

KERNELS = Path(__file__).parent
# What constant memory holds. All variants take so many charges a launch: also on a card that is
# slow in float64, a launch of one wave of blocks then takes well under 0.1 s.
CHARGES = 2730
# The host looks at the progress between two batches of launches.
SHORTEST_BATCH, LONGEST_BATCH = 0.01, 0.04  # seconds


def sum_forces(solid, strength, vectors, report, gpu, variant):
    """Write the forces at the wanted voxels of a solid; see `fft_convolution.sum_forces`.

    Parameters
    ----------
    variant : str
        "cuda-simple", "cuda-constant" or "cuda-shared".

    Returns
    -------
    Launch
        Its threads per block and its occupancy.
    """
    return sum_members(solid, solid.wanted, strength, vectors, report, gpu, variant)


def sum_members(solid, members, strength, vectors, report, gpu, variant):
    """The same for some voxels of the solid, a bool array on the card."""
    positions = solid.positions(members)
    forces, launch = sum_at(positions, solid.charges, strength, report, gpu, variant)
    vectors[tuple(positions.T)] = forces.astype(vectors.dtype)
    return launch


def sum_at(positions, charges, strength, report, gpu, variant, threads=None):
    """Forces (on the card) of `charges` at `positions`, both integers (n, 3); and the launch."""
    launch = Launch(gpu, strength, variant, threads)
    points = gpu.xp.asarray(positions, np.int32)
    charges = gpu.xp.asarray(charges, np.float64)
    forces = gpu.xp.zeros((len(positions), 3), np.float64)
    parts = [
        (slice(p, p + launch.wave), slice(c, c + CHARGES))
        for p in range(0, len(positions), launch.wave)
        for c in range(0, len(charges), CHARGES)
    ]
    done, batch = 0, 1
    while done < len(parts):
        start = perf_counter()
        for part_of_points, part_of_charges in parts[done : done + batch]:
            launch(points[part_of_points], charges[part_of_charges], forces[part_of_points])
        gpu.synchronize()
        done = min(done + batch, len(parts))
        report(done / len(parts))
        seconds = perf_counter() - start
        if seconds < SHORTEST_BATCH:
            batch *= 2
        elif seconds > LONGEST_BATCH:
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
        Points for which all blocks are active at a time.
    """

    def __init__(self, gpu, strength, variant, threads=None):
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

    def __call__(self, points, charges, forces):
        grid = (-(-len(points) // self.threads),)
        counts = np.int32(len(points)), np.int32(len(charges))
        if self._variant == "cuda-constant":
            self._gpu.set_constant(self._kernel, "charges", charges)
            args = (points, *counts, forces)
        else:
            args = (points, counts[0], charges, counts[1], forces)
        self._kernel(grid, (self.threads,), args, shared_mem=self._staged_bytes)
