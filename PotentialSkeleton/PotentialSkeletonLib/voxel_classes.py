"""The classes of an object's voxels, and the solid with the charges; by NumPy or CuPy."""

from typing import Any

import numpy as np

from FuzzyVesselCoreLib.errors import InputError
from FuzzyVesselCoreLib.progress import Progress
from FuzzyVesselCoreLib.voxels.masks import erode, refuse_masked

OUTSIDE, SURFACE, BOUNDARY, INNER = 0, 1, 2, 3


def classify_voxels(mask: np.ndarray) -> np.ndarray:
    """Classify the voxels of a volume: outside 0, surface 1, boundary 2, inner 3; uint8 (K, J, I).

    A surface voxel has an outside voxel among its 26 neighbours; a boundary voxel is not a surface
    voxel but has one among its 26 neighbours; an inner voxel is any other voxel of the object,
    which is where the mask (K, J, I or one slice) is not 0. All beyond the volume is outside
    (Zhao et al. 2016, section 1).

    Examples
    --------
    >>> classify_voxels(np.ones((7, 7, 7)))[3, 3]
    array([1, 2, 3, 3, 3, 2, 1], dtype=uint8)
    """
    solid = checked_object(mask)
    no_surface = erode(solid)
    return solid.astype(np.uint8) + no_surface + erode(no_surface)


def checked_object(mask: np.ndarray) -> np.ndarray:
    """Return the object of a labelmap as bool (K, J, I); raises `InputError`."""
    return checked_labelmap(mask) != 0


def checked_labelmap(mask: np.ndarray) -> np.ndarray:
    """Return a labelmap as numbers (K, J, I); raises `InputError` if it cannot be one."""
    refuse_masked(mask, "labelmap")
    mask = np.asarray(mask)
    if mask.ndim == 2:
        mask = mask[np.newaxis]
    if mask.ndim != 3 or mask.size == 0:
        raise InputError(f"The labelmap has shape {mask.shape}; K x J x I voxels are needed.")
    if mask.dtype.kind not in "biuf":
        raise InputError(f"The labelmap has voxels of type {mask.dtype.name}; numbers are needed.")
    if mask.dtype.kind == "f" and not np.isfinite(mask).all():
        raise InputError(
            f"The labelmap has {np.count_nonzero(~np.isfinite(mask))} voxels that are infinite or "
            "not a number; replace them by 0."
        )
    return mask


# ---- The solid that carries the charges

RESOLVED_RADIUS = 6  # voxels from a ridge to the outside from which on the field is resolved
MAX_AUTOMATIC_DISTANCE = 2  # layers
THIN_PERCENTAGE = 10  # of the ridge that may be thinner than the field resolves


def dilated(mask: Any) -> Any:
    """Where a bool volume or one of the 26 neighbours is True."""
    mask = mask.copy()
    for axis in range(3):
        before, lines = mask.copy().swapaxes(0, axis), mask.swapaxes(0, axis)
        lines[1:] |= before[:-1]
        lines[:-1] |= before[1:]
    return mask


def classes_and_targets(mask: Any, layers: int, progress: Progress) -> tuple[Any, Any]:
    """Voxel classes of a mask (bool) dilated by layers, and the voxels whose force is summed.

    The mask has a margin as wide as the layers. Targets (bool) are the inner voxels, and the
    boundary voxels without an inner one among their 26 neighbours.
    """
    for _ in range(layers):
        mask = dilated(mask)
        progress.check()
    no_surface = erode(mask)
    inner = erode(no_surface)
    progress.check()
    classes = mask.view(np.uint8) + no_surface.view(np.uint8) + inner.view(np.uint8)
    return classes, inner | (no_surface & ~dilated(inner))


def average_boundary(classes: Any, vectors: Any, xp: Any) -> None:
    """Give boundary voxels the mean force of the inner voxels around them, in place.

    (Zhao et al. 2016, section 2.1.) No boundary voxel lies on the array's border.
    """
    forces, is_inner = vectors.reshape(-1, 3), (classes == INNER).ravel()
    voxels = xp.flatnonzero(classes == BOUNDARY)
    sums, counts = xp.zeros((len(voxels), 3)), xp.zeros(len(voxels), np.int64)
    _, rows, width = classes.shape
    for k, j, i in np.ndindex(3, 3, 3):
        near = voxels + (((k - 1) * rows + j - 1) * width + i - 1)
        counted = xp.flatnonzero(is_inner[near])
        sums[counted] += forces[near[counted]]
        counts[counted] += 1
    has_inner = xp.flatnonzero(counts)
    forces[voxels[has_inner]] = sums[has_inner] / counts[has_inner, None]


def clear_across(vectors: Any, layers: int) -> None:
    """Write the 0 that forces across a component one voxel thick have by symmetry.

    The sums to both sides cancel but for rounding, which differs from method to method: critical
    points would come and go with the last bits.
    """
    for axis in range(3):
        if vectors.shape[axis] == 2 * layers + 1:
            vectors.swapaxes(0, axis)[layers, ..., axis] = 0


def automatic_charge_distance(mask: Any, unit_depth: np.ndarray | None, gpu: Any = None) -> int:
    """Layers by which charges go outward so that the field resolves thin parts: 0 to 2.

    Judged by the distances to the outside, in voxels, on the ridge of these distances
    (`unit_depth`, if they are known; not used on a device, where the mask is CuPy's). The mask
    (bool, K, J, I) does not touch the border of the array.
    """
    if gpu is not None and gpu.xp.__name__ == "cupy":
        from cupyx.scipy import ndimage

        depth = ndimage.distance_transform_edt(mask, float64_distances=False)
        ridge = depth[(depth > 0) & (depth == ndimage.maximum_filter(depth, 3))].get()
    else:
        from FuzzyVesselCoreLib.voxels.distances import distance_to_outside, ridge_depths

        if unit_depth is None:
            unit_depth = distance_to_outside(mask.view(np.uint8), (1, 1, 1))
        ridge = ridge_depths(unit_depth)
    thin_radius = float(np.percentile(ridge, THIN_PERCENTAGE))
    return int(np.clip(np.ceil(RESOLVED_RADIUS - thin_radius), 0, MAX_AUTOMATIC_DISTANCE))
