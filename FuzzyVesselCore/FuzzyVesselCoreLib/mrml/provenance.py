"""Whether a result is still that of its inputs: a text of them is saved with it, and compared.

A fingerprint is a text that stands for a node's voxels. It is computed once per edit.
"""

import zlib
from collections.abc import Callable
from typing import Any

import numpy as np

from ..voxels.masks import bounding_box, full_box
from .reading import (
    BINARY_LABELMAP,
    array_from_image,
    array_from_matrix,
    ijk_to_ras,
    image_to_world,
    voxels_of,
)

# Added before rounding (mm). Coordinates of images are mostly fractions of a power of two; moved
# by this much, none of them lies midway between two rounded values, where the last bit decides.
ROUNDING_OFFSET = 0.00137
VERSION = "voxels"  # begins the texts; those of other versions cannot be compared
CACHE_SIZE = 32
_cache: dict[tuple, Any] = {}  # by modification time, which is unique in VTK


def rounded(values: Any, digits: int) -> list:
    """Coordinates as nested lists of rounded numbers that do not depend on the last bits."""
    return ((np.asarray(values, float) + ROUNDING_OFFSET).round(digits) + 0.0).tolist()


def voxels_text(voxels: np.ndarray, matrix: np.ndarray) -> str:
    """A hash of voxels (K, J, I) and of their place; the same after they were saved and loaded.

    That of a mask (bool) is the same after it was cropped. `matrix` leads from I, J, K of the array
    to millimetres.
    """
    place, start = matrix[:3, :3].copy(), matrix[:3, 3]
    for axis in range(3):  # a file may turn an axis round
        if place[np.abs(place[:, axis]).argmax(), axis] < 0:
            voxels = np.flip(voxels, 2 - axis)
            start = start + place[:, axis] * (voxels.shape[2 - axis] - 1)
            place[:, axis] *= -1
    mask, crc = voxels.dtype == bool, 0
    box = bounding_box(voxels) if mask else full_box(voxels.shape)
    if box is None:
        return "empty"
    part = voxels[box]
    start = start + place @ np.array([side.start for side in box[::-1]])
    for each in [np.packbits(part)] if mask else part:
        crc = zlib.crc32(np.ascontiguousarray(each).data, crc)
    return f"{part.shape} {crc:08x} {rounded(start, 2)} {rounded(place, 4)}"


def volume_fingerprint(volume_node: Any) -> str:
    """A text of a volume's intensities below its parent transform.

    Empty where there is not one value for each voxel: no voxels, colours, or an edit in its middle.
    """
    image = volume_node.GetImageData() if volume_node is not None else None
    if image is None:
        return ""
    scalars = image.GetPointData().GetScalars()
    if scalars is None or scalars.GetNumberOfValues() != image.GetNumberOfPoints():
        return ""
    matrix = ijk_to_ras(volume_node)
    return once_per_edit(
        image,
        ("intensities", *matrix.ravel().tolist()),
        lambda: voxels_text(array_from_image(image), matrix),
    )


def voxels_fingerprint(mask_node: Any, segment_id: str = "") -> str:
    """A text of a mask's voxels in the frame below its parent transform.

    The mask is a vtkMRMLScalarVolumeNode, or a segment (without an ID all of them) of a
    vtkMRMLSegmentationNode.
    """
    if not mask_node.IsA("vtkMRMLSegmentationNode"):
        image, matrix = mask_node.GetImageData(), ijk_to_ras(mask_node)
        key = ("mask", *matrix.ravel().tolist())
        voxels = voxels_of(mask_node, copy=False)
        parts = [once_per_edit(image, key, lambda: voxels_text(voxels != 0, matrix))]
    else:
        segmentation = mask_node.GetSegmentation()
        ids = [segment_id] if segment_id else list(segmentation.GetSegmentIDs())
        segments = [segmentation.GetSegment(each) for each in ids]
        parts = sorted(_of_segment(segment) for segment in segments if segment is not None)
    return f"{VERSION} {parts}"


def transform_text(node: Any) -> str:
    """The transform of a node to the world, behind a space; empty where there is none."""
    import vtk

    transform = node.GetParentTransformNode()
    if transform is None:
        return ""
    if not transform.IsTransformToWorldLinear():
        return f" {transform.GetName()}"
    matrix = vtk.vtkMatrix4x4()
    transform.GetMatrixTransformToWorld(matrix)
    return f" {rounded(array_from_matrix(matrix), 3)}"


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
    return once_per_edit(
        image,
        ("segment", label),
        lambda: voxels_text(array_from_image(image) == label, image_to_world(image)),
    )


def once_per_edit(image: Any, name: tuple, compute: Callable[[], Any]) -> Any:
    """What is computed of a vtkImageData, by a name; computed again only once it was edited."""
    key = (*name, image.GetMTime())
    if key not in _cache:
        while len(_cache) >= CACHE_SIZE:
            del _cache[next(iter(_cache))]
        _cache[key] = compute()
    return _cache[key]
