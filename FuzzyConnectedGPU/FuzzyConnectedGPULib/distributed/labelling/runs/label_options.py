"""Options of labels over blocks, validated once."""

from dataclasses import dataclass
from numbers import Integral

from FuzzyVesselCoreLib.errors import InputError

from ....threshold.gaps import check_rounds
from ...options import RunOptions

COMPONENTS = ("all", "largest", "seeds")
MASK_TYPE, NUMBER_TYPE = "uint8", "uint32"


@dataclass(frozen=True, kw_only=True)
class LabelOptions(RunOptions):
    """How to make labels over blocks.

    Attributes
    ----------
    block, cut, folder, missing_chunks, memory_limit
        As in `RunOptions`; the cut is that which the connectedness was computed with.
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

    Examples
    --------
    >>> LabelOptions(components="largest", block=64).target_type
    'uint8'
    """

    components: str = "all"
    min_voxels: int = 1
    numbered: bool = False
    fill_gaps: int = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.components not in COMPONENTS:
            raise InputError(
                f"The components are {self.components!r}; choose {', '.join(COMPONENTS)}."
            )
        if not isinstance(self.min_voxels, Integral) or self.min_voxels < 1:
            raise InputError(f"min_voxels is {self.min_voxels!r}, but must be an integer > 0.")
        check_rounds(self.fill_gaps)

    @property
    def target_type(self) -> str:
        """Of the target's voxels."""
        return NUMBER_TYPE if self.numbered else MASK_TYPE
