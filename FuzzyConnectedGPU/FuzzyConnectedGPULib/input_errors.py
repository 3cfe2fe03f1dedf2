"""Errors and notes with fields, for callers that word them for their own users."""

from typing import Any, Self

import numpy as np

from FuzzyVesselCoreLib.errors import InputError


class SameVoxelError(InputError):
    """A seed and a background seed are one voxel.

    Attributes
    ----------
    voxel : tuple of int
        K, J, I.
    """

    def __init__(self, voxel: tuple[int, ...]) -> None:
        self.voxel = voxel
        k, j, i = voxel
        super().__init__(
            f"A seed and a background seed are the same voxel, I,J,K = {i},{j},{k}: "
            "move or delete one of the two."
        )


class NotFiniteError(InputError):
    """A volume has voxels that are not finite numbers.

    Attributes
    ----------
    count : int
    """

    def __init__(self, count: int, value: float, voxel: tuple[int, ...]) -> None:
        self.count = count
        k, j, i = voxel
        super().__init__(
            f"The volume has {count} voxels that are not finite numbers (the first is {value} at "
            f"I,J,K = {i},{j},{k}); replace them, for example by the lowest intensity."
        )


class LargeValuesError(InputError):
    """A volume's values are beyond float32.

    Attributes
    ----------
    low, high : float
    """

    def __init__(self, low: float, high: float) -> None:
        self.low, self.high = low, high
        super().__init__(f"The volume's values ({low:g} to {high:g}) are too large; scale them.")


class VoxelTypeError(InputError):
    """The voxels are of a type that is not taken.

    Attributes
    ----------
    voxel_type : str
    """

    def __init__(self, voxel_type: str, taken: tuple[str, ...]) -> None:
        self.voxel_type = voxel_type
        super().__init__(
            f"Voxel type {voxel_type} is not supported; convert the volume to one of "
            f"{', '.join(taken)}."
        )


class ConstantVolumeError(InputError):
    """Every voxel of a volume has the same value.

    Attributes
    ----------
    value : float
    """

    def __init__(self, value: float) -> None:
        self.value = value
        super().__init__(
            f"The volume is constant (every voxel is {value}), so there is no vessel to find: was "
            "the right volume chosen?"
        )


class SharedVoxelError(InputError):
    """Two groups have a point on the same voxel.

    Attributes
    ----------
    names : tuple of 2 str
        Of the groups.
    """

    def __init__(self, first: str, second: str, voxel: tuple[int, ...]) -> None:
        self.names = first, second
        k, j, i = voxel
        super().__init__(
            f"{first!r} and {second!r} have a point on the same voxel, I,J,K = {i},{j},{k}: move "
            "or delete one of the two."
        )


class SolverDeviceError(InputError):
    """A solver does not run on the device that was asked for.

    Attributes
    ----------
    on_cpu : bool
        Whether it runs on the CPU only; else on CUDA only.
    """

    def __init__(self, solver: str, device: str, on_cpu: bool) -> None:
        self.on_cpu = on_cpu
        super().__init__(
            f"Solver {solver!r} runs on {'the CPU' if on_cpu else 'CUDA'} only; leave the device "
            f"{device!r} out, or choose solver 'exact'."
        )


class NothingTubularError(InputError):
    """No automatic seed was found.

    Attributes
    ----------
    in_mask : bool
        Whether a mask narrowed the search.
    """

    def __init__(self, in_mask: bool) -> None:
        self.in_mask = in_mask
        super().__init__(
            "Nothing tubular stands out from the noise"
            + (" in the mask" if in_mask else "")
            + ": place the seeds by hand, or "
            + ("use a larger mask." if in_mask else "mask the organ whose vessels are wanted.")
        )


class BackgroundConnectedError(InputError):
    """A background seed is as connected as a seed, so no threshold keeps it out.

    Attributes
    ----------
    voxel : tuple of int
        K, J, I.
    """

    def __init__(self, voxel: tuple[int, ...]) -> None:
        self.voxel = voxel
        k, j, i = voxel
        super().__init__(
            f"The background seed at I,J,K = {i},{j},{k} is as connected as a seed "
            "(connectedness 1), so no threshold can part them: move it to where the object leaks."
        )


class FaintClicksNote(str):
    """No click has contrast.

    Attributes
    ----------
    voxels : ndarray, shape (n, 3)
        K, J, I of those that differ from their surroundings in no way at all.
    """

    voxels: np.ndarray

    def __new__(cls, voxels: Any = ()) -> Self:
        text = "No seed differs from its surroundings by more than noise does: click into the "
        self = super().__new__(cls, text + "middle of a vessel, or where it is brighter.")
        self.voxels = np.reshape(voxels, (-1, 3)).astype(int)
        return self


class NoContrastNote(str):
    """Some clicks differ from their surroundings in no way: each adds a few voxels around it.

    Attributes
    ----------
    voxels : ndarray, shape (n, 3)
        K, J, I of these clicks.
    """

    voxels: np.ndarray

    def __new__(cls, voxels: Any) -> Self:
        voxels = np.reshape(voxels, (-1, 3)).astype(int)
        places = "; ".join(",".join(map(str, voxel[::-1])) for voxel in voxels.tolist())
        text = f"No contrast to the surroundings at I,J,K = {places}: only voxels close by "
        self = super().__new__(cls, text + "are added.")
        self.voxels = voxels
        return self
