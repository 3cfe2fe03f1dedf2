"""Threads per block for the highest occupancy of a multiprocessor.

Zhao et al. 2016, equation 2. The paper's formula leaves open that resources are allocated in
units and that whole blocks are counted; both are taken into account here.
"""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Multiprocessor:
    """The resources of a multiprocessor, and the units in which they are allocated.

    Attributes
    ----------
    threads_per_block, threads, blocks : int
        Maximum threads per block, and maximum resident threads and blocks.
    registers, shared_bytes : int
    reserved_shared_bytes : int
        Shared memory per block that CUDA reserves.
    warp_size : int
    register_unit : int
        Registers are given to a warp in multiples of it.
    warp_unit : int
        Registers suffice for a multiple of so many warps (the multiprocessor has so many parts).
    shared_unit : int
        Shared memory is given to a block in multiples of so many bytes.
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
    """Return the number of resident blocks of a kernel per multiprocessor.

    Parameters
    ----------
    multiprocessor : Multiprocessor
    threads : int
        Threads of a block.
    registers : int
        Registers of a thread.
    shared_bytes : int
        Shared memory of a block.
    """
    warps = -(-threads // multiprocessor.warp_size)
    if threads > multiprocessor.threads_per_block:
        return 0
    most = min(multiprocessor.blocks, multiprocessor.threads // (warps * multiprocessor.warp_size))
    if registers:
        of_warp = _rounded_up(registers * multiprocessor.warp_size, multiprocessor.register_unit)
        held = multiprocessor.registers // of_warp
        most = min(most, held // multiprocessor.warp_unit * multiprocessor.warp_unit // warps)
    of_block = shared_bytes + multiprocessor.reserved_shared_bytes
    if of_block:
        of_block = _rounded_up(of_block, multiprocessor.shared_unit)
        most = min(most, multiprocessor.shared_bytes // of_block)
    return most


def occupancy(
    multiprocessor: Multiprocessor, threads: int, registers: int, shared_bytes: int = 0
) -> float:
    """Return the active warps as a share of the maximum of a multiprocessor (0 to 1)."""
    warps = -(-threads // multiprocessor.warp_size)
    most = multiprocessor.threads // multiprocessor.warp_size
    return active_blocks(multiprocessor, threads, registers, shared_bytes) * warps / most


def best_threads_per_block(
    multiprocessor: Multiprocessor,
    registers: int,
    shared_bytes: int = 0,
    shared_bytes_per_thread: int = 0,
) -> int:
    """Return the number of threads, in whole warps, with the highest occupancy.

    Among equals it is the smallest from 128 on: short blocks leave less idle at the end.

    Returns
    -------
    threads : int
        0 if no block fits.
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
