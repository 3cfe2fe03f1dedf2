"""Names, matrices, tags and voxels of MRML nodes, and where voxels lie in other frames.

Nodes are read, never changed, through methods of MRML only: the same code runs inside Slicer and
on `slicer-core`. Arrays are in the order K, J, I; a matrix is 4x4, takes column vectors and voxel
indices in the order I, J, K. A voxel's position is its centre; voxel (0, 0, 0) reaches from -0.5 to
0.5.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from ..errors import InputError
from ..translation import tr as _
from ..voxels.masks import mask_voxels

# A voxel centre this far (mm) outside a box still counts as inside: the transforms round.
BOX_TOLERANCE = 1e-6
BINARY_LABELMAP = "Binary labelmap"  # Slicer's name of this representation of a segment
VOXELS_TAG = "FuzzyVesselGPU.Voxels"  # of a segment that a run wrote: a checksum of its voxels


def node_name(node: Any) -> str:
    """The node's name as it is written in messages."""
    return f"'{node.GetName() or node.GetID() or node.GetClassName()}'"


def ijk_to_ras(volume_node: Any) -> np.ndarray:
    """The volume's IJKToRAS: ndarray, shape (4, 4); RAS is the frame below its parent transform."""
    import vtk

    matrix = vtk.vtkMatrix4x4()
    volume_node.GetIJKToRASMatrix(matrix)
    return array_from_matrix(matrix)


def image_to_world(image: Any) -> np.ndarray:
    """From I, J, K of a vtkOrientedImageData's array to millimetres: ndarray, shape (4, 4)."""
    import vtk

    matrix = vtk.vtkMatrix4x4()
    image.GetImageToWorldMatrix(matrix)
    place = array_from_matrix(matrix)
    place[:3, 3] += place[:3, :3] @ np.array(image.GetExtent()[::2], float)
    return place


def array_from_matrix(matrix: Any) -> np.ndarray:
    """A vtkMatrix4x4 as ndarray, shape (4, 4), float64."""
    return np.array([[matrix.GetElement(r, c) for c in range(4)] for r in range(4)])


def matrix_from_array(array: Any) -> Any:
    """An array_like of shape (4, 4) as vtkMatrix4x4."""
    import vtk

    matrix = vtk.vtkMatrix4x4()
    matrix.DeepCopy(np.asarray(array, float).ravel())
    return matrix


def image_from_array(array: np.ndarray, image: Any = None, taken: bool = False) -> Any:
    """An array (K, J, I) or (K, J, I, components) as vtkImageData, by default a new one.

    If it is `taken`, the image uses the array's own memory (if that is in C order): nobody writes
    into the array any more. By default the image has a copy.
    """
    import vtk
    from vtk.util.numpy_support import numpy_to_vtk

    image = vtk.vtkImageData() if image is None else image
    image.SetDimensions(array.shape[2::-1])
    values = np.ascontiguousarray(array).reshape(-1, *array.shape[3:])
    image.GetPointData().SetScalars(numpy_to_vtk(values, deep=not taken))
    return image


def array_from_image(image: Any) -> np.ndarray:
    """The voxels of a vtkImageData: ndarray, shape (K, J, I); a view, not a copy."""
    from vtk.util.numpy_support import vtk_to_numpy

    return vtk_to_numpy(image.GetPointData().GetScalars()).reshape(image.GetDimensions()[::-1])


def transform_points(matrix: Any, points: Any) -> np.ndarray:
    """Apply an affine 4x4 matrix to points (n, 3); float64 (n, 3)."""
    matrix = np.asarray(matrix, float)
    return np.asarray(points, float).reshape(-1, 3) @ matrix[:3, :3].T + matrix[:3, 3]


def voxels_to_points(voxels: Any, ijk_to_points: Any) -> np.ndarray:
    """The centres (n, 3), float64, of voxels K, J, I (n, 3)."""
    return transform_points(ijk_to_points, np.asarray(voxels).reshape(-1, 3)[:, ::-1])


def voxel_volume(ijk_to_mm: Any) -> float:
    """The volume of one voxel in cubic millimetres, also for oblique and left-handed axes."""
    return abs(float(np.linalg.det(np.asarray(ijk_to_mm)[:3, :3])))


