"""A short text of a mask's voxels: another one after an edit, the same after saving and loading."""

from typing import Any

import numpy as np

from ..images import array_from_image
from ..reading import array_from_matrix, ijk_to_ras, voxels_of
from ..segment_masks import BINARY_LABELMAP

# Added before rounding (mm). Coordinates of images are mostly fractions of a power of two; moved
# by this much, none of them lies midway between two rounded values, where the last bit decides.
ROUNDING_OFFSET = 0.00137
CACHE_SIZE = 32
_cache: dict[tuple, str] = {}  # by the modification times, which VTK gives out once only


def rounded(values: Any, digits: int) -> list:
    """Coordinates as nested lists of rounded numbers that do not depend on the last bits."""
    return ((np.asarray(values, float) + ROUNDING_OFFSET).round(digits) + 0.0).tolist()


def mask_fingerprint(mask_node: Any, segment_id: str = "") -> str:
    """As `voxels_fingerprint`, in the world: a text that differs also once the mask is moved."""
    return f"{voxels_fingerprint(mask_node, segment_id)} {_transform(mask_node)}"


def voxels_fingerprint(mask_node: Any, segment_id: str = "") -> str:
    """Count, centre and extent of a mask's voxels in the frame below its parent transform.

    Computed once after an edit.

    Parameters
    ----------
    mask_node : vtkMRMLScalarVolumeNode or vtkMRMLSegmentationNode
    segment_id : str
        Of a segmentation; empty for all its segments.

    Returns
    -------
    str
    """
    if mask_node.IsA("vtkMRMLSegmentationNode"):
        segmentation = mask_node.GetSegmentation()
        ids = [segment_id] if segment_id else list(segmentation.GetSegmentIDs())
        segments = [segmentation.GetSegment(each) for each in ids]
        parts = [_of_segment(segment) for segment in segments if segment is not None]
    else:
        parts = [_of_volume(mask_node)]
    return str(sorted(parts))


def _of_volume(node: Any) -> str:
    image = node.GetImageData()
    if image is None:
        return ""
    matrix = ijk_to_ras(node)
    key = ("volume", image.GetMTime(), *matrix.ravel().tolist())
    return _cached(key, lambda: _moments(voxels_of(node, copy=False) != 0, matrix))


def _of_segment(segment: Any) -> str:
    import vtk

    image = segment.GetRepresentation(BINARY_LABELMAP)
    if image is None:  # of surfaces, which are not edited voxel by voxel
        bounds = [0.0] * 6
        segment.GetBounds(bounds)
        return f"surface {rounded(bounds, 2)}"
    if image.IsEmpty():
        return ""
    label, matrix = segment.GetLabelValue(), vtk.vtkMatrix4x4()
    image.GetImageToWorldMatrix(matrix)
    to_world = array_from_matrix(matrix)
    first = np.array(image.GetExtent()[::2])
    return _cached(
        ("segment", image.GetMTime(), label),
        lambda: _moments(array_from_image(image) == label, to_world, first),
    )


def _moments(inside: np.ndarray, to_world: np.ndarray, first: Any = 0) -> str:
    """Count, centre (mm) and mean squared extents (mm^2) of the voxels (K, J, I) inside."""
    profiles = [
        np.count_nonzero(inside, axis=tuple(a for a in range(3) if a != axis)) for axis in (2, 1, 0)
    ]
    count = int(profiles[0].sum())
    if not count:
        return "0"
    indices = [np.arange(len(profile)) for profile in profiles]
    means = np.array([(i * p).sum() / count for i, p in zip(indices, profiles)])
    squares = np.array([(i * i * p).sum() / count for i, p in zip(indices, profiles)])
    extents = (squares - means**2) * (to_world[:3, :3] ** 2).sum(axis=0)
    centre = to_world[:3, :3] @ (means + first) + to_world[:3, 3]
    return f"{count} {rounded(centre, 2)} {rounded(extents, 2)}"


def _cached(key: tuple, compute: Any) -> str:
    if key not in _cache:
        while len(_cache) >= CACHE_SIZE:
            del _cache[next(iter(_cache))]
        _cache[key] = compute()
    return _cache[key]


def _transform(node: Any) -> str:
    import vtk

    transform = node.GetParentTransformNode()
    if transform is None:
        return ""
    if not transform.IsTransformToWorldLinear():
        return str(transform.GetName())
    matrix = vtk.vtkMatrix4x4()
    transform.GetMatrixTransformToWorld(matrix)
    return str(rounded(array_from_matrix(matrix), 3))
