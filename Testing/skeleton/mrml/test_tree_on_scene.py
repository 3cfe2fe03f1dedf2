"""Branches pruned, corrected, named and measured on a real scene; several segments in one run."""

import csv

import numpy as np
import pytest

from FuzzyVesselCoreLib.errors import Cancelled, InputError
from FuzzyVesselCoreLib.mrml.reading import voxels_of
from support.mrml_cases import add_volume, linear_transform, scene_text, world_of
from support.vessel_scene import (
    GAP,
    MATRIX,
    STENOSIS,
    add_segmentation,
    add_vessels,
    vessels,
    world,
)


@pytest.fixture
def tree(logic):
    return found(logic)


def found(logic, **scene):
    """The tree of the vessels, with all outputs that follow from the lines."""
    return logic.tree(logic.extract(add_vessels(**scene), tubesNode=True, device="cpu").modelNode)


def lengths(tree):
    return sorted(round(each, 6) for each in tree.table()["length_mm"])


def branch_at(tree, voxel):
    """Number of the branch that is nearest to a voxel."""
    there = world(voxel)[::-1]
    away = [np.linalg.norm(b.points - there, axis=1).min() for b in tree.skeleton.branches]
    return int(np.argmin(away))


def nodes(tree, output):
    from PotentialSkeletonMRML.outputs import own_nodes

    found = own_nodes(tree.model)[output]
    return found if output == "curveNodes" else found[0]


def moved(tree, position):
    there = [0.0] * 3
    tree.model.TransformPointToWorld(list(position), there)
    return there


# --- steps


def test_a_step_changes_every_output_and_undo_brings_them_back(tree, slicer_scene):
    before, count = tree.table(), len(tree.skeleton.branches)
    assert count == 6
    tree.prune("length", 14)
    assert [step.to_dict() for step in tree.steps] == [{"kind": "length", "value": 14.0}]
    assert len(tree.skeleton.branches) == 4  # the spur goes, and the trunk is one branch again
    assert nodes(tree, "tableNode").GetNumberOfRows() == 4
    ids = nodes(tree, "tubesNode").GetPolyData().GetCellData().GetArray("BranchId")
    assert ids.GetRange() == (0.0, 3.0)
    assert len(nodes(tree, "curveNodes")) == 4
    slicer_scene.RemoveNode(tree.model.GetNodeReference("PotentialSkeleton.Input"))
    assert tree.undo()  # it needs the lines alone
    assert (tree.table(), tree.steps) == (before, [])
    assert len(nodes(tree, "curveNodes")) == count
    assert not tree.undo()


@pytest.mark.parametrize("gone", ["lines", "vessels"])
def test_sections_of_other_lines_or_vessels_are_not_shown(tree, slicer_scene, gone):
    import slicer

    tree.measureSections()
    tree.prune("length", 14)
    if gone == "lines":
        slicer_scene.RemoveNode(tree.model.GetNodeReference("PotentialSkeleton.AsFound"))
        tree.cut(world((56, 36, 20)))
    else:
        vessels_node = tree.model.GetNodeReference("PotentialSkeleton.Input")
        slicer.util.arrayFromVolume(vessels_node)[1, 1, 1] ^= 1
        slicer.util.arrayFromVolumeModified(vessels_node)
        tree.measureSections()
    tree.undo()
    assert not tree.hasSections


def test_steps_on_a_copy_leave_the_first_one_s_outputs_alone(logic, tree, slicer_scene):
    copy = slicer_scene.AddNewNodeByClass("vtkMRMLModelNode", "copy")
    copy.Copy(tree.model)
    logic.tree(copy).prune("length", 14)
    logic.tree(copy).cut(world((56, 36, 20)))
    assert len(logic.tree(copy).skeleton.branches) == 5
    assert nodes(tree, "tableNode").GetNumberOfRows() == len(nodes(tree, "curveNodes")) == 6


