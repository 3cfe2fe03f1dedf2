"""A tree of the scene as files and models for other programs: the names of branches are in all."""

import csv
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

from FuzzyVesselCoreLib.errors import InputError
from support.mrml_cases import linear_transform, scene_text
from support.vessel_scene import add_vessels

pytest.importorskip("slicer", reason="slicer-core is not installed")
NAME = 'Right, "anterior" <1>'


@pytest.fixture
def tree(slicer_scene):
    from PotentialSkeleton import PotentialSkeletonLogic
    from PotentialSkeletonMRML.run_nodes import keep

    logic, labelmap = PotentialSkeletonLogic(), add_vessels(transform=linear_transform())
    result = logic.extract(labelmap, device="cpu")
    keep(result, labelmap, "", [])
    tree = logic.tree(result.modelNode)
    longest = int(np.argmax(tree.table()["length_mm"]))
    tree.rename(longest, NAME)
    return tree


def read(path):
    import vtk

    reader = vtk.vtkXMLPolyDataReader()
    reader.SetFileName(str(path))
    reader.Update()
    return reader.GetOutput()


def names_in(data):
    array = data.GetCellData().GetAbstractArray("Name")
    return {array.GetValue(n) for n in range(array.GetNumberOfValues())} - {""}


def test_the_name_is_in_every_file(tree, tmp_path):
    out = tmp_path / "tree"
    assert tree.saveFormats(out) == []
    files = {str(path.relative_to(out)) for path in out.rglob("*") if path.is_file()}
    for name in ("network.vtp", "centrelines-rooted.vtp", "centrelines-split.vtp"):
        assert names_in(read(out / name)) == {NAME}
    spelled = "{http://graphml.graphdrawing.org/xmlns}data"
    texts = [each.text for each in ElementTree.parse(out / "network.graphml").iter(spelled)]
    assert NAME in texts
    with open(out / "network-edges.csv", newline="", encoding="utf-8") as file:
        assert NAME in [row["name"] for row in csv.DictReader(file)]
    assert any(Path(name).name.startswith("Right, -anterior- -1-") for name in files)
    assert {"network-nodes.csv", "tubes.stl", "tubes.ply"} <= files
    tree.save(tmp_path / "tree.swc")
    assert NAME in (tmp_path / "tree.swc").read_text(encoding="utf-8")


def test_files_lie_in_the_world_and_begin_at_the_chosen_end(tree, tmp_path):
    import slicer

    end, place = next(n for n in tree.skeleton.nodes if n.kind == "end"), [0.0] * 3
    tree.model.TransformPointToWorld(end.position[::-1].tolist(), place)
    tree.saveFormats(tmp_path / "tree", ["vmtk"], [place])
    file = slicer.util.loadModel(str(tmp_path / "tree" / "centrelines-rooted.vtp"))
    np.testing.assert_allclose(slicer.util.arrayFromModelPoints(file)[0], place, atol=1e-3)
    model = tree.addCentrelines("rooted", [place])
    np.testing.assert_allclose(slicer.util.arrayFromModelPoints(model)[0], end.position[::-1])
    assert model.GetTransformNodeID() == tree.model.GetTransformNodeID() is not None


@pytest.mark.parametrize("view", ["rooted", "split", "network"])
def test_models_for_slicervmtk_have_the_names(tree, view):
    model = tree.addCentrelines(view)
    assert names_in(model.GetPolyData()) == {NAME}


def test_bad_input_leaves_nothing(tree, tmp_path, monkeypatch):
    full = tmp_path / "full"
    full.mkdir()
    (full / "notes.txt").write_text("hours of work")
    before = scene_text()
    for act, message in (
        (lambda: tree.saveFormats(full), "is there already"),
        (lambda: tree.saveFormats(tmp_path / "x", ["vtk"]), "'vtk' is no format"),
        (lambda: tree.saveFormats(tmp_path / "x", rootPlaces=[[0, 0, np.nan]]), "finite"),
        (lambda: tree.saveFormats(tmp_path / "x", rootPlaces=[]), "roots are .*: give a list"),
        (lambda: tree.saveFormats(tmp_path / "x", rootPlaces=[1.0, 2, 3]), "give a list of"),
        (lambda: tree.saveFormats(tmp_path / "x", rootPlaces=[["a", 2, 3]]), "give a list of"),
        (lambda: tree.addCentrelines("rooted", []), "give a list of"),
        (lambda: tree.saveFormats(tmp_path / "no" / "x"), "x cannot be made: .* folder .*no"),
        (lambda: tree.addCentrelines("tree"), "view 'tree' is unknown"),
    ):
        with pytest.raises(InputError, match=message):
            act()
    assert scene_text() == before
    from PotentialSkeletonLib import interchange

    def no_space(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(interchange, "write_simvascular", no_space)
    with pytest.raises(OSError, match="No space left"):
        tree.saveFormats(tmp_path / "x")
    with pytest.raises(OSError, match=r"x{300}'$"):
        tree.saveFormats(tmp_path / ("x" * 300))
    assert [path.name for path in tmp_path.iterdir()] == ["full"]


def test_the_command_writes_the_same_formats():
    from fuzzy_vessel import arguments
    from PotentialSkeletonMRML.interchange import FORMATS

    assert arguments.TREE_FORMATS == FORMATS
    assert set(arguments.DEFAULT_TREE_FORMATS) <= set(FORMATS)
