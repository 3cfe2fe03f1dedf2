"""How many threads a block should have, so that a multiprocessor holds the most warps.

Zhao et al. 2016, equation 2. The paper's formula leaves open that resources are allocated in
units and that whole blocks are counted; both are taken into account here.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Multiprocessor:
    """What one multiprocessor of a card can hold, and in which units it gives that out.

    Attributes
    ----------
    threads_per_block, threads, blocks : int
        The most threads of a block, and the most threads and blocks at a time.
    registers, shared_bytes : int
    reserved_shared_bytes : int
        Shared memory of each block that CUDA keeps for itself.
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
    def of(cls, properties):
        """From the properties of a card (`CudaDevice.properties`)."""
        return cls(
            threads_per_block=properties["maxThreadsPerBlock"],
            threads=properties["maxThreadsPerMultiProcessor"],
            blocks=properties["maxBlocksPerMultiProcessor"],
            registers=properties["regsPerMultiprocessor"],
            shared_bytes=properties["sharedMemPerMultiprocessor"],
            reserved_shared_bytes=properties["reservedSharedMemPerBlock"],
            warp_size=properties["warpSize"],
        )


def active_blocks(multiprocessor, threads, registers, shared_bytes=0):
    """Blocks of a kernel that a multiprocessor holds at a time.

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


def occupancy(multiprocessor, threads, registers, shared_bytes=0):
    """Active warps as a share of the most that a multiprocessor can hold (0..1)."""
    warps = -(-threads // multiprocessor.warp_size)
    most = multiprocessor.threads // multiprocessor.warp_size
    return active_blocks(multiprocessor, threads, registers, shared_bytes) * warps / most


def best_threads_per_block(multiprocessor, registers, shared_bytes=0, shared_bytes_per_thread=0):
    """The number of threads, in whole warps, with the highest occupancy.

    Among equals it is the smallest from 128 on: short blocks leave less idle at the end.

    Returns
    -------
    threads : int
        0 if no block fits.
    """

    def merit(threads):
        shared = shared_bytes + shared_bytes_per_thread * threads
        share = occupancy(multiprocessor, threads, registers, shared)
        return share, threads >= 128, -threads

    warp = multiprocessor.warp_size
    best = max(range(warp, multiprocessor.threads_per_block + 1, warp), key=merit)
    return best if merit(best)[0] > 0 else 0


def _rounded_up(number, unit):
    return -(-number // unit) * unit
