"""Checked inputs; errors with fields, for callers that word them for their own users."""

from typing import Any

import numpy as np

from FuzzyVesselCoreLib.errors import InputError
from FuzzyVesselCoreLib.voxels.masks import mask_voxels, refuse_masked


def place_of(voxel: tuple[int, ...]) -> str:
    """A voxel (K, J, I) in messages: its indices as Slicer shows them."""
    k, j, i = voxel
    return f"I,J,K = {i},{j},{k}"


class SameVoxelError(InputError):
    """A seed and a background seed are one `voxel` (K, J, I)."""

    def __init__(self, voxel: tuple[int, ...]) -> None:
        self.voxel = voxel
        super().__init__(
            f"A seed and a background seed are the same voxel, {place_of(voxel)}: "
            "move or delete one of the two."
        )


class NotFiniteError(InputError):
    """A volume has `count` voxels that are not finite numbers."""

    def __init__(self, count: int, value: float, voxel: tuple[int, ...]) -> None:
        self.count = count
        super().__init__(
            f"The volume has {count} voxels that are not finite numbers (the first is {value} at "
            f"{place_of(voxel)}); replace them, for example by the lowest intensity."
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
            f"{first!r} and {second!r} have a point on the same voxel, {place_of(voxel)}: move or "
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
            f"The background seed at {place_of(voxel)} is as connected as a seed "
            "(connectedness 1), so no threshold can part them: move it to where the object leaks."
        )


# ---- Input validation. Every message names the invalid argument and how to fix it

VOXEL_TYPES = ("uint8", "int16", "uint16", "int32", "float32", "float64")


def checked_volume(volume: Any) -> np.ndarray:
    """Return the volume as a C-contiguous (K, J, I) array in native byte order.

    A 2D array becomes one slice. Raises `InputError` for other shapes, for voxel types that are
    not listed in `VOXEL_TYPES`, for NaN or infinite values, and for hidden values of masked arrays.
    """
    refuse_masked(volume, "volume")
    volume = np.asarray(volume)
    if volume.ndim == 4:
        raise InputError(
            f"The volume has 4 dimensions {volume.shape}: fuzzy connectedness takes one frame or "
            "one component; choose it first, for example volume[..., 0]."
        )
    if volume.ndim not in (2, 3) or volume.size == 0:
        raise InputError(f"The volume has shape {volume.shape}; K x J x I voxels are needed.")
    if volume.dtype.name not in VOXEL_TYPES:
        raise VoxelTypeError(volume.dtype.name, VOXEL_TYPES)
    if volume.ndim == 2:
        volume = volume[np.newaxis]
    volume = np.ascontiguousarray(volume, volume.dtype.newbyteorder("="))
    if volume.dtype.kind == "f":
        _require_finite(volume)
    return volume


def volume_shape(shape: tuple[int, ...]) -> tuple[int, ...]:
    """The shape as K, J, I: a slice (J, I) is a volume of one."""
    return (1,) * (3 - len(shape)) + shape


def _require_finite(volume: np.ndarray) -> None:
    # The sum is finite if all values are: one pass without a temporary mask.
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(volume.sum(dtype=np.float64)):
            return
    count, first = 0, None  # and the first one's value and voxel
    for k, plane in enumerate(volume):
        wrong = ~np.isfinite(plane)
        if first is None and wrong.any():
            j, i = map(int, np.argwhere(wrong)[0])
            first = (plane[j, i], (k, j, i))
        count += int(np.count_nonzero(wrong))
    if first is not None:
        raise NotFiniteError(count, *first)


def checked_seeds(seeds: Any, shape: tuple[int, ...], name: str = "seed") -> np.ndarray:
    """Return seeds as an (n, 3) int64 array of K, J, I within a volume of `shape`.

    Raises `InputError` if there are none, if they are not integers, or if one lies outside.
    """
    try:
        seeds = np.asarray(seeds)
    except ValueError:
        raise InputError(f"Each {name} is three integers K, J, I; got {seeds!r}.") from None
    if seeds.size == 0:
        raise InputError(f"There is no {name}: place at least one.")
    if seeds.ndim == 1:
        seeds = seeds[np.newaxis]
    if seeds.ndim == 2 and seeds.shape[1] == 2 and shape[0] == 1:
        seeds = np.insert(seeds, 0, 0, axis=1)
    if seeds.ndim != 2 or seeds.shape[1] != 3 or seeds.dtype.kind not in "iu":
        raise InputError(
            f"Each {name} is three integers K, J, I; got {seeds.dtype.name} of shape {seeds.shape}."
        )
    seeds = seeds.astype(np.int64)
    outside = ((seeds < 0) | (seeds >= np.array(shape))).any(axis=1)
    if outside.any():
        k, j, i = seeds[outside][0]
        raise InputError(
            f"{np.count_nonzero(outside)} of {len(seeds)} {name}s lie outside the volume, the "
            f"first at I,J,K = {i},{j},{k}; the volume has "
            f"{shape[2]} x {shape[1]} x {shape[0]} voxels (I x J x K)."
        )
    return seeds


def checked_background(seeds: Any, shape: tuple[int, ...]) -> np.ndarray:
    """Return background seeds as `checked_seeds` does, each once; there may be none, or None."""
    if seeds is None or not np.size(seeds):
        return np.empty((0, 3), np.int64)
    return np.unique(checked_seeds(seeds, shape, "background seed"), axis=0)


def checked_mask(mask: Any, shape: tuple[int, ...]) -> np.ndarray | None:
    """Return the mask as uint8 0/1 of `shape` (K, J, I), or None.

    Raises `InputError` if it is empty, of another shape, or holds what is not a number.
    """
    if mask is None:
        return None
    refuse_masked(mask, "mask")
    mask = np.asarray(mask)
    if mask.ndim == 2:
        mask = mask[np.newaxis]
    if mask.shape != shape:
        raise InputError(f"The mask has shape {mask.shape}, the volume {shape}; they must agree.")
    mask = np.ascontiguousarray(mask_voxels(mask), np.uint8)
    if not mask.any():
        raise InputError("The mask is empty: no voxel is left to segment.")
    return mask


def checked_spacing(spacing: Any, slices: int | None = None) -> np.ndarray:
    """Return the distances of voxels along K, J, I as 3 floats; 1, 1, 1 for None.

    For a volume of one slice, two numbers are enough. Raises `InputError` if they are not positive
    numbers.
    """
    if spacing is None:
        return np.ones(3)
    try:
        spacing = np.asarray(spacing, float)
    except (TypeError, ValueError):
        spacing = np.empty(0)
    if spacing.shape == (2,) and slices == 1:
        spacing = np.array([spacing.max(), *spacing])
    if spacing.shape != (3,) or not (np.isfinite(spacing) & (spacing > 0)).all():
        raise InputError("The spacing is three positive numbers, K, J, I, in millimetres.")
    return spacing
