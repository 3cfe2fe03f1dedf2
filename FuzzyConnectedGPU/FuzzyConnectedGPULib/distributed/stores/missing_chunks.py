"""A chunk that has no file: the fill value, or damage.

zarr does not store a chunk that holds the fill value alone, so that most chunks of a labelmap and
many of a volume have no file, and nothing is wrong. It is damage if

- the array says which chunks were written to it, as all that are written over blocks do;
- its header leaves such voxels undefined (a fill value that is null or no number);
- the chunk was there when the run began (`Store.begun_in`);
- a seed lies in it: nobody places one where all voxels of a chunk are the same;
- a coarser resolution of the image shows something there (`pyramid`).

What is left, a copy of an array of another program that is not whole, cannot be told from one that
is: the run goes on and says how many chunks have no file.
"""

import math
from typing import Any

import numpy as np

from FuzzyVesselCoreLib.errors import InputError

from .chunks import RECORD, ChunkGrid, unpacked

MODES = ("auto", "error", "fill")
MOST_CHUNKS = 1 << 28  # 10^12 voxels in chunks of 16^3; a header can claim any number
TAKE_THEM = (
    'give missing_chunks="fill" (--missing-chunks fill) if chunks without a file hold the fill '
    "value"
)


def refuse_lost(array: Any, name: str, mode: str) -> int:
    """Refuse an array that lacks chunks which it should have.

    Parameters
    ----------
    array : zarr array or other array
    name : str
        In messages.
    mode : {"auto", "error", "fill"}
        By the rules above; every chunk must have a file; or none needs one.

    Returns
    -------
    int
        Chunks without a file of which nobody says whether there were any.

    Raises
    ------
    InputError
        Names the first chunk; or there are too many.
    """
    grid = ChunkGrid.of(array)
    if grid is None or grid.folder is None or mode == "fill":
        return 0
    count = math.prod(grid.shape)
    if count > MOST_CHUNKS:
        raise InputError(
            f"The {name} has {count:,} chunks of {grid.sizes} voxels, more than can be looked at: "
            "write it in larger ones."
        )
    absent = ~grid.stored()
    if not absent.any():
        return 0
    known = unpacked(getattr(array, "attrs", {}).get(RECORD), grid.shape)
    if mode == "error":
        lost, why = absent, "copy it again"
    elif known is not None:
        lost, why = absent & known, "which was written: copy it again"
    elif is_undefined(array):
        lost, why = absent, "and its header does not say what they are then: copy it again"
    else:
        return int(np.count_nonzero(absent))
    if lost.any():
        raise lacking(grid, np.argwhere(lost)[0], name, f"{why}, or {TAKE_THEM}")
    return 0


def is_undefined(array: Any) -> bool:
    """Whether voxels without a chunk are none: the fill value is null or no number."""
    value = getattr(getattr(array, "metadata", None), "fill_value", 0)
    return value is None or bool(value != value)  # NaN


def refuse_seeds(array: Any, seeds: np.ndarray) -> None:
    """Refuse seeds (n, 3) in chunks of a zarr array that have no file.

    Raises
    ------
    InputError
        Names the first of them.
    """
    grid = ChunkGrid.of(array)
    if grid is None or grid.folder is None:
        return
    for seed in seeds.tolist():
        k, j, i = (n // size for n, size in zip(seed, grid.sizes))
        if not grid.has_file((k, j, i)):
            raise InputError(
                f"The seed I,J,K = {','.join(map(str, seed[::-1]))} lies in the chunk "
                f"{grid.name_of((k, j, i))}, which has no file, so that all of its voxels are "
                f"{array.metadata.fill_value}: place the seed in a vessel, or copy the chunk again "
                '(missing_chunks="fill", --missing-chunks fill, takes it as it is).'
            )


def lacking(grid: ChunkGrid, index: Any, name: str, why: str) -> InputError:
    """The error of a chunk that has no file."""
    k, j, i = (int(n) for n in index)
    return InputError(
        f"The {name} lacks its chunk {grid.name_of((k, j, i))}, the voxels {grid.box((k, j, i))}, "
        f"{why}."
    )
