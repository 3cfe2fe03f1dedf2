"""Segments as masks on a volume's voxels."""

from typing import Any

import numpy as np

from ..errors import InputError
from ..geometry import AffineSlices, sample_nearest
from ..translation import tr as _
from .images import array_from_image
from .reading import array_from_matrix, ijk_to_ras, matrix_from_array, node_name, slices_between

BINARY_LABELMAP = "Binary labelmap"


def segmentation_mask(
    segmentation_node: Any, volume_node: Any, shape: tuple[int, ...], segment_id: str
) -> np.ndarray:
    segmentation = segmentation_node.GetSegmentation()
    if segment_id and segmentation.GetSegment(segment_id) is None:
        raise InputError(
            _(
                "The segmentation {segmentation} has no segment '{segment}' any more: choose "
                "another one as mask."
            ).format(segmentation=node_name(segmentation_node), segment=segment_id)
        )
    to_segmentation = slices_between(volume_node, shape, segmentation_node)
    mask = np.zeros(shape, bool)
    for image, labels in _segment_layers(
        segmentation_node, volume_node, to_segmentation, segment_id
    ):
        values = np.isin(array_from_image(image), labels)
        slices = slices_between(volume_node, shape, segmentation_node, _ras_to_image(image))
        mask |= sample_nearest(values, slices, image.GetExtent()[::2])
    return mask


def _segment_layers(
    segmentation_node: Any, volume_node: Any, to_segmentation: Any, wanted: Any
) -> list[Any]:
    """Each image that holds segments, with their label values; the node is not changed."""
    segmentation = segmentation_node.GetSegmentation()
    if not segmentation.ContainsRepresentation(BINARY_LABELMAP):
        segmentation = _converted_copy(segmentation, volume_node, to_segmentation)
    layers: dict[Any, list[int]] = {}
    for segment_id in [wanted] if wanted else segmentation.GetSegmentIDs():
        segment = segmentation.GetSegment(segment_id)
        image = segment.GetRepresentation(BINARY_LABELMAP)
        if image is not None and not image.IsEmpty():
            layers.setdefault(image, []).append(segment.GetLabelValue())
    return list(layers.items())


def _converted_copy(segmentation: Any, volume_node: Any, to_segmentation: Any) -> Any:
    """A copy of a segmentation of surfaces with labelmaps on the volume's own grid."""
    import slicer

    on_grid = isinstance(to_segmentation, AffineSlices)
    geometry = to_segmentation.matrix if on_grid else ijk_to_ras(volume_node)
    copy = slicer.vtkSegmentation()
    copy.DeepCopy(segmentation)
    copy.SetConversionParameter(
        slicer.vtkSegmentationConverter.GetReferenceImageGeometryParameterName(),
        slicer.vtkSegmentationConverter.SerializeImageGeometry(
            matrix_from_array(geometry), volume_node.GetImageData()
        ),
    )
    copy.CreateRepresentation(BINARY_LABELMAP)
    return copy


def _ras_to_image(image: Any) -> np.ndarray:
    """The matrix from a segmentation's frame to the I, J, K of one of its images."""
    import vtk

    matrix = vtk.vtkMatrix4x4()
    image.GetWorldToImageMatrix(matrix)
    return array_from_matrix(matrix)
