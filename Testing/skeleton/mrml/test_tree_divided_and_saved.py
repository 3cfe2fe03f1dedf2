"""A tree's vessels and organs divided, and its files and models for other programs."""

import csv
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from scipy import ndimage

from FuzzyVesselCoreLib.errors import Cancelled, InputError
from FuzzyVesselCoreLib.mrml.reading import array_from_image, array_from_matrix
from support.mrml_cases import OBLIQUE_LEFT_HANDED, linear_transform, scene_text
from support.vessel_scene import MATRIX, add_segmentation, add_vessels, vessels

NAME = 'Right, "anterior" <1>'

# --- dividing


def scene(logic, **options):
    """The tree, and the segmentation of vessels and organ that it was found in."""
    mask = vessels()
    organ = ndimage.binary_dilation(mask, iterations=6)
    node = add_segmentation({"Portal": mask, "Liver": organ}, **options)
    return logic.tree(logic.extract(node, "Portal", device="cpu").modelNode), node, organ


def segments(node):
    """Name of each segment to its voxels' number."""
    segmentation = node.GetSegmentation()
    found = {}
    for each in segmentation.GetSegmentIDs():
        segment = segmentation.GetSegment(each)
        image = array_from_image(segment.GetRepresentation("Binary labelmap"))
        found[segment.GetName()] = int((image == segment.GetLabelValue()).sum())
    return found


@pytest.mark.parametrize("matrix", [None, OBLIQUE_LEFT_HANDED])
def test_every_voxel_of_the_vessels_belongs_to_a_branch(logic, matrix):
    options = {} if matrix is None else {"matrix": matrix, "transform": linear_transform()}
    tree, node, _ = scene(logic, **options)
    tree.rename(0, "Trunk, main")
    before = segments(node)
    parts = segments(tree.split())
    assert sum(parts.values()) == before["Portal"] == int(vessels().sum())
    assert len(parts) == len(tree.skeleton.branches)
    assert "Trunk, main" in parts
    assert segments(node) == before
    generations = segments(tree.split("generation"))
    assert next(iter(generations)) == "Generation 0"
    assert sum(generations.values()) == before["Portal"]
    assert list(segments(tree.split("name"))) == ["Trunk, main"]


@pytest.mark.parametrize("distance", ["straight", "geodesic"])
def test_the_territories_make_up_the_organ(logic, distance):
    tree, node, organ = scene(logic)
    found = tree.divideOrgan(node, "Liver", distance=distance)
    voxels = segments(found.segmentationNode)
    assert sum(voxels.values()) + round(1000 * found.unreached) == int(organ.sum())
    for name, volume in found.volumes.items():
        assert volume == pytest.approx(voxels.get(name, 0) / 1000)
    table = found.tableNode
    titles = [table.GetColumnName(n) for n in range(3)]
    assert titles == ["territory", "volume_ml", "share_percent"]
    two = tree.divideOrgan(node, "Liver", {"Right": [0, 1], "Left": [2, 3]}, distance)
    assert list(two.volumes) == ["Right", "Left"]


def test_proposed_names_divide_the_liver_into_segments(logic):
    """The vessels lie along the patient's right; only segments have a part of the organ."""
    along_right = np.array([[0, 0, 1.0, 0], [0, -1.0, 0, 0], [1.0, 0, 0, 0], [0, 0, 0, 1]])
    node = add_segmentation({"Portal": vessels(), "Liver": vessels()}, along_right)
    tree = logic.tree(logic.extract(node, "Portal", device="cpu").modelNode)
    found = tree.proposeNames("portal vein", int(np.argmax(tree.table()["length_mm"])))
    named = {name: branch for branch, name in found.items()}
    assert {"portal vein (?)", "right branch (?)", "left branch (?)"} <= set(named)
    with pytest.raises(InputError, match="name of a liver segment"):
        tree.divideOrgan(node, "Liver", "segment")
    tree.rename(named["right branch (?)"], "segment 8 (?)")
    assert "right branch (?)" in tree.proposeNames("portal vein").values()  # once more
    tree.rename(named["right branch (?)"], "segment 8")
    tree.acceptNames()
    tree.proposeNames("portal vein")
    assert tree.names[named["right branch (?)"]] == "segment 8"  # a person's name stays
    assert list(tree.divideOrgan(node, "Liver", "segment").volumes) == ["segment 8"]


def test_an_organ_on_other_voxels_under_another_transform(logic):
    """The organ is sampled more coarsely, and lies under a transform of its own."""
    import vtk

    tree, node, organ = scene(logic)
    exact = tree.divideOrgan(node, "Liver").volumes
    turned, matrix = linear_transform(scales=(1, 1, 1)), vtk.vtkMatrix4x4()
    turned.GetMatrixTransformToParent(matrix)
    back = np.linalg.inv(array_from_matrix(matrix)) @ MATRIX @ np.diag([2, 2, 2, 1])
    coarse = add_segmentation({"Liver": organ[::2, ::2, ::2]}, back, turned, "Organ")
    again = tree.divideOrgan(coarse, "Liver").volumes
    assert again.keys() == exact.keys()
    assert sum(again.values()) == pytest.approx(sum(exact.values()), rel=0.1)
    largest = max(exact, key=exact.get)
    assert again[largest] == pytest.approx(exact[largest], rel=0.15)


