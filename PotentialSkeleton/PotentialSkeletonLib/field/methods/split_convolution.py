"""The sum with a kernel in two parts: charges nearby directly, all others by a convolution.

The far part of the kernel is smooth: its convolution needs fewer than half of the frequencies along
I and along J. What is left out of them is an error of about 1e-7 of the force, on these conditions:
no target lies much deeper than the near part reaches, so none has a far weaker force; and at the
ends of the box the kernel, which is cut off there, is weak.
"""

import numpy as np

from FuzzyVesselCoreLib.progress import Progress

from ..convolution.convolution import Convolution
from ..convolution.cpu_transforms import CpuTransforms
from ..convolution.fft_padding import Sizes
from ..convolution.kernel_split import BAND, REACH, near_powers
from ..convolution.near_part import NearPart
from ..solid import ChargedSolid
from .distance_bands import may_hold_cube
from .near_pairs import near_forces

SHARE = 0.35  # of the whole convolution's time that the far part takes
WEAK = 4e-6  # how much weaker than at its reach the kernel is at the ends of the box
NEAR_SHARE = 0.27  # of the charges in 27 cubes that are near a voxel of the one in their middle


def is_exact(solid: ChargedSolid, cuts: list[int], strength: int) -> bool:
    """Whether the relative error is below 1e-6; `cuts` are those of the distance bands."""
    ends = min(solid.classes.shape[1:])
    is_weak = (REACH / ends) ** strength < WEAK
    return cuts == [1] and is_weak and not may_hold_cube(solid.is_free, 2 * REACH + 1)


def pairs(solid: ChargedSolid, members: np.ndarray) -> float:
    """Return about how many pairs of a member and a charge are near; counted in cubes."""
    grid = tuple(-(-n // REACH) for n in members.shape)
    targets, charges = (
        np.bincount(np.ravel_multi_index(tuple((some // REACH).T), grid), minlength=np.prod(grid))
        for some in (solid.positions(members), solid.charges)
    )
    around = np.pad(charges.reshape(grid), 1)
    for axis in range(3):
        around = np.lib.stride_tricks.sliding_window_view(around, 3, axis).sum(axis=-1)
    return NEAR_SHARE * float((targets.reshape(grid) * around).sum())


def sum_members(
    solid: ChargedSolid,
    members: np.ndarray,
    strength: int,
    vectors: np.ndarray,
    progress: Progress,
) -> None:
    """Write the forces at some voxels of the solid, a bool array, on the CPU."""
    powers, shape = near_powers(strength + 1), solid.classes.shape
    positions = solid.positions(members)
    forces = near_forces(positions, solid.charges, shape, powers, progress.part(0.0, 0.4))
    of_plane = np.searchsorted(positions[:, 0], np.arange(shape[0] + 1))
    sizes = Sizes(shape, band=BAND)
    transforms = CpuTransforms(sizes, strength, NearPart(powers, forces, of_plane))
    convolution = Convolution(solid.classes, sizes, transforms)
    convolution.run([(1, members)], vectors, progress.part(0.4, 1.0))
