"""Options of a run over blocks, validated once."""

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral
from pathlib import Path

from FuzzyVesselCoreLib.errors import InputError

from .partition import Partition
from .stores.missing_chunks import MODES

DEFAULT_BLOCK = 512
TARGET_TYPES = ("uint16", "float32")


@dataclass(frozen=True, kw_only=True)
class RunOptions:
    """What all runs over blocks can be told.

    Attributes
    ----------
    block : int or three of them
        Voxels of a block along each axis, or along K, J, I. The result does not depend on it.
    cut : float
        Affinities below it count as 0, as in `SolverOptions`; an automatic threshold is not below
        it.
    folder : str, Path or None
        Where to keep intermediate results, and to find those of a run that was ended; of a folder
        that all workers reach. By default beside the target's path, else a temporary folder. One
        run at a time can use it.
    missing_chunks : {"auto", "error", "fill"}
        What is read from a zarr array in a folder may lack chunks, since zarr stores none that
        holds the fill value alone. "auto": they hold it unless there is evidence of damage
        (`stores.missing_chunks` has the rules). "error": each must have a file. "fill": none need.
    memory_limit : int or None
        Bytes that one task may need; a run that needs more is refused before it begins.

    Raises
    ------
    InputError
        An option is invalid.
    """

    block: int | Sequence[int] = DEFAULT_BLOCK
    cut: float = 0.0
    folder: str | Path | None = None
    missing_chunks: str = "auto"
    memory_limit: int | None = None

    def __post_init__(self) -> None:
        block = self.block_shape
        if len(block) != 3 or any(not isinstance(n, Integral) or n < 1 for n in block):
            raise InputError(f"The block is {self.block!r}, but must be one or three integers > 0.")
        if self.missing_chunks not in MODES:
            raise InputError(
                f"missing_chunks is {self.missing_chunks!r}; choose {', '.join(MODES)}."
            )

    @property
    def block_shape(self) -> tuple[int, ...]:
        """K, J, I."""
        return (self.block,) * 3 if not isinstance(self.block, Sequence) else tuple(self.block)

    def partition_of(self, shape: tuple[int, int, int]) -> Partition:
        """The blocks of a volume."""
        k, j, i = self.block_shape
        return Partition(shape, (int(k), int(j), int(i)))


@dataclass(frozen=True, kw_only=True)
class BlockOptions(RunOptions):
    """How to compute connectedness over blocks.

    Attributes
    ----------
    block, cut, folder, missing_chunks, memory_limit
        As in `RunOptions`.
    target_type : {"uint16", "float32"}
        Of a target that is a path: levels 0..65535, or values 0..1 (``level / 65535``).
    device : str
        "cpu"; "cuda", all cards that a worker's process sees, with one task at a time on each;
        "cuda:1", one of them; "cuda:0,cuda:1", two; or "auto", all cards where there are any, else
        the CPU.

    Examples
    --------
    >>> BlockOptions(block=64).block_shape
    (64, 64, 64)
    """

    target_type: str = "uint16"
    device: str = "auto"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.target_type not in TARGET_TYPES:
            raise InputError(f"The target's type {self.target_type!r} is not uint16 or float32.")
