"""Names, matrices, tags and voxels of MRML nodes, and where voxels lie in other frames.

Nodes are read, never changed, through methods of MRML only: the same code runs inside Slicer and
on `slicer-core`.
"""

from typing import Any

import numpy as np

from ..errors import InputError
from ..geometry import AffineSlices, transform_points
from ..translation import tr as _

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
    """From I, J, K of a vtkOrientedImageData to millimetres: ndarray, shape (4, 4)."""
    import vtk

    matrix = vtk.vtkMatrix4x4()
    image.GetImageToWorldMatrix(matrix)
    return array_from_matrix(matrix)


def array_from_matrix(matrix: Any) -> np.ndarray:
    """A vtkMatrix4x4 as ndarray, shape (4, 4), float64."""
    return np.array([[matrix.GetElement(r, c) for c in range(4)] for r in range(4)])


def matrix_from_array(array: Any) -> Any:
    """An array_like of shape (4, 4) as vtkMatrix4x4."""
    import vtk

    matrix = vtk.vtkMatrix4x4()
    matrix.DeepCopy(np.asarray(array, float).ravel())
    return matrix


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


def slices_between(
    volume_node: Any,
    shape: tuple[int, ...],
    target_node: Any,
    frame_to_target: np.ndarray | None = None,
) -> AffineSlices:
    """Where the centres of a volume's voxels lie below another node's parent transform.

    `shape` is K, J, I of the volume; the target None is the world. `frame_to_target` (4, 4) is
    applied last, for example that node's RASToIJK. Returns ``slices(k)``: ndarray (3, J, I).
    """
    import slicer
    import vtk

    own = ijk_to_ras(volume_node)
    last = np.eye(4) if frame_to_target is None else np.asarray(frame_to_target, float)
    source = volume_node.GetParentTransformNode()
    target = target_node.GetParentTransformNode() if target_node is not None else None
    matrix = vtk.vtkMatrix4x4()
    if slicer.vtkMRMLTransformNode.GetMatrixTransformBetweenNodes(source, target, matrix):
        return AffineSlices(last @ array_from_matrix(matrix) @ own, shape)
    return _WarpedSlices(own, shape, transform_between(volume_node, target_node), last)


class _WarpedSlices(AffineSlices):
    """Positions of voxel centres under a transform that no matrix can express."""

    def __init__(self, own: Any, shape: tuple[int, ...], transform: Any, last: np.ndarray) -> None:
        AffineSlices.__init__(self, own, shape)
        self._transform, self._last = transform, last

    def __call__(self, k: int) -> np.ndarray:
        positions = AffineSlices.__call__(self, k)
        moved = transformed(self._transform, positions.reshape(3, -1).T)
        return transform_points(self._last, moved).T.reshape(positions.shape)
