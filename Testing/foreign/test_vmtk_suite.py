"""VMTK's aorta: lengths, angles and sections of our centrelines beside its own.

The environment variable FUZZYVESSEL_SUITES names a folder with a clone of
github:vmtk/vmtk-test-data; VMTK is a Python package. What is missing is skipped.
"""

import os
from pathlib import Path

import numpy as np
import pytest

SUITES = Path(os.environ.get("FUZZYVESSEL_SUITES", "no folder"))
VMTK = SUITES / "vmtk-test-data"
SIZE = 0.5  # mm of a voxel of the aorta
needs_vmtk_data = pytest.mark.skipif(
    not VMTK.is_dir(), reason="FUZZYVESSEL_SUITES has no vmtk-test-data"
)


def poly_data(name):
    vtk = pytest.importorskip("vtk")
    reader = vtk.vtkXMLPolyDataReader()
    reader.SetFileName(str(VMTK / name))
    reader.Update()
    return reader.GetOutput()


def lines_of(data, *arrays):
    """Points of each line, and its values of the point arrays."""
    from vtk.util.numpy_support import vtk_to_numpy

    values = [vtk_to_numpy(data.GetPointData().GetArray(name)) for name in arrays]
    points, found = vtk_to_numpy(data.GetPoints().GetData()), []
    for cell in map(data.GetCell, range(data.GetNumberOfCells())):
        ids = [cell.GetPointId(n) for n in range(cell.GetNumberOfPoints())]
        found.append((points[ids], *(each[ids] for each in values)))
    return found


@pytest.fixture(scope="module")
def aorta():
    """The aorta's surface, its voxels (K, J, I), the matrix from I, J, K, and our skeleton."""
    import vtk
    from vtk.util.numpy_support import vtk_to_numpy

    from PotentialSkeletonLib import skeletonize

    surface = poly_data("input/aorta-surface.vtp")
    low, high = np.reshape(surface.GetBounds(), (3, 2)).T
    matrix = np.diag([SIZE, SIZE, SIZE, 1.0])
    matrix[:3, 3] = low - 3 * SIZE
    size = np.ceil((high - low) / SIZE).astype(int) + 7
    stencil = vtk.vtkPolyDataToImageStencil()
    stencil.SetInputData(surface)
    stencil.SetOutputOrigin(matrix[:3, 3])
    stencil.SetOutputSpacing(SIZE, SIZE, SIZE)
    stencil.SetOutputWholeExtent(np.stack([0 * size, size - 1], axis=1).ravel())
    to_image = vtk.vtkImageStencilToImage()
    to_image.SetInputConnection(stencil.GetOutputPort())
    to_image.Update()
    voxels = vtk_to_numpy(to_image.GetOutput().GetPointData().GetScalars())
    mask = voxels.reshape(size[::-1]) > 0
    return surface, mask, matrix, skeletonize(mask, (SIZE,) * 3)


@needs_vmtk_data
def test_the_shape_of_a_way_is_that_of_vmtk():
    """Length and tortuosity are equal; curvature is that of VMTK's smoothest line."""
    from PotentialSkeletonLib.branch_tools import distance_between
    from PotentialSkeletonLib.tree import skeleton_of_polylines

    name = "centerlinereference/test_vmtkcenterlinegeometry_test_default_parameters.vtp"
    data = poly_data(name)
    for number, (points, radius) in enumerate(lines_of(data, "MaximumInscribedSphereRadius")):
        line = skeleton_of_polylines([points[:, ::-1]], [radius])
        found = distance_between(line, points[0, ::-1], points[-1, ::-1])
        theirs = [
            data.GetCellData().GetArray(each).GetValue(number) for each in ("Length", "Tortuosity")
        ]
        np.testing.assert_allclose([found.length, found.tortuosity - 1], theirs, rtol=1e-5)
        smoothing = pytest.importorskip("vmtk.vmtkcenterlinegeometry").vmtkCenterlineGeometry()
        smoothing.Centerlines = poly_data("input/aorta-centerline.vtp")
        smoothing.LineSmoothing, smoothing.NumberOfSmoothingIterations = 1, 1000
        smoothing.Execute()
        smooth, curvature = lines_of(smoothing.Centerlines, "Curvature")[number]
        steps = np.linalg.norm(np.diff(smooth, axis=0), axis=1)
        mean = steps @ (curvature[1:] + curvature[:-1]) / 2 / steps.sum()
        assert found.curvature == pytest.approx(mean, rel=0.1)


