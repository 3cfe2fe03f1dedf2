"""From MRML nodes to arrays; masks are in `mrml_regions`, the way back is in `mrml_outputs`.

Seeds are points in the world, volumes, masks and boxes may each hang under transforms of their
own; everything is brought to the voxels of the one volume that is segmented. Nodes are read, never
changed, through methods of MRML only: the same code runs inside Slicer and on `slicer-core`.
"""

from dataclasses import dataclass

import numpy as np

from ..errors import InputError
from ..geometry import AffineSlices, inside, points_to_voxels, transform_points


@dataclass(frozen=True)
class Seeds:
    """Control points as voxels of a volume.

    Attributes
    ----------
    voxels : ndarray, shape (n, 3), int64
        K, J, I; all inside the volume.
    labels : list of str
        The control points' labels, in the same order.
    warnings : list of str
        Which points were left out, by their labels, and why.
    """

    voxels: np.ndarray
    labels: list
    warnings: list


def node_name(node):
    """The node's name as it is written in messages."""
    return f"'{node.GetName() or node.GetID() or node.GetClassName()}'"


def ijk_to_ras(volume_node):
    """The volume's IJKToRAS: ndarray, shape (4, 4); RAS is the frame below its parent transform."""
    import vtk

    matrix = vtk.vtkMatrix4x4()
    volume_node.GetIJKToRASMatrix(matrix)
    return array_from_matrix(matrix)


def array_from_matrix(matrix):
    """A vtkMatrix4x4 as ndarray, shape (4, 4), float64."""
    return np.array([[matrix.GetElement(r, c) for c in range(4)] for r in range(4)])


def matrix_from_array(array):
    """An array_like of shape (4, 4) as vtkMatrix4x4."""
    import vtk

    matrix = vtk.vtkMatrix4x4()
    matrix.DeepCopy(np.asarray(array, float).ravel())
    return matrix


def voxels_of(volume_node, copy=True):
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
        raise InputError("No volume was given: choose the volume to segment.")
    if not volume_node.IsA("vtkMRMLScalarVolumeNode"):
        raise InputError(f"{node_name(volume_node)} is not a scalar volume.")
    image = volume_node.GetImageData()
    if image is None or image.GetPointData().GetScalars() is None:
        raise InputError(f"The volume {node_name(volume_node)} holds no voxels: load it again.")
    components = image.GetNumberOfScalarComponents()
    if components != 1:
        raise InputError(
            f"The volume {node_name(volume_node)} has {components} components a voxel (a colour "
            "image has 3): extract one of them first (module Vector to Scalar Volume)."
        )
    voxels = slicer.util.arrayFromVolume(volume_node)
    return voxels.copy() if copy else voxels


def seeds_of(seeds_node, volume_node, shape, region=None, kind="seed"):
    """The placed control points of a markups node as voxels of a volume.

    Parameters
    ----------
    seeds_node : vtkMRMLMarkupsNode
        Points that are not placed yet are skipped.
    volume_node : vtkMRMLScalarVolumeNode
    shape : tuple of int
        K, J, I of the volume.
    region : ndarray, shape (K, J, I), bool, optional
        Points outside it are left out.
    kind : str
        What the points are called in messages.

    Returns
    -------
    Seeds

    Raises
    ------
    InputError
        No point is left; those that were left out are named by their labels.
    """
    if seeds_node is None or not seeds_node.IsA("vtkMRMLMarkupsNode"):
        raise InputError(f"No list of {kind}s was given: choose a markups node with {kind}s.")
    points = placed_points(seeds_node)
    labels = points.labels
    if not labels:
        raise InputError(
            f"The list {node_name(seeds_node)} holds no placed point: place at least one {kind}."
        )
    voxels = points_in_volume(volume_node, points.world)
    seeds = Seeds(voxels, labels, [])
    seeds = _left(seeds, inside(voxels, shape), kind, f"the volume {node_name(volume_node)}")
    if region is not None:
        seeds = _left(seeds, region[tuple(seeds.voxels.T)], kind, "the mask or region")
    return seeds


def _left(seeds, hit, kind, place):
    """The seeds that hit a place; `InputError` if there are none."""
    missed = ", ".join(label for label, found in zip(seeds.labels, hit) if not found)
    if not hit.any():
        raise InputError(f"Every {kind} lies outside {place}: {missed}. Place a {kind} inside it.")
    if not missed:
        return seeds
    kept = [label for label, found in zip(seeds.labels, hit) if found]
    warning = f"Left out, because outside {place}: {kind} {missed}."
    return Seeds(seeds.voxels[hit], kept, [*seeds.warnings, warning])


@dataclass(frozen=True)
class PlacedPoints:
    """The control points of a list that have a position.

    Attributes
    ----------
    indices : list of int
        Of the control points in their list.
    world : ndarray, shape (n, 3), float64
    labels : list of str
    """

    indices: list
    world: np.ndarray
    labels: list


def placed_points(markups_node):
    """The `PlacedPoints` of a vtkMRMLMarkupsNode; those still on the way to their place are not."""
    import slicer

    placed = slicer.vtkMRMLMarkupsNode.PositionDefined
    indices, world, labels = [], [], []
    for index in range(markups_node.GetNumberOfControlPoints()):
        if markups_node.GetNthControlPointPositionStatus(index) != placed:
            continue
        position = [0.0, 0.0, 0.0]
        markups_node.GetNthControlPointPositionWorld(index, position)
        indices.append(index)
        world.append(position)
        labels.append(markups_node.GetNthControlPointLabel(index) or f"point {index + 1}")
    return PlacedPoints(indices, np.array(world).reshape(-1, 3), labels)


def points_in_volume(volume_node, world):
    """The voxels (K, J, I; n x 3, int64) that hold points of the world; they may lie outside."""
    return points_to_voxels(_from_world(volume_node, world), ijk_to_ras(volume_node))


def _from_world(transformable_node, points):
    """World points (n, 3) in the node's own frame, through whatever transforms it is under."""
    import slicer
    import vtk

    transform = vtk.vtkGeneralTransform()
    slicer.vtkMRMLTransformNode.GetTransformBetweenNodes(
        None, transformable_node.GetParentTransformNode(), transform
    )
    return np.array([transform.TransformPoint(point) for point in points]).reshape(-1, 3)


def slices_between(volume_node, shape, target_node, frame_to_target=None):
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

    def __init__(self, own, transform, last):
        self.shape = own.shape
        self._own = own
        self._transform = transform
        self._last = last

    def __call__(self, k):
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