def transform_between(source_node: Any, target_node: Any) -> Any:
    """A vtkGeneralTransform from below one node's parent transform to below another's.

    None instead of a node stands for the world.
    """
    import slicer
    import vtk

    transform = vtk.vtkGeneralTransform()
    slicer.vtkMRMLTransformNode.GetTransformBetweenNodes(
        source_node.GetParentTransformNode() if source_node is not None else None,
        target_node.GetParentTransformNode() if target_node is not None else None,
        transform,
    )
    return transform


def matrix_between(source_node: Any, target_node: Any) -> np.ndarray | None:
    """As `transform_between`, as a matrix (4, 4); None where no matrix can."""
    import slicer
    import vtk

    source, target = (n and n.GetParentTransformNode() for n in (source_node, target_node))
    matrix = vtk.vtkMatrix4x4()
    linear = slicer.vtkMRMLTransformNode.GetMatrixTransformBetweenNodes(source, target, matrix)
    return array_from_matrix(matrix) if linear else None


def transformed(transform: Any, points: Any) -> np.ndarray:
    """Points (n, 3) under a VTK transform, float64."""
    import vtk
    from vtk.util.numpy_support import numpy_to_vtk, vtk_to_numpy

    flat = np.ascontiguousarray(points, float).reshape(-1, 3)
    before, after = vtk.vtkPoints(), vtk.vtkPoints()
    after.SetDataTypeToDouble()
    before.SetData(numpy_to_vtk(flat))
    transform.TransformPoints(before, after)
    return vtk_to_numpy(after.GetData()).reshape(-1, 3)


def tag_text(segment: Any, name: str) -> str:
    """The text of a vtkSegment's tag, or an empty text."""
    import vtk

    value = vtk.reference("")
    return str(value) if segment.GetTag(name, value) else ""


def check_segment(segmentation_node: Any, segment_id: str) -> None:
    """Raise `InputError` where a segmentation lacks a segment; no ID is no segment."""
    if segment_id and segmentation_node.GetSegmentation().GetSegment(segment_id) is None:
        text = _("The segmentation {node} has no segment '{id}' any more: choose another one.")
        raise InputError(text.format(node=node_name(segmentation_node), id=segment_id))


def is_result(segment: Any) -> bool:
    """Whether a vtkSegment was written by a run."""
    return bool(tag_text(segment, VOXELS_TAG))


def voxels_of(volume_node: Any, copy: bool = True) -> np.ndarray:
    """The voxels of a vtkMRMLScalarVolumeNode: ndarray, shape (K, J, I).

    Without a copy they are the node's own, only to be read at once. `InputError` where there is no
    volume, it is empty, or it has more than one component.
    """
    import slicer

    if volume_node is None:
        raise InputError(_("No volume was given: choose the volume to segment."))
    name = node_name(volume_node)
    if not volume_node.IsA("vtkMRMLScalarVolumeNode"):
        raise InputError(_("{volume} is not a scalar volume.").format(volume=name))
    image = volume_node.GetImageData()
    if image is None or image.GetPointData().GetScalars() is None:
        text = _("The volume {volume} holds no voxels: load it again.")
        raise InputError(text.format(volume=name))
    components = image.GetNumberOfScalarComponents()
    if components != 1:
        text = _(
            "The volume {volume} has {count} components a voxel (a colour image has 3): "
            "extract one of them first (module Vector to Scalar Volume)."
        )
        raise InputError(text.format(volume=name, count=components))
    voxels = slicer.util.arrayFromVolume(volume_node)
    return voxels.copy() if copy else voxels


def centres_between(
    volume_node: Any, shape: tuple[int, ...], target_node: Any, frame_to_target: np.ndarray
) -> Iterator[np.ndarray]:
    """Where the centres of a volume's voxels lie below another node's parent transform.

    `shape` is K, J, I of the volume; the target None is the world. `frame_to_target` (4, 4) is
    applied last, for example that node's RASToIJK. Returns slices: ndarray (3, J, I).
    """
    matrix = _ijk_to_frame(volume_node, target_node)
    if matrix is not None:
        return voxel_centres(frame_to_target @ matrix, shape)
    transform = transform_between(volume_node, target_node)

    def moved(centres: np.ndarray) -> np.ndarray:
        points = transformed(transform, centres.reshape(3, -1).T)
        return transform_points(frame_to_target, points).T.reshape(centres.shape)

    return map(moved, voxel_centres(ijk_to_ras(volume_node), shape))


