"""The closed surface of a label: the same as Slicer's conversion makes, vertex by vertex."""

import numpy as np
import pytest

from FuzzyVesselCoreLib.errors import Cancelled
from FuzzyVesselCoreLib.progress import Progress
from FuzzyVesselCoreLib.voxels.surface.closed_surface import closed_surface
from FuzzyVesselCoreLib.voxels.surface.triangles import boundary_triangles
from support.mrml_cases import OBLIQUE_LEFT_HANDED

NEAR = 2e-3  # mm, of float32 coordinates that VTK and we sum in different orders


def blob(shape=(11, 14, 17), seed=3):
    """Voxels that touch by faces, edges and corners, up to the array's borders; label 2."""
    rng = np.random.default_rng(seed)
    return np.where(rng.random(shape) < 0.35, 2, rng.integers(0, 2, shape)).astype(np.int16)


def ball(shape=(24, 28, 30)):
    grid = np.indices(shape).reshape(3, -1).T - np.array(shape) / 2
    return ((grid**2).sum(axis=1) < 81).reshape(shape).astype(np.uint8) * 2


def conversion_of_slicer(labels, geometry, smoothing):
    """Points, triangles and normals that Slicer's own conversion of label 2 makes."""
    import slicer
    from vtk.util.numpy_support import vtk_to_numpy

    from FuzzyVesselCoreLib.mrml.images import image_from_array
    from FuzzyVesselCoreLib.mrml.reading import matrix_from_array

    image = image_from_array(labels, slicer.vtkOrientedImageData())
    image.SetGeometryFromImageToWorldMatrix(matrix_from_array(geometry))
    segment = slicer.vtkSegment()
    segment.AddRepresentation("Binary labelmap", image)
    segment.SetLabelValue(2)
    inner = slicer.vtkSegmentation()
    inner.SetSourceRepresentationName("Binary labelmap")
    inner.AddSegment(segment, "it")
    inner.SetConversionParameter("Smoothing factor", str(smoothing))
    inner.CreateRepresentation("Closed surface")
    surface = inner.GetSegment("it").GetRepresentation("Closed surface")
    return (
        vtk_to_numpy(surface.GetPoints().GetData()),
        vtk_to_numpy(surface.GetPolys().GetConnectivityArray()).reshape(-1, 3),
        vtk_to_numpy(surface.GetPointData().GetNormals()),
    )


def in_order(triangles):
    """Triangles with their smallest corner first, in the order of their corners."""
    first = triangles.argmin(axis=1)[:, None]
    turned = np.take_along_axis(triangles, (first + np.arange(3)) % 3, axis=1)
    return turned[np.lexsort(turned.T)]


@pytest.mark.parametrize("smoothing", [0, 0.2, 0.5, 1.0])
@pytest.mark.parametrize("labels", [blob(), ball()], ids=["blob", "ball"])
def test_it_is_the_surface_that_slicer_makes(slicer_scene, labels, smoothing):
    from scipy.spatial import cKDTree

    points, triangles, normals = conversion_of_slicer(labels, OBLIQUE_LEFT_HANDED, smoothing)
    made = closed_surface(labels, 2, OBLIQUE_LEFT_HANDED, smoothing)
    where = [  # before smoothing, which moves some to the same place
        conversion_of_slicer(labels, OBLIQUE_LEFT_HANDED, 0)[0],
        closed_surface(labels, 2, OBLIQUE_LEFT_HANDED, 0).points,
    ]
    theirs = cKDTree(where[0]).query(where[1])[1]
    assert len(set(theirs)) == len(points) == len(made.points)
    assert np.abs(made.points - points[theirs]).max() < NEAR
    assert np.array_equal(in_order(theirs[made.triangles]), in_order(triangles))
    # Where triangles of opposite directions meet, their sum is rounding.
    assert np.median(np.abs(made.normals - normals[theirs]).max(axis=1)) < 1e-3
    if labels.dtype == np.uint8:
        assert np.abs(made.normals - normals[theirs]).max() < 0.01


def test_it_is_closed_and_the_parts_of_threads_fit():
    """Each edge is there as often in one direction as in the other; 64 planes are many parts."""
    inside = np.pad((blob((64, 60, 62), 8) == 2).astype(np.uint8), 1)
    vertices, triangles = boundary_triangles(inside)
    ends = np.stack([triangles, np.roll(triangles, -1, axis=1)]).reshape(2, -1)
    there, back = ends[0] * len(vertices) + ends[1], ends[1] * len(vertices) + ends[0]
    assert np.array_equal(np.sort(there), np.sort(back))
    assert set(triangles.ravel()) == set(range(len(vertices)))
    number_of_faces = sum(np.count_nonzero(np.diff(inside, axis=axis)) for axis in range(3))
    assert len(vertices) == number_of_faces


def test_a_label_that_is_nowhere_has_an_empty_surface():
    made = closed_surface(blob(), 7, np.eye(4))
    assert len(made.points) == len(made.triangles) == len(made.normals) == 0


def test_it_can_be_cancelled():
    with pytest.raises(Cancelled):
        closed_surface(ball(), 2, np.eye(4), progress=Progress(lambda share: share < 0.5))