def test_what_cannot_be_divided_is_said_and_nothing_is_added(logic):
    tree, node, organ = scene(logic)
    away = np.diag([1.0, 1, 1, 1])
    away[:3, 3] = 500
    elsewhere = add_segmentation({"Liver": organ}, away, name="Elsewhere")
    elsewhere.GetSegmentation().AddEmptySegment("", "Spleen")
    before, divide = scene_text(), tree.divideOrgan
    for act, error, message in (
        (lambda: divide(elsewhere, "Liver"), InputError, "mm away from 'Liver'"),
        (lambda: divide(elsewhere, "Spleen"), InputError, "'Spleen' of .* is empty"),
        (lambda: divide(None), InputError, "No input was given"),
        (lambda: divide(node, "Liver", distance="far"), InputError, "unknown"),
        (lambda: divide(node, "Liver", "name"), InputError, "No branch has a name"),
        (lambda: divide(node, "Liver", {"A": [0], "B": [0]}), InputError, "'B' has branch 0"),
        (lambda: divide(node, "Liver", {"A": [99]}), InputError, "branch 99, which does not"),
        (lambda: tree.split("colour"), InputError, "cannot be grouped by 'colour'"),
        (lambda: tree.split(progress=lambda _share: False), Cancelled, "nothing was changed"),
        (lambda: tree.measureSections(lambda _share: False), Cancelled, "nothing was changed"),
    ):
        with pytest.raises(error, match=message):
            act()
        assert scene_text() == before


# --- other programs: the names of branches are in all


@pytest.fixture
def tree(logic):
    labelmap = add_vessels(transform=linear_transform())
    tree = logic.tree(logic.extract(labelmap, device="cpu").modelNode)
    tree.rename(int(np.argmax(tree.table()["length_mm"])), NAME)
    return tree


def names_in(data):
    array = data.GetCellData().GetAbstractArray("Name")
    return {array.GetValue(n) for n in range(array.GetNumberOfValues())} - {""}


def test_the_name_is_in_every_file(tree, tmp_path):
    import vtk

    out = tmp_path / "tree"
    assert tree.saveFormats(out) == []
    files = {str(path.relative_to(out)) for path in out.rglob("*") if path.is_file()}
    for name in ("network.vtp", "centrelines-rooted.vtp", "centrelines-split.vtp"):
        reader = vtk.vtkXMLPolyDataReader()
        reader.SetFileName(str(out / name))
        reader.Update()
        assert names_in(reader.GetOutput()) == {NAME}
    spelled = "{http://graphml.graphdrawing.org/xmlns}data"
    texts = [each.text for each in ElementTree.parse(out / "network.graphml").iter(spelled)]
    assert NAME in texts
    with open(out / "network-edges.csv", newline="", encoding="utf-8") as file:
        assert NAME in [row["name"] for row in csv.DictReader(file)]
    assert any(Path(name).name.startswith("Right, -anterior- -1-") for name in files)
    assert {"network-nodes.csv", "tubes.stl", "tubes.ply"} <= files
    tree.save(tmp_path / "tree.swc")
    assert NAME in (tmp_path / "tree.swc").read_text(encoding="utf-8")


def test_files_lie_in_the_world_and_begin_at_the_root(tree, tmp_path):
    import slicer

    root, place = tree.skeleton.nodes[tree.skeleton.roots()[0]].position[::-1], [0.0] * 3
    tree.model.TransformPointToWorld(root.tolist(), place)
    tree.saveFormats(tmp_path / "tree", ["vmtk"])
    file = slicer.util.loadModel(str(tmp_path / "tree" / "centrelines-rooted.vtp"))
    np.testing.assert_allclose(slicer.util.arrayFromModelPoints(file)[0], place, atol=1e-3)
    for view in ("rooted", "split", "network"):
        model = tree.addCentrelines(view)
        assert names_in(model.GetPolyData()) == {NAME}
        assert model.GetTransformNodeID() == tree.model.GetTransformNodeID() is not None
        if view == "rooted":
            first = slicer.util.arrayFromModelPoints(model)[0]
            np.testing.assert_allclose(first, root)


def test_bad_input_leaves_nothing(tree, tmp_path, monkeypatch):
    from PotentialSkeletonLib import interchange

    full = tmp_path / "full"
    full.mkdir()
    (full / "notes.txt").write_text("hours of work")
    before, new = scene_text(), tmp_path / "x"
    for act, message in (
        (lambda: tree.saveFormats(full), "is there already"),
        (lambda: tree.saveFormats(new, ["vtk"]), "'vtk' is no format"),
        (lambda: tree.addCentrelines("tree"), "view 'tree' is unknown"),
    ):
        with pytest.raises(InputError, match=message):
            act()
    assert scene_text() == before

    def no_space(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(interchange, "write_simvascular", no_space)
    with pytest.raises(OSError, match="No space left"):
        tree.saveFormats(new)
    with pytest.raises(OSError, match=r"x{300}'$"):
        tree.saveFormats(tmp_path / ("x" * 300), ["csv"])
    with pytest.raises(OSError, match="no"):
        tree.saveFormats(tmp_path / "no" / "x")
    assert [path.name for path in tmp_path.iterdir()] == ["full"]
