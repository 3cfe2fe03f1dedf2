"""Names, matrices, tags and voxels of MRML nodes, and where voxels lie in other frames.

Nodes are read (only `fit_roi` changes one) through methods of MRML: the same code runs inside
Slicer and on `slicer-core`. Arrays are in the order K, J, I; a matrix is 4x4, takes column vectors
and voxel indices in the order I, J, K. A voxel's position is its centre; voxel (0, 0, 0) reaches
from -0.5 to 0.5.
"""

from collections.abc import Iterator, Sequence
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


def image_from_array(array: np.ndarray, image: Any = None, copy: bool = True) -> Any:
    """An array (K, J, I) or (K, J, I, components) as vtkImageData, by default a new one.

    Without a copy the image uses the array's memory (if that is in C order), which must not be
    written into any more.
    """
    import vtk
    from vtk.util.numpy_support import numpy_to_vtk

    image = vtk.vtkImageData() if image is None else image
    image.SetDimensions(array.shape[2::-1])
    values = np.ascontiguousarray(array).reshape(-1, *array.shape[3:])
    image.GetPointData().SetScalars(numpy_to_vtk(values, deep=copy))
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


def oriented_grid(ijk_to_mm: Any, shape: Sequence[int]) -> Any:
    """A vtkOrientedImageData without voxels, of a shape (K, J, I); the matrix is (4, 4)."""
    import slicer

    image = slicer.vtkOrientedImageData()
    image.SetDimensions(shape[::-1])
    image.SetGeometryFromImageToWorldMatrix(matrix_from_array(ijk_to_mm))
    return image


def voxels_on(image: Any, like: Any, transform: Any = None) -> np.ndarray:
    """Where a vtkOrientedImageData is not 0, on the grid of another one: ndarray (K, J, I), bool.

    By nearest neighbour, and nowhere outside of the image. `transform` leads from below the image's
    parent transform to below the other one's.
    """
    import slicer

    found = slicer.vtkOrientedImageData()
    slicer.vtkOrientedImageDataResample.ResampleOrientedImageToReferenceOrientedImage(
        image, like, found, False, False, transform
    )
    return array_from_image(found) > 0


def _centres(
    volume_node: Any, shape: Sequence[int], world_to_frame: np.ndarray
) -> Iterator[np.ndarray]:
    """The centres of a volume's voxels in a frame of the world, by slices: ndarray (3, J, I)."""
    slices, rows, columns = shape
    matrix, to_world = ijk_to_ras(volume_node), matrix_between(volume_node, None)
    if to_world is not None:
        matrix = world_to_frame @ to_world @ matrix
    along_i, along_j, along_k, start = matrix[:3].T[:, :, np.newaxis, np.newaxis]
    first = start + along_j * np.arange(rows)[:, np.newaxis] + along_i * np.arange(columns)
    for k in range(slices):
        centres = first + k * along_k
        if to_world is None:
            points = transformed(transform_between(volume_node, None), centres.reshape(3, -1).T)
            centres = transform_points(world_to_frame, points).T.reshape(centres.shape)
        yield centres


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
    reach = (half_sizes + BOX_TOLERANCE)[:, np.newaxis, np.newaxis]
    mask = np.empty(shape, bool)
    for part, positions in zip(mask, _centres(volume_node, shape, world_to_box)):
        part[...] = (np.abs(positions) <= reach).all(axis=0)
    if roi_node.GetInsideOut():
        np.logical_not(mask, out=mask)
    if not mask.any():
        text = _("The region {region} holds no voxel of {volume}: move or enlarge it.")
        raise InputError(text.format(region=region, volume=node_name(volume_node)))
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
    grid = oriented_grid(ijk_to_ras(volume_node), shape)
    if mask_node.IsA("vtkMRMLSegmentationNode"):
        check_segment(mask_node, segment_id)
        images = _segment_images(mask_node, segment_id, grid, volume_node)
    elif mask_node.IsA("vtkMRMLScalarVolumeNode"):
        voxels = mask_voxels(voxels_of(mask_node), _("The mask {mask}").format(mask=name))
        own = oriented_grid(ijk_to_ras(mask_node), voxels.shape)
        images = iter([image_from_array(voxels.view(np.uint8), own, copy=False)])
    else:
        text = _("The mask {mask} is neither a labelmap nor a segmentation.")
        raise InputError(text.format(mask=name))
    mask, transform = np.zeros(shape, bool), transform_between(mask_node, volume_node)
    for image in images:
        mask |= voxels_on(image, grid, transform)
    if not mask.any():
        text = _("The mask {mask} is empty within {volume}: no voxel is left to segment.")
        raise InputError(text.format(mask=name, volume=node_name(volume_node)))
    return mask


def _segment_images(node: Any, segment_id: str, grid: Any, volume_node: Any) -> Iterator[Any]:
    """Images that are not 0 in segments of a segmentation, one for each layer of them.

    Of surfaces they are made on the volume's `grid`.
    """
    import slicer

    segmentation = node.GetSegmentation()
    if not segmentation.ContainsRepresentation(BINARY_LABELMAP):
        moved, converter = matrix_between(volume_node, node), slicer.vtkSegmentationConverter
        if moved is not None:
            grid = oriented_grid(moved @ image_to_world(grid), grid.GetDimensions()[::-1])
        segmentation = slicer.vtkSegmentation()
        segmentation.DeepCopy(node.GetSegmentation())
        segmentation.SetConversionParameter(
            converter.GetReferenceImageGeometryParameterName(),
            converter.SerializeImageGeometry(grid),
        )
        segmentation.CreateRepresentation(BINARY_LABELMAP)
    layers: dict[Any, list[int]] = {}
    for each in [segment_id] if segment_id else segmentation.GetSegmentIDs():
        segment = segmentation.GetSegment(each)
        image = segment.GetRepresentation(BINARY_LABELMAP)
        if image is not None and not image.IsEmpty():
            layers.setdefault(image, []).append(segment.GetLabelValue())
    for image, labels in layers.items():
        part = slicer.vtkOrientedImageData()
        part.DeepCopy(image)
        array_from_image(part)[...] = np.isin(array_from_image(image), labels)
        yield part
