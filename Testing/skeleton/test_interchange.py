"""Files for other programs, read back: GraphML, CSV, SimVascular, VMTK's arrays, surfaces."""

import csv
from functools import partial
from xml.etree import ElementTree

import numpy as np
import pytest

from FuzzyVesselCoreLib.errors import InputError
from PotentialSkeletonLib import skeletonize
from PotentialSkeletonLib.interchange import (
    network,
    rooted_centrelines,
    split_centrelines,
    write_csv_pair,
    write_graphml,
    write_simvascular,
)
from PotentialSkeletonLib.tree import root_to_tip_lines, rooted_forest, skeleton_of_polylines
from support.trees import (
    OBLIQUE,
    OBLIQUE_SPACING,
    closed_ring,
    fork,
    random_tree,
    ring_with_handle,
)

SKELETONS = {
    "fork": lambda: fork(OBLIQUE_SPACING),
    "parallel branches": ring_with_handle,
    "closed curve": closed_ring,
    "tree": lambda: random_tree(3),
    "single voxel": lambda: skeletonize(np.ones((1, 1, 1))),
    "empty": lambda: skeleton_of_polylines([], []),
}


@pytest.fixture(params=SKELETONS)
def skeleton(request):
    return SKELETONS[request.param]()


def rows(path):
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_the_csv_pair_has_vesselvios_columns_and_rows_as_numbers(skeleton, tmp_path):
    write_csv_pair(skeleton, tmp_path / "n.csv", tmp_path / "e.csv")
    nodes, edges = rows(tmp_path / "n.csv"), rows(tmp_path / "e.csv")
    for row, node in zip(nodes, skeleton.nodes, strict=True):
        place = [float(row[axis]) for axis in "XYZ"]
        assert place == pytest.approx((node.position * skeleton.spacing)[::-1], abs=1e-5)
        assert float(row["radius"]) == pytest.approx(node.radius, abs=1e-5)
    header = (tmp_path / "e.csv").read_text(encoding="utf-8").splitlines()[0].split(",")
    assert header[:2] == ["Source ID", "Target ID"]
    assert {"radius_avg", "length", "tortuosity", "volume", "surface_area"} <= set(header)
    for row, branch in zip(edges, skeleton.branches, strict=True):
        assert (int(row["Source ID"]), int(row["Target ID"])) == (branch.start, branch.end)
        assert (row["tortuosity"] == "") == (branch.start == branch.end)


def xyz(element):
    return np.array([float(element.get(axis)) for axis in "xyz"])


@pytest.mark.parametrize("make", [lambda: fork(OBLIQUE_SPACING), closed_ring, ring_with_handle])
def test_simvasculars_paths_are_the_lines_in_lps(make, tmp_path):
    skeleton = make()
    forest = rooted_forest(skeleton)
    matrix = OBLIQUE if skeleton.spacing == OBLIQUE_SPACING else np.eye(4)
    files = write_simvascular(forest, tmp_path / "paths", ijk_to_ras=matrix)
    lines = root_to_tip_lines(forest)
    assert [path.name for path in files] == [f"path-{n:03d}.pth" for n in range(1, len(lines) + 1)]
    for number, (path, line) in enumerate(zip(files, lines), 1):
        top = ElementTree.parse(path).getroot()
        assert (top.tag, top.get("id"), top.get("version")) == ("path", str(number), "1.0")
        element = top.find("timestep[@id='0']/path_element")
        points = element.findall("path_points/path_point")
        places, tangents, across = (
            np.array([xyz(point.find(name)) for point in points])
            for name in ("pos", "tangent", "rotation")
        )
        ijk = np.column_stack([line.points[:, ::-1], np.ones(len(line.points))])
        np.testing.assert_allclose(places, (ijk @ matrix.T)[:, :3] * [-1, -1, 1], atol=1e-5)
        controls = np.array([xyz(each) for each in element.findall("control_points/point")])
        np.testing.assert_allclose(controls[[0, -1]], places[[0, -1]])
        for directions in (tangents, across):
            np.testing.assert_allclose(np.linalg.norm(directions, axis=1), 1, atol=1e-5)
        assert abs((tangents * across).sum(axis=1)).max() < 1e-5
        assert (np.linalg.norm(np.diff(across, axis=0), axis=1) < 1).all()  # they do not spin


FLAT = np.diag([1.0, 1, 0, 1])
VIEWS = (rooted_centrelines, split_centrelines)


def writers(folder):
    trees = [*VIEWS, partial(write_simvascular, folder=folder / "paths")]
    return [
        network,
        partial(write_graphml, path=folder / "a.graphml"),
        partial(write_csv_pair, nodes_path=folder / "n.csv", edges_path=folder / "e.csv"),
        *(lambda s, write=write, **options: write(rooted_forest(s), **options) for write in trees),
    ]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"names": {7: "x"}}, "name 'x' belongs to branch 7"),
        ({"ijk_to_ras": OBLIQUE}, r"voxels of \[2.0, 1.2, 0.8\] mm"),
        ({"ijk_to_ras": np.eye(3)}, "4 x 4"),
        ({"ijk_to_ras": FLAT}, "4 x 4"),
        ({"names": {0: "a\x01", 1: "\ud800"}}, r"name .{1,8} has a character that XML"),
    ],
)
def test_what_does_not_fit_is_refused_and_leaves_files_as_they_were(options, message, tmp_path):
    (tmp_path / "a.graphml").write_text("earlier")
    for number, write in enumerate(writers(tmp_path)):
        if "XML" in message and number not in (1, 5):
            continue
        with pytest.raises(InputError, match=message):
            write(fork(), **options)
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir() if path.is_file()] == [
        ("a.graphml", "earlier")
    ]


def test_files_have_the_arrays_and_axes_that_vmtk_and_slicer_read(tmp_path, data_folder):
    vtk = pytest.importorskip("vtk", reason="VTK is not installed")
    from PotentialSkeletonMRML.interchange import write_vtp

    def read(path):
        reader = vtk.vtkXMLPolyDataReader()
        reader.SetFileName(str(path))
        reader.Update()
        return reader.GetOutput()

    def kinds(data):
        arrays = (data.GetAbstractArray(n) for n in range(data.GetNumberOfArrays()))
        return {(a.GetName(), a.GetDataTypeAsString(), a.GetNumberOfComponents()) for a in arrays}

    forest = rooted_forest(fork(OBLIQUE_SPACING))
    write_vtp(split_centrelines(forest, OBLIQUE), tmp_path / "split.vtp")
    ours = read(tmp_path / "split.vtp")
    theirs = read(data_folder / "vmtk" / "aorta-centerline-branches.vtp")
    assert kinds(theirs.GetCellData()) <= kinds(ours.GetCellData())
    assert kinds(theirs.GetPointData()) <= kinds(ours.GetPointData())
    slicervmtk = {"Radius", "MaximumInscribedSphereRadius", "EdgeArray", "EdgePCoordArray"}
    assert slicervmtk <= {name for name, *_ in kinds(ours.GetPointData())}
    ijk = np.append(forest.skeleton.nodes[forest.roots[0]].position[::-1], 1)
    np.testing.assert_allclose(ours.GetPoint(0), (OBLIQUE @ ijk)[:3] * [-1, -1, 1])
    assert ours.GetFieldData().GetAbstractArray("SPACE").GetValue(0) == "LPS"
