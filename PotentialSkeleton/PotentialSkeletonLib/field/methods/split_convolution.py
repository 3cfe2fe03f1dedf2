"""The sum with a kernel in two parts: charges nearby directly, all others by a convolution.

The far part of the kernel is smooth: its convolution needs fewer than half of the frequencies along
I and along J. What the others hold is an error of about 1e-7 of a vessel's force where no target
lies deeper than the near part reaches, so that none has a far weaker force, and where the
kernel, which ends with the box, is weak there. It is no bound where forces cancel, as on the axis
of a straight vessel, and errors add up where flat surfaces face one another along a whole side of
the box. So the weakest forces, where an error weighs most, are compared with the direct sum.
"""

import numpy as np

from FuzzyVesselCoreLib.progress import Progress

from ..convolution.convolution import Convolution
from ..convolution.cpu_transforms import CpuTransforms
from ..convolution.fft_padding import Sizes
from ..near.kernel_split import BAND, REACH, near_powers
from ..near.near_pairs import near_forces
from ..near.near_part import NearPart
from ..solid import ChargedSolid
from .direct_serial import sum_at
from .distance_bands import may_hold_cube

COMPARED = 128  # of the weakest forces, and as many spread over all targets
ALLOWED = 5e-7  # relative error of a compared force: half of what the field promises
FAR_SHARE = 0.4  # of the time of the whole convolution
PAIRS_PER_NEAR_PAIR = 2.6  # of the direct sum: in the same time, and a fifth more
NEAR_SHARE = 0.27  # of the charges in 27 cubes: those near a voxel of the cube in the middle
WEAK = 3e-7  # the kernel at the ends of the box, compared with that at its reach
FAINT = 4.0  # how much fainter than at its reach, by distance alone, the force inside may be


def sum_forces(solid: ChargedSolid, strength: int, vectors: np.ndarray, progress: Progress) -> None:
    """Write the forces at the targets of a solid on the CPU; see `interface.ForceMethod`."""
    powers, shape = near_powers(strength + 1), solid.classes.shape
    targets = solid.positions(solid.targets)
    forces = near_forces(targets, solid.charges, shape, powers, progress.part(0.0, 0.4))
    ends = np.searchsorted(targets[:, 0], np.arange(shape[0] + 1))
    sizes = Sizes(shape, band=BAND)
    transforms = CpuTransforms(sizes, strength, NearPart(powers, forces, ends))
    convolution = Convolution(solid.classes, sizes, transforms)
    convolution.run([(1, solid.targets)], vectors, progress.part(0.4, 1.0))


def is_exact(solid: ChargedSolid, strength: int, vectors: np.ndarray, progress: Progress) -> bool:
    """Whether the weakest of the forces that were written, and some others, are those of the sum.

    In vessels the largest relative error was that of one of the 64 weakest forces.
    """
    targets = solid.positions(solid.targets)
    found = vectors[tuple(targets.T)]
    order = np.argsort(np.einsum("nc,nc->n", found, found), kind="stable")
    others = np.linspace(0, len(order) - 1, COMPARED).astype(np.int64)
    chosen = np.concatenate([order[:COMPARED], others])
    exact = sum_at(targets[chosen], solid.charges, strength, progress, None)
    error = np.linalg.norm(found[chosen] - exact, axis=1)
    return bool((error <= ALLOWED * np.linalg.norm(exact, axis=1)).all())


def is_better(solid: ChargedSolid, strength: int, whole: float) -> bool:
    """Whether the error is probably small, and the sum faster than the whole convolution.

    Parameters
    ----------
    whole : float
        How many pairs the direct sum has in the time of the whole convolution.
    """
    is_weak = (REACH / min(solid.classes.shape[1:])) ** strength < WEAK
    is_exact = is_weak and not may_hold_cube(solid.is_free, 2 * deepest(strength) + 1)
    return is_exact and PAIRS_PER_NEAR_PAIR * near_pairs(solid) < (1 - FAR_SHARE) * whole


def deepest(strength: int) -> int:
    """Return how many voxels a target may be away from all charges along one of the axes.

    The corners of the cube round it are the square root of 3 times as far away, and the force falls
    with the distance to the power of strength - 2.
    """
    fainter = FAINT ** (1 / max(strength - 2, 0.5))
    return round(REACH * min(fainter / 3**0.5, 1.0))


def near_pairs(solid: ChargedSolid) -> float:
    """Return about how many pairs of a target and a charge are near."""
    shape = solid.classes.shape
    around = np.pad(in_cubes(solid.charges, shape), 1)
    for axis in range(3):
        around = np.lib.stride_tricks.sliding_window_view(around, 3, axis).sum(axis=-1)
    targets = in_cubes(solid.positions(solid.targets), shape)
    return NEAR_SHARE * float((targets * around).sum())


def in_cubes(voxels: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """Return how many of some voxels (n, 3) are in each cube of `REACH` voxels a side."""
    grid = [-(-n // REACH) for n in shape]
    cubes = np.ravel_multi_index(tuple((voxels // REACH).T), grid)
    return np.bincount(cubes, minlength=int(np.prod(grid))).reshape(grid)
