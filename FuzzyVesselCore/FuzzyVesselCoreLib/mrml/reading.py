"""Names, matrices and voxels of MRML nodes as arrays, and where voxels lie in other frames.

Points are read by `points`, masks by `regions`. Nodes are
read, never changed, through methods of MRML only: the same code runs inside Slicer and on
`slicer-core`.
"""

from typing import Any

import numpy as np

from ..errors import InputError
from ..geometry import AffineSlices, transform_points
from ..translation import tr as _
from .images import copy_by_threads


def node_name(node: Any) -> str:
    """The node's name as it is written in messages."""
    return f"'{node.GetName() or node.GetID() or node.GetClassName()}'"


def ijk_to_ras(volume_node: Any) -> np.ndarray:
    """The volume's IJKToRAS: ndarray, shape (4, 4); RAS is the frame below its parent transform."""
    import vtk

    matrix = vtk.vtkMatrix4x4()
    volume_node.GetIJKToRASMatrix(matrix)
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


def voxels_of(volume_node: Any, copy: bool = True) -> np.ndarray:
    """The volume's voxels.

    Parameters
    ----------
    volume_node : vtkMRMLScalarVolumeNode
    copy : bool
        Without it they are the node's own, only to be read and not to be kept.

    Returns
    -------
    ndarray, shape (K, J, I)

    Raises
    ------
    InputError
        There is no volume, it is empty, or it has more than one component.
    """
    import slicer

    if volume_node is None:
        raise InputError(_("No volume was given: choose the volume to segment."))
    if not volume_node.IsA("vtkMRMLScalarVolumeNode"):
        raise InputError(
            _("{volume} is not a scalar volume.").format(volume=node_name(volume_node))
        )
    image = volume_node.GetImageData()
    if image is None or image.GetPointData().GetScalars() is None:
        raise InputError(
            _("The volume {volume} holds no voxels: load it again.").format(
                volume=node_name(volume_node)
            )
        )
    components = image.GetNumberOfScalarComponents()
    if components != 1:
        raise InputError(
            _(
                "The volume {volume} has {count} components a voxel (a colour image has 3): "
                "extract one of them first (module Vector to Scalar Volume)."
            ).format(volume=node_name(volume_node), count=components)
        )
    voxels = slicer.util.arrayFromVolume(volume_node)
    if not copy:
        return voxels
    copied = np.empty_like(voxels)
    copy_by_threads(copied, voxels)
    return copied


def slices_between(
    volume_node: Any,
    shape: tuple[int, ...],
    target_node: Any,
    frame_to_target: np.ndarray | None = None,
) -> Any:
    """Where the centres of a volume's voxels lie in another node's frame.

    Parameters
    ----------
    volume_node : vtkMRMLScalarVolumeNode
    shape : tuple of int
        K, J, I of the volume.
    target_node : vtkMRMLTransformableNode or None
        The frame is the one below its parent transform; None is the world.
    frame_to_target : array_like, shape (4, 4), optional
        Applied last, for example that node's RASToIJK.

    Returns
    -------
    callable with a `shape`
        `slices(k)`: ndarray, shape (3, J, I); see `geometry.AffineSlices`.
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
    transform = vtk.vtkGeneralTransform()
    slicer.vtkMRMLTransformNode.GetTransformBetweenNodes(source, target, transform)
    return _WarpedSlices(AffineSlices(own, shape), transform, last)


class _WarpedSlices:
    """Positions of voxel centres under a transform that no matrix can express."""

    def __init__(self, own: AffineSlices, transform: Any, last: np.ndarray) -> None:
        self.shape = own.shape
        self._own = own
        self._transform = transform
        self._last = last

    def __call__(self, k: int) -> np.ndarray:
        import vtk
        from vtk.util.numpy_support import numpy_to_vtk, vtk_to_numpy

        positions = self._own(k)
        before, after = vtk.vtkPoints(), vtk.vtkPoints()
        for points in (before, after):
            points.SetDataTypeToDouble()
        flat = np.ascontiguousarray(positions.reshape(3, -1).T)
        before.SetData(numpy_to_vtk(flat))
        self._transform.TransformPoints(before, after)
        moved = transform_points(self._last, vtk_to_numpy(after.GetData()))
        return moved.T.reshape(positions.shape)