def test_steps_are_saved_with_the_scene(logic, tree, tmp_path, slicer_scene):
    import slicer

    tree.prune("spur ratio", 3)
    after, name = lengths(tree), tree.model.GetName()
    tree.rename(0, "Trunk, left")
    path = str(tmp_path / "scene.mrb")
    assert slicer.util.saveScene(path)
    slicer_scene.Clear()
    slicer.util.loadScene(path)
    again = logic.tree(slicer.util.getNode(name))
    assert (lengths(again), len(again.steps)) == (pytest.approx(after), 1)
    assert again.names == {0: "Trunk, left"}
    again.undo()
    assert len(again.skeleton.branches) == 6


def test_finding_the_lines_again_ends_the_steps_and_keeps_the_names(logic, tree, slicer_scene):
    branch, before = branch_at(tree, (60, 19, 20)), slicer_scene.GetNumberOfNodes()
    tree.rename(branch, "Right")
    tree.prune("length", 14)
    assert nodes(tree, "tubesNode").GetPolyData().GetCellData().HasArray("Name")
    assert tree.names == {branch_at(tree, (60, 19, 20)): "Right"}
    labelmap = tree.model.GetNodeReference("PotentialSkeleton.Input")
    logic.extract(labelmap, **{output: nodes(tree, output) for output in (
        "modelNode", "tableNode", "curveNodes", "labelmapNode", "tubesNode")})  # fmt: skip
    assert (tree.steps, len(tree.skeleton.branches)) == ([], 6)
    assert slicer_scene.GetNumberOfNodes() == before
    branch = branch_at(tree, (60, 19, 20))
    assert tree.names == {branch: "Right"}
    assert nodes(tree, "tableNode").GetCellText(branch, 1) == "Right"
    voxels_of(labelmap, copy=False)[50:] = 0
    labelmap.GetImageData().Modified()
    again = logic.extract(labelmap, modelNode=tree.model, device="cpu")
    assert logic.tree(tree.model).names == {}
    assert "No branch is left where these names were: Right." in again.warnings


def test_a_gap_is_bridged_and_a_branch_cut_by_a_place_in_the_world(logic):
    tree = found(logic, transform=linear_transform())
    assert len(set(tree.table()["component"])) == 2
    tree.bridge(moved(tree, world(GAP)))
    assert len(set(tree.table()["component"])) == 1
    tree.cut(moved(tree, world((56, 36, 20))))
    assert len(set(tree.table()["component"])) == 2
    tree.undo()
    assert len(set(tree.table()["component"])) == 1


def test_what_cannot_be_done_is_said_and_changes_nothing(tree):
    before, text = lengths(tree), scene_text()
    for act, message in (
        (lambda: tree.prune("width", 3), "is unknown"),
        (lambda: tree.prune("length", -1), "from 0 up"),
        (lambda: tree.cut((500, 0, 0)), "away from the tree"),
        (lambda: tree.bridge((500, 0, 0)), "away from one side of the gap"),
        (lambda: tree.cut((0, 0, np.nan)), "finite numbers"),
        (lambda: tree.rename(99, "Nothing"), "no branch 99"),
        (lambda: tree.rename(0, "x" * 200), "at most 100"),
        (lambda: tree.rename(0, "\ud800"), "can be shown"),
        (lambda: tree.narrowest(99), "no branch 99"),
        (lambda: tree.distance((500, 0, 0), (0, 0, 0)), "away from the tree"),
    ):
        with pytest.raises(InputError, match=message):
            act()
    assert (lengths(tree), scene_text()) == (before, text)


# --- names