def by_vmtk(centrelines, surface, radius):
    """Groups of the branches, angles at the bifurcation (degrees), and sections by VMTK."""
    from vmtk import (
        vmtkbifurcationreferencesystems,
        vmtkbifurcationvectors,
        vmtkbranchclipper,
        vmtkbranchextractor,
        vmtkbranchsections,
    )
    from vtk.util.numpy_support import vtk_to_numpy

    def run(step, **inputs):
        for name, value in {"RadiusArrayName": radius, **inputs}.items():
            setattr(step, name, value)
        step.Execute()
        return step

    extractor = run(vmtkbranchextractor.vmtkBranchExtractor(), Centerlines=centrelines)
    lines = extractor.Centerlines
    arrays = {f"{each}ArrayName": each for each in ("GroupIds", "Blanking")}
    ids = {f"{each}ArrayName": each for each in ("CenterlineIds", "TractIds")}
    systems = run(
        vmtkbifurcationreferencesystems.vmtkBifurcationReferenceSystems(),
        Centerlines=lines, **arrays, **ids,
    ).ReferenceSystems  # fmt: skip
    vectors = run(
        vmtkbifurcationvectors.vmtkBifurcationVectors(),
        Centerlines=lines, ReferenceSystems=systems, **arrays, **ids,
    ).BifurcationVectors  # fmt: skip
    clipped = run(
        vmtkbranchclipper.vmtkBranchClipper(), Surface=surface, Centerlines=lines, **arrays
    ).Surface
    sections = run(
        vmtkbranchsections.vmtkBranchSections(),
        Surface=clipped, Centerlines=lines, NumberOfDistanceSpheres=1, **arrays, **ids,
    ).BranchSections  # fmt: skip
    places = np.array([points.mean(axis=0) for (points,) in lines_of(sections)])
    cells = sections.GetCellData()
    measures = [
        vtk_to_numpy(cells.GetArray(f"BranchSection{each}"))
        for each in ("Area", "MinSize", "MaxSize")
    ]
    angles = vtk_to_numpy(vectors.GetPointData().GetArray("InPlaneBifurcationVectorAngles"))
    groups = vtk_to_numpy(lines.GetCellData().GetArray("GroupIds"))
    return groups.tolist(), np.sort(np.degrees(angles)), places, measures


@needs_vmtk_data
def test_vmtk_takes_our_centrelines_and_our_sections_are_its_own(aorta):
    pytest.importorskip("vmtk")
    from PotentialSkeletonLib.branch_tools import section_at
    from PotentialSkeletonLib.interchange import rooted_centrelines
    from PotentialSkeletonLib.tree import rooted_forest
    from PotentialSkeletonMRML.interchange import poly_data as lines_as_poly_data

    surface, mask, matrix, skeleton = aorta
    theirs = poly_data("input/aorta-centerline.vtp")
    back = np.linalg.inv(matrix)

    def voxel(place):
        return (back[:3, :3] @ place + back[:3, 3])[::-1]

    forest = rooted_forest(skeleton, near=[voxel(lines_of(theirs)[0][0][0])])
    ours = lines_as_poly_data(rooted_centrelines(forest, matrix))
    groups, angles, places, sections = by_vmtk(theirs, surface, "MaximumInscribedSphereRadius")
    our_groups, our_angles, _places, _sections = by_vmtk(ours, surface, "Radius")
    assert our_groups == groups == [0, 1, 2, 0, 1, 3]
    np.testing.assert_allclose(our_angles, angles, atol=4)
    found = [section_at(mask, skeleton, voxel(place)) for place in places]
    assert len(found) == 24
    for name, expected in zip(("area", "smallest_diameter", "largest_diameter"), sections):
        ratio = np.array([getattr(each, name)[0] for each in found]) / expected
        assert np.median(ratio) == pytest.approx(1, abs=0.015), name
        assert np.abs(ratio - 1).max() < 0.1, name
