"""Whether a result is still that of its inputs.

Masks have a text of their voxels, which is saved with a result. Edits of large volumes within one
session are noticed by VTK's modification times, without reading the voxels.
"""

import zlib
from typing import Any

import numpy as np

from ..voxels.masks import bounding_box
from .images import array_from_image
from .reading import BINARY_LABELMAP, array_from_matrix, ijk_to_ras, image_to_world, voxels_of

# Added before rounding (mm). Coordinates of images are mostly fractions of a power of two; moved
# by this much, none of them lies midway between two rounded values, where the last bit decides.
ROUNDING_OFFSET = 0.00137
VERSION = "voxels"  # begins the texts; those of other versions cannot be compared
CACHE_SIZE = 32
_cache: dict[tuple, str] = {}  # by modification time, which VTK gives out once only
_noted: list[tuple[Any, int, int]] = []  # result (weak reference), its time and its input's


def rounded(values: Any, digits: int) -> list:
    """Coordinates as nested lists of rounded numbers that do not depend on the last bits."""
    return ((np.asarray(values, float) + ROUNDING_OFFSET).round(digits) + 0.0).tolist()


def voxels_text(inside: np.ndarray, matrix: np.ndarray) -> str:
    """A hash of a mask (K, J, I; bool) and of its place; the same after it was cropped or saved.

    `matrix` leads from I, J, K of the array to millimetres.
    """
    place, start = matrix[:3, :3].copy(), matrix[:3, 3]
    for axis in range(3):  # a file may turn an axis round
        if place[np.abs(place[:, axis]).argmax(), axis] < 0:
            inside = np.flip(inside, 2 - axis)
            start = start + place[:, axis] * (inside.shape[2 - axis] - 1)
            place[:, axis] *= -1
    box = bounding_box(inside)
    if box is None:
        return "empty"
    part = inside[box]
    start = start + place @ np.array([side.start for side in box[::-1]])
    crc = zlib.crc32(np.packbits(part).data)
    return f"{part.shape} {crc:08x} {rounded(start, 2)} {rounded(place, 4)}"


def voxels_fingerprint(mask_node: Any, segment_id: str = "") -> str:
    """A text of a mask's voxels in the frame below its parent transform; computed once an edit.

    The mask is a vtkMRMLScalarVolumeNode, or a segment (without an ID all of them) of a
    vtkMRMLSegmentationNode.
    """
    if not mask_node.IsA("vtkMRMLSegmentationNode"):
        image, matrix = mask_node.GetImageData(), ijk_to_ras(mask_node)
        key = ("volume", image and image.GetMTime(), *matrix.ravel().tolist())
        parts = [_cached(key, lambda: voxels_text(voxels_of(mask_node, copy=False) != 0, matrix))]
    else:
        segmentation = mask_node.GetSegmentation()
        ids = [segment_id] if segment_id else list(segmentation.GetSegmentIDs())
        segments = [segmentation.GetSegment(each) for each in ids]
        parts = sorted(_of_segment(segment) for segment in segments if segment is not None)
    return f"{VERSION} {parts}"


def mask_fingerprint(mask_node: Any, segment_id: str = "") -> str:
    """As `voxels_fingerprint`, in the world: a text that differs also once the mask is moved."""
    import vtk

    transform, text = mask_node.GetParentTransformNode(), voxels_fingerprint(mask_node, segment_id)
    if transform is None:
        return text
    if not transform.IsTransformToWorldLinear():
        return f"{text} {transform.GetName()}"
    matrix = vtk.vtkMatrix4x4()
    transform.GetMatrixTransformToWorld(matrix)
    return f"{text} {rounded(array_from_matrix(matrix), 3)}"


def may_be_same(text: str, other: str) -> bool:
    """Whether two texts are equal, or one is empty or of another version."""
    known = text.startswith(VERSION) and other.startswith(VERSION)
    return text == other or not known


def _of_segment(segment: Any) -> str:
    image = segment.GetRepresentation(BINARY_LABELMAP)
    if image is None:  # of surfaces, which are not edited voxel by voxel
        bounds = [0.0] * 6
        segment.GetBounds(bounds)
        return f"surface {rounded(bounds, 2)}"
    if image.IsEmpty():
        return "empty"
    label = segment.GetLabelValue()
    return _cached(
        ("segment", image.GetMTime(), label),
        lambda: voxels_text(array_from_image(image) == label, image_to_world(image)),
    )


def _cached(key: tuple, compute: Any) -> str:
    if key not in _cache:
        while len(_cache) >= CACHE_SIZE:
            del _cache[next(iter(_cache))]
        _cache[key] = compute()
    return _cache[key]


def voxel_time(volume_node: Any) -> int:
    """VTK's time of a volume's last edit in this session; 0 without voxels."""
    image = volume_node.GetImageData() if volume_node is not None else None
    return 0 if image is None else int(image.GetMTime())


def note_voxels(result_node: Any, time: int) -> None:
    """Remember that a volume, filled already, was made of an input whose `voxel_time` was this."""
    import vtk

    reference = vtk.vtkWeakReference()
    reference.Set(result_node)
    _noted[:] = [each for each in _noted if each[0].Get() not in (None, result_node)]
    _noted.append((reference, voxel_time(result_node), time))


def voxels_changed(result_node: Any, volume_node: Any) -> bool:
    """Whether a result, or the volume that it was made of, was edited since.

    Of a scene that was loaded, both count as they were loaded.
    """
    if volume_node is None:
        return False
    for reference, own, source in _noted:
        if reference.Get() is result_node:
            return (own, source) != (voxel_time(result_node), voxel_time(volume_node))
    note_voxels(result_node, voxel_time(volume_node))
    return False
