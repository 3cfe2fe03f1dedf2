"""Input validation. Every message names the invalid argument and how to fix it."""

from typing import Any

import numpy as np

from FuzzyVesselCoreLib.errors import InputError
from FuzzyVesselCoreLib.voxels.masks import mask_voxels, refuse_masked

from .input_errors import NotFiniteError, VoxelTypeError

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
        raise InputError(f"There is no {name}: place at least one inside the vessel.")
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
