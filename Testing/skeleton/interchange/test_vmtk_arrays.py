"""Names, types and topology of VMTK's arrays, in memory and in .vtp files."""

import doctest

import numpy as np
import pytest

from FuzzyVesselCoreLib.errors import InputError
from PotentialSkeletonLib.interchange import (
    network,
    rooted_centrelines,
    split_centrelines,
)
from PotentialSkeletonLib.tree import rooted_forest, skeleton_of_polylines
from support.trees import OBLIQUE, OBLIQUE_SPACING, closed_ring, fork, random_tree, ring_with_handle

vtk = pytest.importorskip("vtk", reason="VTK is not installed")
POINT_ARRAYS = {
    "Radius": ("double", 1),
    "MaximumInscribedSphereRadius": ("double", 1),
    "EdgeArray": ("int", 2),
    "EdgePCoordArray": ("double", 1),
}
ATTRIBUTES = dict.fromkeys(("Length", "Curvature", "Torsion", "Tortuosity"), ("double", 1))
SPLIT = dict.fromkeys(("CenterlineIds", "TractIds", "Blanking", "GroupIds"), ("int", 1))


def written(lines, folder):
    from PotentialSkeletonMRML.interchange import write_vtp

    write_vtp(lines, folder / "lines.vtp")
    return read(folder / "lines.vtp")


def read(path):
    reader = vtk.vtkXMLPolyDataReader()
    reader.SetFileName(str(path))
    reader.Update()
    return reader.GetOutput()


def kinds(data):
    arrays = (data.GetAbstractArray(n) for n in range(data.GetNumberOfArrays()))
    return {
        array.GetName(): (array.GetDataTypeAsString(), array.GetNumberOfComponents())
        for array in arrays
    }


def values(data, name):
    from vtk.util.numpy_support import vtk_to_numpy

    return vtk_to_numpy(data.GetArray(name))


def test_rooted_lines_have_the_arrays_that_slicervmtk_copies(tmp_path):
    data = written(rooted_centrelines(rooted_forest(fork())), tmp_path)
    assert kinds(data.GetPointData()) == POINT_ARRAYS
    identity = {"CenterlineIds": ("int", 1), "ComponentId": ("int", 1)}
    assert kinds(data.GetCellData()) == identity | ATTRIBUTES
    assert data.GetPointData().GetScalars().GetName() == "Radius"
    radius = values(data.GetPointData(), "Radius")
    assert (radius == values(data.GetPointData(), "MaximumInscribedSphereRadius")).all()
    assert (values(data.GetPointData(), "EdgeArray")[:, 0] == np.arange(len(radius))).all()


def test_split_lines_have_the_arrays_and_types_of_a_file_that_vmtk_wrote(tmp_path, data_folder):
    theirs = read(data_folder / "vmtk" / "aorta-centerline-branches.vtp")
    ours = written(split_centrelines(rooted_forest(fork())), tmp_path)
    own = kinds(ours.GetCellData())
    assert kinds(theirs.GetCellData()).items() <= own.items()
    assert kinds(theirs.GetPointData()).items() <= kinds(ours.GetPointData()).items()
    assert own == SPLIT | ATTRIBUTES
    # Polylines in the order of their points, each point in one line.
    for data in (theirs, ours):
        sizes = [data.GetCell(n).GetNumberOfPoints() for n in range(data.GetNumberOfCells())]
        assert sum(sizes) == data.GetNumberOfPoints()


def test_the_network_says_which_ends_are_free(tmp_path):
    data = written(network(ring_with_handle()), tmp_path)
    expected = {"Topology": ("idtype", 2), "BranchId": ("int", 1), "ComponentId": ("int", 1)}
    assert kinds(data.GetCellData()) == expected | ATTRIBUTES
    topology = values(data.GetCellData(), "Topology")
    assert topology.tolist() == [[0, 1], [1, 2], [1, 2], [2, 0]]


@pytest.mark.parametrize("seed", range(4))
def test_the_network_has_as_many_ends_and_junctions_as_the_tree(seed):
    skeleton = random_tree(seed)
    topology = network(skeleton).cell_arrays["Topology"]
    kind = [node.kind for node in skeleton.nodes]
    assert np.count_nonzero(topology == 0) == kind.count("end")
    assert set(topology[topology > 0].tolist()) == set(range(1, kind.count("junction") + 1))
    for number in range(1, topology.max() + 1):
        lines = network(skeleton).lines()
        places = [lines[n][-side] for n, side in np.argwhere(topology == number)]
        assert np.ptp(places, axis=0).max() < 1e-9