def voxel_centres(ijk_to_points: Any, shape: Sequence[int]) -> Iterator[np.ndarray]:
    """Where the centres of a volume's voxels lie, slice by slice: ndarray (3, J, I), float64."""
    slices, rows, columns = shape
    matrix = np.asarray(ijk_to_points, float)[:3, :, np.newaxis, np.newaxis]
    along_i, along_j, along_k, start = matrix.swapaxes(0, 1)
    first = start + along_j * np.arange(rows)[:, np.newaxis] + along_i * np.arange(columns)
    return (first + k * along_k for k in range(slices))


def _ijk_to_frame(volume_node: Any, target_node: Any) -> np.ndarray | None:
    """From I, J, K to below another node's parent transform; None where no matrix can."""
    matrix = matrix_between(volume_node, target_node)
    return None if matrix is None else matrix @ ijk_to_ras(volume_node)


# ---- Masks from MRML nodes: labelmaps, segmentations and regions of interest on a volume's voxels


def region_mask(
    mask_node: Any, roi_node: Any, volume_node: Any, shape: tuple[int, ...], segment_id: str = ""
) -> np.ndarray | None:
    """The voxels that are in a mask and in a region of interest; None where neither is given.

    `InputError` where one of them cannot be used (see `mask_of`), or they leave no voxel.
    """
    masks = []
    if mask_node is not None:
        masks.append(mask_of(mask_node, volume_node, shape, segment_id))
    if roi_node is not None:
        masks.append(roi_mask(roi_node, volume_node, shape))
    if not masks:
        return None
    region = np.logical_and.reduce(masks)
    if not region.any():
        text = _("The mask {mask} and the region {region} have no voxel in common.")
        raise InputError(text.format(mask=node_name(mask_node), region=node_name(roi_node)))
    return region


def roi_mask(roi_node: Any, volume_node: Any, shape: tuple[int, ...]) -> np.ndarray:
    """The voxels with their centre inside a region of interest: ndarray (K, J, I), bool.

    The box is the one that Slicer draws (always with right angles), also turned and under
    transforms; an "inside out" box selects what is outside. `InputError` where it is no ROI, has
    not been placed, or misses the volume.
    """
    region = node_name(roi_node)
    if not roi_node.IsA("vtkMRMLMarkupsROINode"):
        text = _("{region} is not a region of interest (a markups ROI).")
        raise InputError(text.format(region=region))
    half_sizes = np.array(roi_node.GetSize()) / 2
    if roi_node.GetNumberOfDefinedControlPoints() == 0 or not half_sizes.all():
        text = _("The region {region} has not been placed, or has no size.")
        raise InputError(text.format(region=region))
    world_to_box = np.linalg.inv(array_from_matrix(roi_node.GetObjectToWorldMatrix()))
    mask = box_mask(centres_between(volume_node, shape, None, world_to_box), shape, half_sizes)
    if roi_node.GetInsideOut():
        np.logical_not(mask, out=mask)
    if not mask.any():
        text = _("The region {region} holds no voxel of {volume}: move or enlarge it.")
        raise InputError(text.format(region=region, volume=node_name(volume_node)))
    return mask


def box_mask(centres: Iterable[np.ndarray], shape: Sequence[int], half_sizes: Any) -> np.ndarray:
    """Which voxels (K, J, I) lie in a box around the origin with these half sizes (mm).

    The `centres` of each slice (see `voxel_centres`) are in the box's own axes.
    """
    reach = (np.asarray(half_sizes, float) + BOX_TOLERANCE)[:, np.newaxis, np.newaxis]
    mask = np.empty(shape, bool)
    for part, positions in zip(mask, centres):
        part[...] = (np.abs(positions) <= reach).all(axis=0)
    return mask


def fit_roi(roi_node: Any, volume_node: Any) -> None:
    """Move and resize a region of interest, with its axes, so that it just holds a volume."""
    import slicer

    box_to_world = array_from_matrix(roi_node.GetObjectToWorldMatrix())
    corners = np.array(list(np.ndindex(2, 2, 2))) * volume_node.GetImageData().GetDimensions()
    local = transform_points(ijk_to_ras(volume_node), corners - 0.5)
    world = transformed(transform_between(volume_node, None), local)
    points = transform_points(np.linalg.inv(box_to_world), world)
    low, high = points.min(axis=0), points.max(axis=0)
    with slicer.util.NodeModify(roi_node):
        roi_node.SetCenterWorld(transform_points(box_to_world, [(low + high) / 2])[0])
        roi_node.SetSize(high - low)


