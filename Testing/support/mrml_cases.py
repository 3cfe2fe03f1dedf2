"""Volumes and transforms in awkward positions, for the tests on the MRML scene."""

import numpy as np

# Columns: where one step along I, J, K leads, in mm. Oblique and left-handed (determinant < 0).
OBLIQUE_LEFT_HANDED = np.array(
    [
        [0.52, -0.11, 0.30, -35.0],
        [0.09, 0.61, -0.42, 12.5],
        [0.12, -0.25, -1.30, 80.25],
        [0.0, 0.0, 0.0, 1.0],
    ]
)


def rotation_about(axis, degrees):
    """A 4x4 rotation about an axis through the origin."""
    x, y, z = np.asarray(axis, float) / np.linalg.norm(axis)
    cross = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    angle = np.radians(degrees)
    matrix = np.eye(4)
    matrix[:3, :3] += np.sin(angle) * cross + (1 - np.cos(angle)) * cross @ cross
    return matrix


def linear_transform(degrees=25, scales=(1.1, 0.8, 1.3), shift=(7, -11, 5)):
    """Add a transform node that turns, stretches and shifts."""
    import slicer

    from FuzzyVesselCoreLib.mrml.reading import matrix_from_array

    matrix = rotation_about((1, 2, 3), degrees) @ np.diag([*scales, 1.0])
    matrix[:3, 3] = shift
    node = slicer.mrmlScene.AddNewNodeByClass("vtkMRMLLinearTransformNode")
    node.SetMatrixTransformToParent(matrix_from_array(matrix))
    return node


def warp_transform(bend=4.0):
    """Add a transform node that bends space: no matrix can express it."""
    import slicer
    import vtk

    points = [vtk.vtkPoints(), vtk.vtkPoints()]
    rng = np.random.default_rng(5)
    for position in np.array(np.meshgrid(*[[-60, 0, 60, 120]] * 3)).reshape(3, -1).T:
        points[0].InsertNextPoint(position)
        points[1].InsertNextPoint(position + rng.uniform(-bend, bend, 3))
    spline = vtk.vtkThinPlateSplineTransform()
    spline.SetBasisToR()
    spline.SetSourceLandmarks(points[0])
    spline.SetTargetLandmarks(points[1])
    node = slicer.mrmlScene.AddNewNodeByClass("vtkMRMLTransformNode")
    node.SetAndObserveTransformToParent(spline)
    return node


TRANSFORMS = {"none": lambda: None, "linear": linear_transform, "warp": warp_transform}


def add_volume(array, ijk_to_ras=OBLIQUE_LEFT_HANDED, transform=None, kind=None):
    """Add a volume of an array (K, J, I) under a transform."""
    import slicer

    node = slicer.util.addVolumeFromArray(
        array, ijk_to_ras, nodeClassName=kind or "vtkMRMLScalarVolumeNode"
    )
    node.SetName("scan")
    node.SetAndObserveTransformNodeID(transform.GetID() if transform else None)
    return node


def add_seeds(volume_node, voxels, name="seeds", transform=None):
    """Add points at voxel centres (K, J, I), labelled name-1, ...; indices may be fractions."""
    import slicer

    node = slicer.mrmlScene.AddNewNodeByClass("vtkMRMLMarkupsFiducialNode", name)
    node.SetAndObserveTransformNodeID(transform.GetID() if transform else None)
    for number, voxel in enumerate(voxels, 1):
        node.AddControlPointWorld(world_of(volume_node, voxel), f"{name}-{number}")
    return node


def world_of(volume_node, voxel):
    """World position of a voxel (K, J, I), by MRML's own methods, one point at a time."""
    import vtk

    matrix = vtk.vtkMatrix4x4()
    volume_node.GetIJKToRASMatrix(matrix)
    local = matrix.MultiplyPoint((*[float(index) for index in voxel[::-1]], 1.0))[:3]
    world = [0.0, 0.0, 0.0]
    volume_node.TransformPointToWorld(local, world)
    return world


def array(node):
    """The voxels of a volume node, (K, J, I)."""
    import slicer

    return slicer.util.arrayFromVolume(node)


def segment_array(segmentation, segment_id, volume):
    """The voxels of a segment on the voxels of a volume."""
    import slicer

    return slicer.util.arrayFromSegmentBinaryLabelmap(segmentation, segment_id, volume)


def slicers_surface(segmentation, segment_id):
    """The surface that Slicer's own conversion makes of a segment as it is."""
    import slicer

    copy = slicer.vtkSegmentation()
    copy.DeepCopy(segmentation.GetSegmentation())
    copy.RemoveRepresentation("Closed surface")
    copy.CreateRepresentation("Closed surface")
    return copy.GetSegment(segment_id).GetRepresentation("Closed surface")


def scene_text():
    """All nodes with all their attributes: equal before and after where nothing was changed."""
    import slicer

    slicer.mrmlScene.SetSaveToXMLString(1)
    slicer.mrmlScene.Commit()
    slicer.mrmlScene.SetSaveToXMLString(0)
    return slicer.mrmlScene.GetSceneXMLString()
