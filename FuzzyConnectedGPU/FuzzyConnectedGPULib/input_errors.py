"""Errors and notes with fields, for callers that word them for their own users."""

from collections.abc import Iterable

from FuzzyVesselCoreLib.errors import InputError


def _place(voxel: tuple[int, ...]) -> str:
    k, j, i = voxel
    return f"I,J,K = {i},{j},{k}"


class SameVoxelError(InputError):
    """A seed and a background seed are one `voxel` (K, J, I)."""

    def __init__(self, voxel: tuple[int, ...]) -> None:
        self.voxel = voxel
        super().__init__(
            f"A seed and a background seed are the same voxel, {_place(voxel)}: "
            "move or delete one of the two."
        )


class NotFiniteError(InputError):
    """A volume has `count` voxels that are not finite numbers."""

    def __init__(self, count: int, value: float, voxel: tuple[int, ...]) -> None:
        self.count = count
        super().__init__(
            f"The volume has {count} voxels that are not finite numbers (the first is {value} at "
            f"{_place(voxel)}); replace them, for example by the lowest intensity."
        )


class LargeValuesError(InputError):
    """A volume's values, `low` to `high`, are beyond float32."""

    def __init__(self, low: float, high: float) -> None:
        self.low, self.high = low, high
        super().__init__(f"The volume's values ({low:g} to {high:g}) are too large; scale them.")


class VoxelTypeError(InputError):
    """The voxels are of a type (`voxel_type`) that is not taken."""

    def __init__(self, voxel_type: str, taken: tuple[str, ...]) -> None:
        self.voxel_type = voxel_type
        super().__init__(
            f"Voxel type {voxel_type} is not supported; convert the volume to one of "
            f"{', '.join(taken)}."
        )


class ConstantVolumeError(InputError):
    """Every voxel of a volume has the same `value`."""

    def __init__(self, value: float) -> None:
        self.value = value
        super().__init__(
            f"The volume is constant (every voxel is {value}), so there is no vessel to find: was "
            "the right volume chosen?"
        )


class SharedVoxelError(InputError):
    """Two groups, `names`, have a point on the same voxel."""

    def __init__(self, first: str, second: str, voxel: tuple[int, ...]) -> None:
        self.names = first, second
        super().__init__(
            f"{first!r} and {second!r} have a point on the same voxel, {_place(voxel)}: move or "
            "delete one of the two."
        )


class SolverDeviceError(InputError):
    """A solver runs on the CPU only (`on_cpu`), or on CUDA only."""

    def __init__(self, solver: str, device: str, on_cpu: bool) -> None:
        self.on_cpu = on_cpu
        super().__init__(
            f"Solver {solver!r} runs on {'the CPU' if on_cpu else 'CUDA'} only; leave the device "
            f"{device!r} out, or choose solver 'exact'."
        )


class NothingTubularError(InputError):
    """No automatic seed was found; `in_mask`: whether a mask narrowed the search."""

    def __init__(self, in_mask: bool) -> None:
        self.in_mask = in_mask
        super().__init__(
            "Nothing tubular stands out from the noise"
            + (" in the mask" if in_mask else "")
            + ": place the seeds by hand, or "
            + ("use a larger mask." if in_mask else "mask the organ whose vessels are wanted.")
        )


class BackgroundConnectedError(InputError):
    """A background seed (`voxel`, K, J, I) is as connected as a seed: no threshold parts them."""

    def __init__(self, voxel: tuple[int, ...]) -> None:
        self.voxel = voxel
        super().__init__(
            f"The background seed at {_place(voxel)} is as connected as a seed (connectedness 1), "
            "so no threshold can part them: move it to where the object leaks."
        )


class FaintClicksNote(str):
    """No click has contrast; `voxels` (K, J, I) are those without any to their surroundings."""

    voxels: tuple[tuple[int, ...], ...]

    def __new__(cls, voxels: Iterable[Iterable[int]] = ()) -> "FaintClicksNote":
        note = super().__new__(
            cls,
            "No seed differs from its surroundings by more than noise does: click into the middle "
            "of a vessel, or where it is brighter.",
        )
        note.voxels = tuple(tuple(map(int, voxel)) for voxel in voxels)
        return note


class NoContrastNote(str):
    """The clicks at `voxels` (K, J, I) differ from their surroundings in no way; others do."""

    voxels: tuple[tuple[int, ...], ...]

    def __new__(cls, voxels: Iterable[Iterable[int]]) -> "NoContrastNote":
        given = tuple(tuple(map(int, voxel)) for voxel in voxels)
        places = "; ".join(",".join(map(str, voxel[::-1])) for voxel in given)
        text = f"No contrast to the surroundings at I,J,K = {places}: only voxels close by "
        note = super().__new__(cls, text + "are added.")
        note.voxels = given
        return note
