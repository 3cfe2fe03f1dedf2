"""A mask on a CUDA device as bits, 32 voxels of a row in one word."""

from pathlib import Path
from typing import Any

import numpy as np

from ...errors import DeviceMemoryError

KERNELS = Path(__file__).with_name("labels.cu")
THREADS = 256
MAX_VOXELS = 2**31 - 1  # voxels are numbered by int32


class PackedMask:
    """A mask as bits; each row begins with a new word.

    Parameters
    ----------
    mask : CuPy's ndarray of uint8 or bool, shape (K, J, I)
        Not 0 in the object.
    gpu : CudaDevice
    inverted : bool
        Take the voxels that are 0.

    Raises
    ------
    DeviceMemoryError
        The volume has too many voxels to be numbered.
    """

    def __init__(self, mask: Any, gpu: Any, inverted: bool = False) -> None:
        check_size(mask.size)
        self._gpu, self._shape = gpu, mask.shape
        depth, rows, width = mask.shape
        self._words = gpu.xp.empty(depth * rows * -(-width // 32), np.uint32)
        arguments = mask, *int32s(mask.shape), np.int32(inverted), self._words
        gpu.kernel(KERNELS, "pack")((self.block_count(THREADS),), (THREADS,), arguments)

    def block_count(self, threads: int) -> int:
        """Return the number of blocks with one thread a word."""
        return -(-self._words.size // threads)

    def run(
        self, kernel: str, *arguments: Any, threads: int = THREADS, blocks: int | None = None
    ) -> None:
        """Launch a kernel on the words, by default with one thread a word."""
        arguments = self._words, *int32s(self._shape), *arguments
        grid = (blocks or self.block_count(threads),)
        self._gpu.kernel(KERNELS, kernel)(grid, (threads,), arguments)

    def joined_faces(self, outside: bool) -> Any:
        """Join the runs that meet over faces; return their parents (union-find), int32.

        With `outside`, what is at the border of the volume is joined as well, to voxel 0.
        """
        parents = self._runs()
        self.run("join_faces", np.int32(outside), parents)
        return parents

    def joined_corners(self) -> Any:
        """Join the runs that meet over faces, edges or corners; return their parents."""
        parents = self._runs()
        self.run("join_corners", parents)
        return parents

    def _runs(self) -> Any:
        parents = self._gpu.xp.empty(self._shape, np.int32)
        self.run("init_runs", parents)
        return parents


def check_size(voxels: int) -> None:
    """Raise `DeviceMemoryError` for more voxels than int32 can number."""
    if voxels > MAX_VOXELS:
        raise DeviceMemoryError(
            f"The volume has {voxels:,} voxels, and {MAX_VOXELS:,} can be numbered on the GPU; "
            "use device 'cpu', or work on a smaller region."
        )


def int32s(numbers: tuple[int, ...]) -> tuple[np.int32, ...]:
    """Return integers in the type of a kernel's `int` parameters."""
    return tuple(np.int32(n) for n in numbers)
