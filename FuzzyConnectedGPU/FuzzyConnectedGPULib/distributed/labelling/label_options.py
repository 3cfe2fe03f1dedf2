"""Options of labels over blocks, validated once."""

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral
from pathlib import Path

from FuzzyVesselCoreLib.errors import InputError

from ...threshold.gaps import check_rounds
from ..options import DEFAULT_BLOCK, BlockOptions

COMPONENTS = ("all", "largest", "seeds")
MASK_TYPE, NUMBER_TYPE = "uint8", "uint32"


@dataclass(frozen=True)
class LabelOptions:
    """How to make labels over blocks.

    Attributes
    ----------
    block : int or three of them
        Voxels of a block along each axis, or along K, J, I. The result does not depend on it.
    components : {"all", "largest", "seeds"}
        Which 26-connected components are taken: all, the largest (of several as large the first),
        or those in which a seed lies.
    min_voxels : int
        Smaller components are left out.
    numbered : bool
        Whether each component has a number of its own (uint32, from 1, by first voxels), and the
        run lists them; else the object is 1 (uint8).
    fill_gaps : int
        Rounds in which gaps are filled, as in `SegmentOptions`.
    cut : float
        That the connectedness was computed with; an automatic threshold is not below it.
    folder, missing_chunks, memory_limit
        As in `BlockOptions`.

    Raises
    ------
    InputError
        An option is invalid.

    Examples
    --------
    >>> LabelOptions(components="largest", block=64).blocks.block_shape
    (64, 64, 64)
    """

    block: int | Sequence[int] = DEFAULT_BLOCK
    components: str = "all"
    min_voxels: int = 1
    numbered: bool = False
    fill_gaps: int = 0
    cut: float = 0.0
    folder: str | Path | None = None
    missing_chunks: str = "auto"
    memory_limit: int | None = None

    def __post_init__(self) -> None:
        if self.components not in COMPONENTS:
            raise InputError(
                f"The components are {self.components!r}; choose {', '.join(COMPONENTS)}."
            )
        if not isinstance(self.min_voxels, Integral) or self.min_voxels < 1:
            raise InputError(f"min_voxels is {self.min_voxels!r}, but must be an integer > 0.")
        check_rounds(self.fill_gaps)
        _ = self.blocks

    @property
    def blocks(self) -> BlockOptions:
        """Those options that connectedness over blocks has, too."""
        return BlockOptions(
            self.block, self.cut, self.folder, memory_limit=self.memory_limit, device="cpu",
            missing_chunks=self.missing_chunks,
        )  # fmt: skip

    @property
    def target_type(self) -> str:
        """Of the target's voxels."""
        return NUMBER_TYPE if self.numbered else MASK_TYPE