def mask_of(
    mask_node: Any, volume_node: Any, shape: tuple[int, ...], segment_id: str = ""
) -> np.ndarray:
    """A labelmap or a segmentation as a mask on a volume's voxels: ndarray (K, J, I), bool.

    By nearest neighbour: geometry and transforms may be its own. Not 0, or in any segment (or the
    one of `segment_id`), counts as inside. `InputError` where it is neither, lacks the segment,
    holds what is not a number, or has no voxel inside of the volume.
    """
    name = node_name(mask_node)
    if mask_node.IsA("vtkMRMLSegmentationNode"):
        mask = _segmentation_mask(mask_node, volume_node, shape, segment_id)
    elif mask_node.IsA("vtkMRMLScalarVolumeNode"):
        mask = mask_voxels(voxels_of(mask_node), _("The mask {mask}").format(mask=name))
        place = ijk_to_ras(mask_node)
        same_frame = mask_node.GetParentTransformNode() is volume_node.GetParentTransformNode()
        same_place = np.allclose(place, ijk_to_ras(volume_node), rtol=0, atol=1e-6)
        if not (mask.shape == tuple(shape) and same_frame and same_place):
            centres = centres_between(volume_node, shape, mask_node, np.linalg.inv(place))
            mask = sample_nearest(mask, centres, shape)
    else:
        raise InputError(_("The mask {mask} is no labelmap and no segmentation.").format(mask=name))
    if not mask.any():
        text = _("The mask {mask} is empty within {volume}: no voxel is left to segment.")
        raise InputError(text.format(mask=name, volume=node_name(volume_node)))
    return mask


def _segmentation_mask(
    node: Any, volume_node: Any, shape: tuple[int, ...], segment_id: str
) -> np.ndarray:
    segmentation = node.GetSegmentation()
    check_segment(node, segment_id)
    if not segmentation.ContainsRepresentation(BINARY_LABELMAP):
        matrix = _ijk_to_frame(volume_node, node)
        matrix = ijk_to_ras(volume_node) if matrix is None else matrix
        segmentation = _converted_copy(segmentation, matrix, shape)
    layers: dict[Any, list[int]] = {}
    for each in [segment_id] if segment_id else segmentation.GetSegmentIDs():
        segment = segmentation.GetSegment(each)
        image = segment.GetRepresentation(BINARY_LABELMAP)
        if image is not None and not image.IsEmpty():
            layers.setdefault(image, []).append(segment.GetLabelValue())
    mask = np.zeros(shape, bool)
    for image, labels in layers.items():
        centres = centres_between(volume_node, shape, node, np.linalg.inv(image_to_world(image)))
        mask |= sample_nearest(np.isin(array_from_image(image), labels), centres, shape)
    return mask


def _converted_copy(segmentation: Any, matrix: np.ndarray, shape: tuple[int, ...]) -> Any:
    """A copy of a segmentation of surfaces with labelmaps on the volume's own grid."""
    import slicer
    import vtk

    image = vtk.vtkImageData()
    image.SetDimensions(shape[::-1])
    copy, converter = slicer.vtkSegmentation(), slicer.vtkSegmentationConverter
    copy.DeepCopy(segmentation)
    copy.SetConversionParameter(
        converter.GetReferenceImageGeometryParameterName(),
        converter.SerializeImageGeometry(matrix_from_array(matrix), image),
    )
    copy.CreateRepresentation(BINARY_LABELMAP)
    return copy


def sample_nearest(
    values: np.ndarray, centres: Iterable[np.ndarray], shape: Sequence[int]
) -> np.ndarray:
    """Values of another grid at the voxel centres (K, J, I) of a volume; 0 outside that grid.

    The `centres` of each slice are I, J, K indices of the other grid.
    """
    result = np.zeros(shape, values.dtype)
    end = np.array(values.shape[::-1])[:, np.newaxis, np.newaxis]
    for part, positions in zip(result, centres):
        ijk = positions + 0.5  # from the first voxel's corner: truncation then rounds
        hit = ((ijk >= 0) & (ijk < end)).all(axis=0)
        part[hit] = values[tuple(ijk[:, hit].astype(np.intp)[::-1])]
    return result
