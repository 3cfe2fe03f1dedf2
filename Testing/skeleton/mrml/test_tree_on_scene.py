"""Branches pruned, corrected, named and measured on a real scene."""

import csv

import numpy as np
import pytest

from FuzzyVesselCoreLib.errors import InputError
from support.mrml_cases import linear_transform
from support.vessel_scene import GAP, STENOSIS, add_vessels, world

pytest.importorskip("slicer", reason="slicer-core is not installed")


@pytest.fixture
def logic(slicer_scene):
    from PotentialSkeleton import PotentialSkeletonLogic

    return PotentialSkeletonLogic()


@pytest.fixture
def tree(logic):
    return found(logic)


def found(logic, **scene):
    """The tree of the vessels, with all outputs that follow from the lines."""
    from PotentialSkeletonMRML.run_nodes import keep

    labelmap = add_vessels(**scene)
    result = logic.extract(labelmap, tubesNode=True, device="cpu")
    keep(result, labelmap, "", [])
    return logic.tree(result.modelNode)


def lengths(tree):
    return sorted(round(each, 6) for each in tree.table()["length_mm"])


def branch_at(tree, voxel):
    """Number of the branch that is nearest to a voxel."""
    there = world(voxel)[::-1]
    away = [np.linalg.norm(b.points - there, axis=1).min() for b in tree.skeleton.branches]
    return int(np.argmin(away))


def nodes(tree, output):
    from PotentialSkeletonMRML.run_nodes import kept_nodes

    return kept_nodes(tree.model)[output]


# --- from the console, without the panel


# --- steps


def test_a_step_changes_every_output_and_undo_brings_them_back(tree):
    before, count = lengths(tree), len(tree.skeleton.branches)
    assert count == 6
    tree.prune("length", 14)
    assert [step.to_dict() for step in tree.steps] == [{"kind": "length", "value": 14.0}]
    assert len(tree.skeleton.branches) == 4  # the spur goes, and the trunk is one branch again
    assert nodes(tree, "tableNode").GetNumberOfRows() == 4
    assert nodes(tree, "tubesNode").GetPolyData().GetCellData().GetArray("BranchId").GetRange() == (
        0.0,
        3.0,
    )
    assert len(nodes(tree, "curveNodes")) == 4
    assert tree.undo()
    assert (lengths(tree), tree.steps) == (before, [])
    assert len(nodes(tree, "curveNodes")) == count
    assert not tree.undo()


def test_the_labelmap_follows_the_steps(logic):
    import slicer

    tree = found(logic, transform=linear_transform())
    labelmap = nodes(tree, "labelmapNode")
    before = slicer.util.arrayFromVolume(labelmap).copy()
    tree.prune("length", 14)
    after = slicer.util.arrayFromVolume(labelmap).copy()
    gone = np.argwhere(before & ~after)
    assert len(gone) > 5
    assert (gone[:, 0] > 34).all()
    assert (gone[:, 2] > 20).all()  # the spur goes along I, and nothing else
    assert not (after & ~before).any()
    tree.bridge(moved(tree, world(GAP)))
    from scipy import ndimage

    bridged = slicer.util.arrayFromVolume(labelmap)
    assert ndimage.label(bridged, np.ones((3, 3, 3)))[1] == 1
    tree.undo()
    tree.undo()
    assert np.array_equal(slicer.util.arrayFromVolume(labelmap), before)


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


def test_finding_the_lines_again_ends_the_steps_and_keeps_the_names(logic, tree):
    branch = branch_at(tree, (60, 19, 20))
    tree.rename(branch, "Right")
    tree.prune("length", 14)
    count = len(names_in_scene("as found"))
    assert (count, tree.names) == (1, {branch_at(tree, (60, 19, 20)): "Right"})
    labelmap = tree.model.GetNodeReference("PotentialSkeleton.Input")
    logic.extract(labelmap, modelNode=tree.model, tableNode=False, curveNodes=False,
                  labelmapNode=False, device="cpu")  # fmt: skip
    assert (tree.steps, len(tree.skeleton.branches)) == ([], 6)
    assert names_in_scene("as found") == []
    assert tree.names == {branch_at(tree, (60, 19, 20)): "Right"}


def names_in_scene(part):
    import slicer

    count = slicer.mrmlScene.GetNumberOfNodes()
    names = [slicer.mrmlScene.GetNthNode(number).GetName() for number in range(count)]
    return [name for name in names if name and part in name]


def test_a_gap_is_bridged_and_a_branch_cut_by_a_place_in_the_world(logic):
    tree = found(logic, transform=linear_transform())
    assert len(set(tree.table()["component"])) == 2
    tree.bridge(moved(tree, world(GAP)))
    assert len(set(tree.table()["component"])) == 1
    tree.cut(moved(tree, world((56, 36, 20))))
    assert len(set(tree.table()["component"])) == 2
    tree.undo()
    assert len(set(tree.table()["component"])) == 1


def moved(tree, position):
    found = [0.0] * 3
    tree.model.TransformPointToWorld(list(position), found)
    return found


def test_what_cannot_be_done_is_said_and_changes_nothing(tree):
    from support.mrml_cases import scene_text

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
    from PotentialSkeletonLib.graph.exports import table_text

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


# --- measuring


def test_the_narrowest_place_of_a_branch(tree):
    place = tree.narrowest(branch_at(tree, (12, 28, 20)))
    assert np.linalg.norm(place.position - world(STENOSIS)) < 2
    assert place.diameter == pytest.approx(4.8, abs=1)
    assert place.stenosis(10) == pytest.approx(100 - 10 * place.diameter)
    with pytest.raises(InputError, match="above 0"):
        place.stenosis(0)


def test_the_distance_between_two_places_follows_the_tree(tree):
    way = tree.distance(world((66, 44, 23)), world((70, 12, 18)))
    assert way.length == pytest.approx(27 + 30, rel=0.1)
    assert way.tortuosity == pytest.approx(way.length / way.straight)
    with pytest.raises(InputError, match="not connected"):
        tree.distance(world((66, 44, 20)), world((79, 53, 8)))
