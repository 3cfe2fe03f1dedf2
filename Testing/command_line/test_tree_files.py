"""The command line's files for other programs: formats, roots, loops, errors, replacing."""

import json

import numpy as np
import pytest

from fuzzy_vessel.__main__ import main
from support.image_files import write_nrrd

pytest.importorskip("slicer", reason="slicer-core is not installed")
pytestmark = pytest.mark.usefixtures("without_3d")
TREE_FILES = {
    "centrelines-rooted.vtp",
    "centrelines-split.vtp",
    "network.vtp",
    "network.graphml",
    "network-nodes.csv",
    "network-edges.csv",
    "simvascular-paths",
}
SURFACES = {f"{name}.{ending}" for name in ("surface", "tubes") for ending in ("stl", "ply")}


@pytest.fixture(scope="module")
def ring(tmp_path_factory):
    """A square ring with two arms along I; one side of it is thinner."""
    labels = np.zeros((12, 40, 70), np.uint8)
    labels[4:9, 18:23, 2:22] = labels[4:9, 18:23, 48:68] = 1
    labels[4:9, 5:10, 18:52] = labels[5:8, 31:34, 18:52] = 1
    labels[4:9, 5:34, 18:23] = labels[4:9, 5:34, 47:52] = 1
    return write_nrrd(tmp_path_factory.mktemp("ring") / "ring.nrrd", labels)


def run(path, out, *arguments):
    return main(["skeleton", str(path), *arguments, "--out", str(out)])


def names(folder):
    return {entry.name for entry in folder.iterdir()}


def report(folder):
    return json.loads((folder / "report.json").read_text(encoding="utf-8"))


def cells(path):
    import vtk
    from vtk.util.numpy_support import vtk_to_numpy

    reader = vtk.vtkXMLPolyDataReader()
    reader.SetFileName(str(path))
    reader.Update()
    data = reader.GetOutput()
    arrays = (data.GetCellData().GetArray(n) for n in range(data.GetCellData().GetNumberOfArrays()))
    return data, {array.GetName(): vtk_to_numpy(array).copy() for array in arrays}


def test_all_tree_formats_are_written_and_the_cut_branch_is_told(ring, tmp_path, capsys):
    out = tmp_path / "out"
    assert run(ring, out) == 0
    assert names(out) >= TREE_FILES
    assert not names(out) & SURFACES
    found = report(out)
    assert found["skeleton"]["skeleton_cycles"] == 1
    (cut,) = found["skeleton"]["branches_cut_in_trees"]
    assert "1 branch closes a loop" in capsys.readouterr().err
    _, network = cells(out / "network.vtp")
    assert cut in network["BranchId"]
    assert len(network["BranchId"]) == found["skeleton"]["branches"]
    _, split = cells(out / "centrelines-split.vtp")
    assert {"GroupIds", "CenterlineIds", "TractIds", "Blanking"} <= set(split)
    paths = names(out / "simvascular-paths")
    assert paths == {f"path-{n + 1:03d}.pth" for n in set(split["CenterlineIds"])}
    listed = set(found["files"])
    assert {f"simvascular-paths/{name}" for name in paths} <= listed


def test_a_voxel_chooses_the_root(ring, tmp_path):
    # The file's origin is L 10: I counts in the direction of L.
    for voxel, left in (("3,20,6", 10 + 3), ("66,20,6", 10 + 66)):
        out = tmp_path / voxel
        assert run(ring, out, "--root", voxel, "--formats", "vmtk") == 0
        data, _ = cells(out / "centrelines-rooted.vtp")
        assert abs(data.GetPoint(0)[0] - left) < 4
        assert names(out) & TREE_FILES == {name for name in TREE_FILES if name.endswith(".vtp")}


@pytest.mark.parametrize(
    ("formats", "expected"),
    [("none", set()), ("all", TREE_FILES | SURFACES), ("stl,graphml", {"network.graphml"})],
)
def test_the_formats_are_chosen(ring, tmp_path, formats, expected):
    out = tmp_path / "out"
    assert run(ring, out, "--formats", formats) == 0
    if "stl" in formats:
        expected = expected | {"surface.stl", "tubes.stl"}
    assert names(out) & (TREE_FILES | SURFACES) == expected


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--formats", "vtk"], "'vtk' is no format: use vmtk, graphml"),
        (["--root", "70,0,0"], "--root 70,0,0 lies outside the labelmap of 70,40,12 voxels"),
        (["--root", "1,2"], "not a voxel"),
        (["--root", "3,20,6", "--root", "66,20,6"], "lie in the same component; choose one"),
    ],
)
def test_bad_arguments_are_told_and_leave_nothing(ring, tmp_path, capsys, arguments, message):
    try:
        code = run(ring, tmp_path / "out", *arguments)
    except SystemExit as stop:
        code = stop.code
    assert code == 2
    assert message in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []
