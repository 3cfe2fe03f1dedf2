"""The skeleton paper's own programs: direct sums of the field, and the occupancy formula.

Zhao et al. 2016, section 2: one thread for each point sums the forces of all charges; serially, and
on the GPU with the charges in global, constant or shared memory (`papers.cu`). The threads of a
block are those of the highest occupancy (equation 2); the paper's formula leaves open that
resources are allocated in units and that whole blocks are counted, which is taken into account.

Terms and sums are float64: with float32 terms the error, a few 1e-8 of the sum of the forces'
lengths, exceeds 1e-6 of the force wherever the forces nearly cancel.
"""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from numba import njit

from FuzzyVesselCoreLib.errors import DeviceError
from FuzzyVesselCoreLib.progress import Progress, usable_cores

KERNELS = Path(__file__).with_suffix(".cu")
PAIRS_PER_SLICE = 1 << 25  # on the CPU, between two checks of the progress: under 0.1 s
# What constant memory holds. All variants take so many charges a launch: even on a GPU that is slow
# in float64, a launch of one wave of blocks then takes well under 0.1 s.
CHARGES_PER_LAUNCH = 2730
MIN_BATCH_SECONDS, MAX_BATCH_SECONDS = 0.01, 0.04  # of launches between two checks


def sum_serially(
    points: np.ndarray,
    charges: np.ndarray,
    strength: int,
    progress: Progress | None = None,
    workers: int | None = 1,
) -> np.ndarray:
    """Forces of charges at points, both integers (n, 3): the paper's serial program.

    With `workers` None the same sums are shared by all cores.
    """
    progress = Progress.of(progress)
    both = np.concatenate([points, charges]).astype(np.int64)
    squares = np.arange(int((np.ptp(both, axis=0) ** 2).sum()) + 1, dtype=float)
    squares[0] = np.inf
    powers = squares ** (-(strength + 1) / 2)  # of each integer R^2 that can occur
    rows = np.ascontiguousarray(charges.T)
    forces = np.zeros((len(points), 3))
    step = max(PAIRS_PER_SLICE // max(len(charges), 1), 1)
    parts = [slice(start, start + step) for start in range(0, len(points), step)]
    if len(parts) == 1:  # a thread would take longer to begin
        _add_forces(points, rows, powers, forces)
        return forces
    pool = ThreadPoolExecutor(workers or usable_cores())
    try:
        tasks = [pool.submit(_add_forces, points[n], rows, powers, forces[n]) for n in parts]
        for done, task in enumerate(tasks):
            progress.advance(done / len(parts))
            task.result()
    finally:
        pool.shutdown(cancel_futures=True)
    return forces


@njit(cache=True, nogil=True, fastmath=True)
def _add_forces(
    points: np.ndarray, charges: np.ndarray, powers: np.ndarray, forces: np.ndarray
) -> None:
    for p in range(points.shape[0]):
        k, j, i = points[p]
        fk, fj, fi = 0.0, 0.0, 0.0
        for c in range(charges.shape[1]):
            dk, dj, di = k - charges[0, c], j - charges[1, c], i - charges[2, c]
            power = powers[dk * dk + dj * dj + di * di]
            fk += dk * power
            fj += dj * power
            fi += di * power
        forces[p, 0] += fk
        forces[p, 1] += fj
        forces[p, 2] += fi


def sum_on_cuda(
    points: Any,
    charges: Any,
    strength: int,
    gpu: Any,
    method: str = "cuda-shared",
    threads: int | None = None,
    progress: Progress | None = None,
) -> tuple[Any, "Launch"]:
    """Forces of charges at points, both integers (n, 3), on a CUDA device; and the launch.

    The method is "cuda-simple", "cuda-constant" or "cuda-shared"; threads per block are by default
    those of the highest occupancy.
    """
    progress, launch = Progress.of(progress), Launch(gpu, strength, method, threads)
    points = gpu.xp.asarray(points, np.int32)
    charges = gpu.xp.asarray(charges, np.float64)
    forces = gpu.xp.zeros((len(points), 3), np.float64)
    parts = [
        (slice(p, p + launch.wave), slice(c, c + CHARGES_PER_LAUNCH))
        for p in range(0, len(points), launch.wave)
        for c in range(0, len(charges), CHARGES_PER_LAUNCH)
    ]
    done, batch = 0, 1
    while done < len(parts):
        start = perf_counter()
        for of_points, of_charges in parts[done : done + batch]:
            launch(points[of_points], charges[of_charges], forces[of_points])
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
    """Launches one variant's kernel with so many threads a block.

    `wave` is the number of points for which all blocks are resident.
    """

    def __init__(self, gpu: Any, strength: int, method: str, threads: int | None = None) -> None:
        self._gpu, self._is_constant = gpu, method == "cuda-constant"
        name = method.replace("cuda-", "sum_")
        self._kernel = gpu.kernel(KERNELS, name, (f"STRENGTH={strength}",))
        multiprocessor = Multiprocessor.of(gpu.properties)
        registers, shared = gpu.resources(self._kernel)
        staged = 3 * 8 if method == "cuda-shared" else 0
        self.threads = threads or best_threads_per_block(multiprocessor, registers, shared, staged)
        self._staged_bytes = staged * self.threads
        used = (multiprocessor, self.threads, registers, shared + self._staged_bytes)
        self.occupancy = occupancy(*used)
        self.wave = gpu.properties["multiProcessorCount"] * active_blocks(*used) * self.threads
        if not self.wave:
            raise DeviceError(f"{gpu.name} cannot run {method} with {self.threads} threads.")

    def __call__(self, points: Any, charges: Any, forces: Any) -> None:
        grid = (-(-len(points) // self.threads),)
        args: tuple[Any, ...] = (charges, np.int32(len(charges)), forces)
        if self._is_constant:
            self._gpu.set_constant(self._kernel, "constant_charges", charges)
            args = args[1:]
        args = (points, np.int32(len(points)), *args)
        self._kernel(grid, (self.threads,), args, shared_mem=self._staged_bytes)


@dataclass(frozen=True)
class Multiprocessor:
    """The resources of a multiprocessor, and the units in which they are allocated.

    `threads_per_block`, `threads` and `blocks` are maxima; CUDA reserves `reserved_shared_bytes`
    per block. A warp gets registers in multiples of `register_unit`, which suffice for a multiple
    of `warp_unit` warps; a block gets shared memory in multiples of `shared_unit` bytes.
    """

    threads_per_block: int
    threads: int
    blocks: int
    registers: int
    shared_bytes: int
    reserved_shared_bytes: int = 0
    warp_size: int = 32
    register_unit: int = 256
    warp_unit: int = 4
    shared_unit: int = 128

    @classmethod
    def of(cls, properties: dict[str, Any]) -> "Multiprocessor":
        """Read the properties of a device (`CudaDevice.properties`)."""
        return cls(
            threads_per_block=properties["maxThreadsPerBlock"],
            threads=properties["maxThreadsPerMultiProcessor"],
            blocks=properties["maxBlocksPerMultiProcessor"],
            registers=properties["regsPerMultiprocessor"],
            shared_bytes=properties["sharedMemPerMultiprocessor"],
            reserved_shared_bytes=properties["reservedSharedMemPerBlock"],
            warp_size=properties["warpSize"],
        )


def active_blocks(
    multiprocessor: Multiprocessor, threads: int, registers: int, shared_bytes: int = 0
) -> int:
    """Resident blocks of a kernel (its threads and bytes, and registers a thread)."""
    mp, warps = multiprocessor, -(-threads // multiprocessor.warp_size)
    if threads > mp.threads_per_block:
        return 0
    most = min(mp.blocks, mp.threads // (warps * mp.warp_size))
    if registers:
        held = mp.registers // _rounded_up(registers * mp.warp_size, mp.register_unit)
        most = min(most, held // mp.warp_unit * mp.warp_unit // warps)
    if of_block := shared_bytes + mp.reserved_shared_bytes:
        most = min(most, mp.shared_bytes // _rounded_up(of_block, mp.shared_unit))
    return most


def occupancy(
    multiprocessor: Multiprocessor, threads: int, registers: int, shared_bytes: int = 0
) -> float:
    """Active warps as a share of a multiprocessor's maximum, 0 to 1 (paper, equation 2)."""
    warps = -(-threads // multiprocessor.warp_size)
    most = multiprocessor.threads // multiprocessor.warp_size
    return active_blocks(multiprocessor, threads, registers, shared_bytes) * warps / most


def best_threads_per_block(
    multiprocessor: Multiprocessor,
    registers: int,
    shared_bytes: int = 0,
    shared_bytes_per_thread: int = 0,
) -> int:
    """Threads of a block, in whole warps, with the highest occupancy; 0 if no block fits.

    Among equals it is the smallest from 128 on: short blocks leave less idle at the end.
    """

    def merit(threads: int) -> tuple[float, bool, int]:
        shared = shared_bytes + shared_bytes_per_thread * threads
        share = occupancy(multiprocessor, threads, registers, shared)
        return share, threads >= 128, -threads

    warp = multiprocessor.warp_size
    best = max(range(warp, multiprocessor.threads_per_block + 1, warp), key=merit)
    return best if merit(best)[0] > 0 else 0


def _rounded_up(number: int, unit: int) -> int:
    return -(-number // unit) * unit
