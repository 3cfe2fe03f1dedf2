"""Surfaces as .stl and .ply: volumes, orientation, axes."""

import numpy as np
import pytest

from FuzzyVesselCoreLib.errors import InputError
from PotentialSkeletonLib.interchange import network
from support.trees import OBLIQUE, OBLIQUE_SPACING, skeleton_of, straight

vtk = pytest.importorskip("vtk", reason="VTK is not installed")


@pytest.fixture
def ball():
    """A ball of 10 mm in voxels of 2 x 1.2 x 0.8 mm."""
    k, j, i = np.ogrid[:16, :24, :34]
    return ((k - 8) * 2.0) ** 2 + ((j - 12) * 1.2) ** 2 + ((i - 17) * 0.8) ** 2 < 100


def measures(surface):
    """Volume (negative where triangles are inside out) and centre."""
    from vtk.util.numpy_support import vtk_to_numpy

    points = vtk_to_numpy(surface.GetPoints().GetData()).astype(float)
    polys = vtk_to_numpy(surface.GetPolys().GetConnectivityArray()).reshape(-1, 3)
    a, b, c = (points[polys[:, n]] for n in range(3))
    volume = (np.cross(a, b) * c).sum(axis=1) / 6
    return volume.sum(), (points.max(axis=0) + points.min(axis=0)) / 2


@pytest.mark.parametrize("mirrored", [False, True])
@pytest.mark.parametrize("ending", ["stl", "ply"])
def test_the_surface_of_a_ball(ball, ending, mirrored, tmp_path):
    from PotentialSkeletonMRML.interchange import object_surface, write_surface

    matrix = OBLIQUE @ np.diag([-1, 1, 1, 1]) if mirrored else OBLIQUE
    path = tmp_path / f"ball.{ending}"
    write_surface(object_surface(ball, matrix, OBLIQUE_SPACING), path)
    reader = {"stl": vtk.vtkSTLReader, "ply": vtk.vtkPLYReader}[ending]()
    reader.SetFileName(str(path))
    reader.Update()
    volume, centre = measures(reader.GetOutput())
    assert volume == pytest.approx(4 / 3 * np.pi * 1000, rel=0.05)  # outside out
    np.testing.assert_allclose(centre, (matrix @ [17, 12, 8, 1])[:3] * [-1, -1, 1], atol=0.5)
    assert b"SPACE=LPS" in path.read_bytes()[:300]


def test_the_surface_of_a_tube(tmp_path):
    from PotentialSkeletonMRML.interchange import tube_surface

    lines = network(skeleton_of([straight((0, 0, 0), (40, 0, 0), 5, 5)]))
    volume, _ = measures(tube_surface(lines))
    assert abs(volume) == pytest.approx(np.pi * 25 * 40, rel=0.05)


def test_bad_input_is_told(ball, tmp_path):
    from PotentialSkeletonMRML.interchange import object_surface, write_surface

    with pytest.raises(InputError, match="empty"):
        object_surface(np.zeros((3, 3, 3)), None, (1, 1, 1))
    surface = object_surface(ball, None, OBLIQUE_SPACING)
    with pytest.raises(InputError, match=r"as \.stl or \.ply"):
        write_surface(surface, tmp_path / "ball.obj")
    with pytest.raises(InputError, match="no triangle"):
        write_surface(vtk.vtkPolyData(), tmp_path / "ball.stl")
    assert list(tmp_path.iterdir()) == []
