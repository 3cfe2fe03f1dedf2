"""Bands of targets by their distance to the charges, which bound the rounding error.

The rounding error of a Fourier transform is the same everywhere, as large as the strongest forces
make it, while the force falls with the distance to the power of strength - 2 or more. Deep inside
a thick object it would drown. A point whose nearest charge is at least `cut` voxels away gets the
same sum from a kernel that is 0 within `cut`; and the error of that kernel is as much smaller.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from FuzzyVesselCoreLib.voxels.cube_morphology import erode

from ..solid import ChargedSolid

# How much weaker than at its near end the field may be at the far end of a band. Measured on a tube
# of 256 x 256 x 487 voxels at strength 3 to 9: the largest error is then at most 1.6e-8 of the
# force. With one band for all it is 3e-9 at strength 6, and far too large at strength 9.
MAX_RATIO = 1e7


def distance_bands(solid: ChargedSolid, strength: int) -> Iterator[tuple[int, Any]]:
    """Split the targets of a solid by their distance to its charges.

    Parameters
    ----------
    solid : ChargedSolid
    strength : int

    Yields
    ------
    cut : int
        Every charge is at least so many voxels away along one of the axes.
    members : ndarray of bool, shape of the box
        On the device for a `CudaSolid`.
    """
    ratio = MAX_RATIO ** (1 / max(strength - 2, 0.5))
    cut, members = 1, solid.targets
    while True:
        following = min(max(int(cut * ratio), cut + 1), sum(members.shape))
        side = 2 * following - 1  # of the cube without charges round a voxel so deep
        if not may_hold_cube(solid.is_free, side):
            yield cut, members
            return
        deeper = members & erode(solid.is_free, following - 1)
        if (members != deeper).any():
            yield cut, members & ~deeper
        if not deeper.any():
            return
        cut, members = following, deeper


def may_hold_cube(mask: Any, side: int) -> bool:
    """Return whether a cube of so many voxels a side can lie in the mask, by few of its planes.

    One plane of each `side` goes through the cube, which is a square there.
    """
    planes = mask[side - 1 :: side]
    if planes.shape[0] == 0 or side > min(mask.shape):
        return False
    in_square = planes.astype(np.int32)
    for axis in (1, 2):
        in_square = _moving_sums(in_square, side, axis)
    return bool((in_square == side * side).any())


def _moving_sums(numbers: Any, length: int, axis: int) -> Any:
    """Return the sums of so many adjacent numbers along an axis."""
    upto = numbers.cumsum(axis, np.int32).swapaxes(0, axis)
    sums = upto[length - 1 :].copy()
    sums[1:] -= upto[:-length]
    return sums.swapaxes(0, axis)
