"""Masks of voxels: boxes round them (tuples of slices), components, cavities, dilation."""

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from ..compilation import needs_numba
from ..errors import InputError
from ..progress import in_parts
from ..translation import tr as _

Box = tuple[slice, ...]


def count_voxels(mask: Any) -> int:
    """The number of voxels that are not 0; an array of NumPy or CuPy.

    CuPy's own `count_nonzero`, `any` and `all` of a whole array compile for 3 to 6 s each, at the
    first use of a card.
    """
    if isinstance(mask, np.ndarray):
        return int(np.count_nonzero(mask))
    return int(mask.reshape(-1).nonzero()[0].size)


def bounding_box(mask: np.ndarray) -> Box | None:
    """Return the smallest box that holds all voxels that are not 0; None if there is none."""
    # The greatest of unsigned numbers is found several at a time, whether any is not 0 is not.
    union = np.maximum if mask.dtype.kind in "bu" else np.logical_or
    box = []
    while mask.ndim:
        used = np.flatnonzero(mask.any(axis=tuple(range(1, mask.ndim))))
        if not used.size:
            return None
        box.append(slice(int(used[0]), int(used[-1]) + 1))
        mask = union.reduce(mask[box[-1]], axis=0)  # what is left has one axis less
    return tuple(box)


def padded_box(box: Sequence[slice], margin: Sequence[int], shape: Sequence[int]) -> Box:
    """Return a box enlarged on every side by a margin along each axis, within the volume."""
    return tuple(
        slice(max(side.start - layers, 0), min(side.stop + layers, length))
        for side, layers, length in zip(box, margin, shape, strict=True)
    )


def full_box(shape: Sequence[int]) -> Box:
    """Return the box that holds the whole volume."""
    return tuple(slice(0, length) for length in shape)


def mask_voxels(values: np.ndarray, mask: str = "") -> np.ndarray:
    """Which voxels of a mask (any type of numbers) are inside: those that are not 0.

    What is not a number is refused (`InputError`, with the mask's name): programs write it round a
    mask, where it would count as inside.
    """
    if values.dtype.kind == "f":
        count = int(np.count_nonzero(np.isnan(values)))
        if count:
            text = _("{mask} has voxels that are not a number ({count:,}): replace them by 0.")
            raise InputError(text.format(mask=mask or _("The mask"), count=count))
    return values != 0


def refuse_masked(array: Any, name: str) -> None:
    """Raise `InputError` where a masked array of numpy hides some values."""
    count = int(np.ma.count_masked(array)) if hasattr(array, "filled") else 0
    if count:
        values = "value" if count == 1 else "values"
        raise InputError(
            f"The {name} is a masked array with {count:,} hidden {values}, which would be shown: "
            f"give {name}.filled(...) with the value that they should have."
        )


def dilate(mask: Any) -> Any:
    """Where a mask (bool; K, J, I) or one of the 26 neighbours is True, with NumPy or CuPy."""
    mask = mask.copy()
    for axis in range(3):
        before, lines = mask.copy().swapaxes(0, axis), mask.swapaxes(0, axis)
        lines[1:] |= before[:-1]
        lines[:-1] |= before[1:]
    return mask


def erode(mask: Any) -> Any:
    """Where a mask and all 26 neighbours are True; beyond the volume it counts as False."""
    inside = ~dilate(~mask)
    for axis in range(3):
        lines = inside.swapaxes(0, axis)
        lines[:1] = lines[-1:] = False
    return inside


def same_values(one: np.ndarray, other: np.ndarray) -> bool:
    """Whether two arrays have the same type, shape and values; at once where memory is the same."""
    if one.dtype != other.dtype or one.shape != other.shape:
        return False
    if one is other or one.__array_interface__ == other.__array_interface__:
        return True
    parts = in_parts(lambda a, b: np.array_equal(one[a:b], other[a:b]), len(one), one.size)
    return all(parts)


# ---- Connected components of a mask, and enclosed cavities

CUBE = np.ones((3, 3, 3), bool)  # 26-neighbourhood as a structuring element


def label_components(mask: np.ndarray, connectivity: Literal[6, 26] = 26) -> tuple[np.ndarray, int]:
    """Label the connected components of a mask from 1, in the order of their first voxels.

    The object of a mask (bool or uint8; K, J, I) is not 0; 26: over faces, edges and corners, 6:
    over faces only. Returns labels (int32; K, J, I; 0 outside of the mask) and their number.
    """
    voxels = np.ascontiguousarray(mask) != 0
    if 1 in voxels.shape:  # cc3d 4.1 expects too few labels in some volumes one voxel thick
        from scipy import ndimage

        labels, count = ndimage.label(voxels, CUBE if connectivity == 26 else None)
    else:
        with needs_numba():
            import cc3d

        labels, count = cc3d.connected_components(
            voxels, connectivity=connectivity, return_N=True, out_dtype=np.uint32
        )
    return labels.view(np.int32), count


def boxes_of(labels: np.ndarray) -> list[Box]:
    """The box of each component, from 1, of labels (K, J, I) that are all there."""
    if labels.max() == 1 and (only := bounding_box(labels)):
        return [only]
    from scipy import ndimage

    return ndimage.find_objects(labels)


def fill_cavities(mask: np.ndarray) -> tuple[np.ndarray, int, int]:
    """Fill cavities: background that is not 6-connected to the outside of the volume.

    Returns the filled mask (bool; K, J, I), which is the mask itself if it has no cavity, and the
    numbers of cavities and of their voxels.
    """
    box = bounding_box(mask)
    if box is None:
        return mask, 0, 0
    # With a margin, all background outside of the object is the first component.
    background = np.pad(mask[box] == 0, 1, constant_values=True)
    labels, count = label_components(background, 6)
    if count == 1:
        return mask, 0, 0
    cavities = labels[1:-1, 1:-1, 1:-1] > 1
    filled = np.array(mask, order="C")
    filled[box] |= cavities
    return filled, count - 1, int(np.count_nonzero(cavities))