def test_names_with_commas_reach_the_table_the_curves_and_the_file(tree, tmp_path):
    from PotentialSkeletonLib.curve_skeleton import table_text

    branch = branch_at(tree, (60, 19, 20))
    tree.rename(branch, 'Right, "anterior"')
    assert nodes(tree, "curveNodes")[branch].GetName() == 'Right, "anterior"'
    assert nodes(tree, "tableNode").GetCellText(branch, 1) == 'Right, "anterior"'
    table_text(tree.table(), tmp_path / "tree.csv")
    with open(tmp_path / "tree.csv", newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert rows[branch]["name"] == 'Right, "anterior"'
    tree.rename(branch, "")
    assert (tree.names, "name" in tree.table()) == ({}, False)
    assert "branch" in nodes(tree, "curveNodes")[branch].GetName()


# --- several segments: one tree each, all or none, each as if it were alone


def two_vessels(**options):
    mask = vessels()
    return add_segmentation({"Portal, left": mask, "Vein": mask[:, ::-1, ::-1]}, **options)


def test_a_run_that_cannot_be_finished_changes_nothing(logic, slicer_scene):
    node = two_vessels()
    node.GetSegmentation().AddEmptySegment("", "Artery")
    labelmap = slicer_scene.AddNewNodeByClass("vtkMRMLLabelMapVolumeNode")
    before, seen, both = scene_text(), [], ["Vein", "Portal, left"]

    def cancelled_in_the_second(fraction):
        seen.append(fraction)
        return fraction < 0.7

    run = logic.extractSegments
    for act, error, message in (
        (lambda: run(node), InputError, "'Artery' of 'Vessels' is empty"),
        (lambda: run(node, []), InputError, "No segment of 'Vessels' is shown or named"),
        (lambda: run(node, ["Liver"]), InputError, "no segment 'Liver'"),
        (lambda: run(labelmap), InputError, "need a segmentation"),
        (lambda: run(node, both, progress=cancelled_in_the_second), Cancelled, None),
    ):
        with pytest.raises(error, match=message):
            act()
        assert scene_text() == before
    assert seen == sorted(seen)
    assert seen[-1] >= 0.7


# --- straightened


@pytest.fixture
def volume_of_places(slicer_scene):
    """A volume on the vessels' grid, under a turned transform: its values are K of the voxel."""
    shape = vessels().shape
    voxels = np.broadcast_to(np.arange(shape[0], dtype=np.float32)[:, None, None], shape)
    return add_volume(np.ascontiguousarray(voxels), MATRIX)


def test_a_straightened_branch_shows_the_vessel_upright_and_leads_back(tree, volume_of_places):
    from PotentialSkeletonMRML.vessels import patient_position

    number = max(
        range(len(tree.skeleton.branches)), key=lambda n: len(tree.skeleton.branches[n].points)
    )
    found = tree.straighten(number, volume_of_places, width=12.0)
    image, label = voxels_of(found.volumeNode), voxels_of(found.labelmapNode)
    assert image.shape == label.shape
    middle = tuple(size // 2 for size in label.shape)
    assert label[middle] == 1
    assert not label[middle[0], 0, 0]
    place = world_of(found.volumeNode, middle)
    patient = patient_position(found.volumeNode, place)
    ijk = np.linalg.inv(MATRIX) @ [*patient, 1]
    assert image[middle] == pytest.approx(ijk[2], abs=0.05)
    branch = tree.skeleton.branches[number].points[:, ::-1]
    assert np.linalg.norm(branch - patient, axis=1).min() < 1
    below = world_of(found.volumeNode, (0, middle[1], middle[2]))
    assert below[2] > place[2]  # the branch's first point is on top


def test_stenosis_between_two_places_by_diameter_and_area(tree):
    """The trunk is 10 mm thick, and 4.8 mm at its stenosis."""
    narrow, wide = tree.section(world(STENOSIS)), tree.section(world((12, 28, 20)))
    assert narrow.equivalent_diameter == pytest.approx(4.8, abs=0.75)
    assert wide.equivalent_diameter == pytest.approx(10, abs=0.75)
    by_diameter, by_area = narrow.stenosis(wide)
    assert by_area == pytest.approx(100 * (1 - narrow.area / wide.area))
    assert by_area == pytest.approx(100 * (1 - (1 - by_diameter / 100) ** 2))
    for section in (narrow, wide):
        assert section.smallest_diameter <= section.equivalent_diameter + 0.5
        assert section.largest_diameter >= section.equivalent_diameter - 0.5
        ends = np.linalg.norm(section.largest[1] - section.largest[0])
        assert ends == pytest.approx(section.largest_diameter)