def test_attributes_are_those_of_each_line():
    skeleton = fork()
    lines = network(skeleton)
    for number, branch in enumerate(skeleton.branches):
        length = skeleton.length(branch)
        assert lines.cell_arrays["Length"][number] == pytest.approx(length)
        assert lines.cell_arrays["Tortuosity"][number] == pytest.approx(0, abs=1e-9)


def test_files_are_in_lps_and_say_so(tmp_path):
    skeleton = fork(OBLIQUE_SPACING)
    forest = rooted_forest(skeleton)
    lines = rooted_centrelines(forest, OBLIQUE)
    ijk = np.append(skeleton.nodes[forest.roots[0]].position[::-1], 1)
    np.testing.assert_allclose(lines.points[0], (OBLIQUE @ ijk)[:3])
    data = written(lines, tmp_path)
    np.testing.assert_allclose(data.GetPoint(0), (OBLIQUE @ ijk)[:3] * [-1, -1, 1])
    assert data.GetFieldData().GetAbstractArray("SPACE").GetValue(0) == "LPS"


def test_slicer_reads_them_where_the_object_is(tmp_path, slicer_scene):
    import slicer

    from PotentialSkeletonMRML.interchange import write_vtp

    lines = rooted_centrelines(rooted_forest(fork(OBLIQUE_SPACING)), OBLIQUE)
    write_vtp(lines, tmp_path / "lines.vtp")
    model = slicer.util.loadModel(str(tmp_path / "lines.vtp"))
    np.testing.assert_allclose(slicer.util.arrayFromModelPoints(model), lines.points, atol=1e-4)


def test_names_become_an_array(tmp_path):
    names = {1: 'left, "main"', 2: "Pfortader-Ä\n"}
    data = written(network(fork(), names=names), tmp_path)
    array = data.GetCellData().GetAbstractArray("Name")
    assert [array.GetValue(n) for n in range(3)] == ["", *names.values()]


def names_in(data):
    array = data.GetCellData().GetAbstractArray("Name")
    return [array.GetValue(n) for n in range(data.GetNumberOfCells())]


def test_names_are_in_the_views_of_trees_too(tmp_path):
    names = {0: "Aorta, abdominal", 1: 'left "iliac"'}
    forest = rooted_forest(fork(), roots=[0])
    data = written(rooted_centrelines(forest, names=names), tmp_path)
    assert names_in(data) == ['left "iliac"', "Aorta, abdominal"]  # the last one on the way
    data = written(split_centrelines(forest, names=names), tmp_path)
    assert names_in(data) == [
        "Aorta, abdominal", "", 'left "iliac"', "Aorta, abdominal", "", ""
    ]  # fmt: skip


@pytest.mark.parametrize("seed", range(6))
def test_no_name_is_lost_among_short_branches(seed):
    forest = rooted_forest(random_tree(seed, (2, 4)), roots=[0])
    names = {branch.number: f"vessel <{branch.number}>" for branch in forest.branches}
    found = " + ".join(split_centrelines(forest, names=names).cell_arrays["Name"])
    assert all(name in found for name in names.values())


def test_a_closed_curve_has_one_line():
    forest = rooted_forest(closed_ring())
    assert rooted_centrelines(forest).sizes.tolist() == [100]
    assert network(closed_ring()).cell_arrays["Topology"].tolist() == [[0, 0]]


def test_bad_input_is_told():
    empty = skeleton_of_polylines([], [])
    for make in (
        lambda: rooted_centrelines(rooted_forest(empty)),
        lambda: split_centrelines(rooted_forest(empty)),
        lambda: network(empty),
    ):
        with pytest.raises(InputError, match="no branch"):
            make()
    with pytest.raises(InputError, match="4 x 4"):
        network(fork(), np.eye(3))
    with pytest.raises(InputError, match=r"voxels of \[2.0, 1.2, 0.8\] mm"):
        network(fork(), OBLIQUE)
    with pytest.raises(InputError, match="name 'x' belongs to branch 9"):
        network(fork(), names={9: "x"})
    for make in (rooted_centrelines, split_centrelines):
        with pytest.raises(InputError, match="name 'x' belongs to branch 9"):
            make(rooted_forest(fork()), names={9: "x"})
    with pytest.raises(InputError, match="use RAS or LPS"):
        network(fork()).in_space("RSA")


def test_a_file_that_cannot_be_written_leaves_nothing(tmp_path):
    from PotentialSkeletonMRML.interchange import write_vtp

    lines = network(fork())
    with pytest.raises(OSError, match=r"no/lines.vtp|No such file"):
        write_vtp(lines, tmp_path / "no" / "lines.vtp")
    assert list(tmp_path.iterdir()) == []


def test_examples_of_what_needs_vtk():
    from PotentialSkeletonMRML import interchange

    assert doctest.testmod(interchange).failed == 0
