"""Centrelines on the MRML scene: places, inputs, outputs, refusals, and the whole."""

import numpy as np
import pytest

from fuzzy_vessel import headless
from FuzzyVesselCoreLib.errors import Cancelled, InputError
from FuzzyVesselCoreLib.mrml.reading import ijk_to_ras
from PotentialSkeletonLib import skeletonize
from support.mrml_cases import OBLIQUE_LEFT_HANDED, scene_text, world_of
from support.skeleton_cases import (
    ALL,
    AXES,
    LABELMAP,
    MASK,
    NONE,
    RIGHT_ANGLED,
    TRANSFORMS,
    add_labelmap,
    add_segmentation,
    column,
    control_points,
    nodes_of,
    rigid,
    spacing_of,
    voxels,
)

# --- places


@pytest.mark.parametrize("under", TRANSFORMS)
@pytest.mark.parametrize("axes", AXES)
def test_everything_lies_where_the_voxels_are(slicer_scene, logic, axes, under):
    axes = AXES[axes]
    labelmap = add_labelmap(MASK, axes, TRANSFORMS[under]())
    result = logic.extract(labelmap, **ALL)
    expected = skeletonize(MASK, spacing_of(axes))
    assert len(expected.branches) == len(result.curveNodes) == 3
    for curve, branch in zip(result.curveNodes, expected.branches):
        there = [world_of(labelmap, point) for point in branch.points]
        np.testing.assert_allclose(control_points(curve), there, atol=1e-9)
    lines = result.modelNode.GetPolyData()
    points = np.concatenate([branch.points for branch in expected.branches])
    local = points[:, ::-1] @ axes[:3, :3].T + axes[:3, 3]
    np.testing.assert_allclose(
        [lines.GetPoint(n) for n in range(lines.GetNumberOfPoints())], local, atol=1e-9
    )
    np.testing.assert_allclose(ijk_to_ras(result.labelmapNode), axes, atol=1e-12)
    spatial = [node for node in nodes_of(result) if node.IsA("vtkMRMLTransformableNode")]
    assert len(spatial) == 6
    assert all(n.GetTransformNodeID() == labelmap.GetTransformNodeID() for n in spatial)


@pytest.mark.parametrize(
    ("axes", "transform", "word"),
    [
        ("left-handed", "rigid", None),
        ("sheared", "none", "right angle"),
        ("right-handed", "stretch", "changes lengths"),
        ("right-handed", "warp", "changes lengths"),
    ],
)
def test_it_is_said_where_lengths_are_not_those_of_the_world(
    slicer_scene, logic, axes, transform, word
):
    labelmap = add_labelmap(MASK, AXES[axes], TRANSFORMS[transform]())
    said = [
        warning
        for warning in logic.extract(labelmap, **NONE).warnings
        if "right angle" in warning or "changes lengths" in warning
    ]
    assert len(said) == (word is not None)
    assert all(word in warning for warning in said)


# --- what goes in


def test_one_label_of_several(slicer_scene, logic):
    labels = MASK * 3
    labels[2:6, 2:6, 2:6] = 7
    labelmap = add_labelmap(labels)
    result = logic.extract(labelmap, label=3)
    assert not voxels(result.labelmapNode)[~MASK].any()
    assert result.skeleton.report["components"] == 1
    assert logic.extract(labelmap, **NONE).skeleton.report["components"] == 2
    assert result.labelmapNode.GetName() == "scan label 3 skeleton"


@pytest.mark.parametrize("under", ["none", "stretch", "warp"])
def test_a_segment_is_taken_as_its_labelmap(slicer_scene, logic, under):
    """Two segments in one image, which Slicer cuts to what is used."""
    labels = MASK.astype(np.uint8) * 2
    labels[8:12, 2:5, 2:6] = 1
    labelmap = add_labelmap(labels, OBLIQUE_LEFT_HANDED, TRANSFORMS[under]())
    segmentation = add_segmentation(labelmap, ("stone", "vessel"))
    expected = logic.extract(labelmap, label=2)
    for name in ("vessel", segmentation.GetSegmentation().GetNthSegmentID(1)):
        result = logic.extract(segmentation, name)
        assert result.labelmapNode.GetName().startswith("vessel skeleton")
        for found, wanted in zip(result.curveNodes, expected.curveNodes, strict=True):
            np.testing.assert_allclose(control_points(found), control_points(wanted), atol=1e-6)
        there = np.argwhere(voxels(result.labelmapNode))
        wanted = np.argwhere(voxels(expected.labelmapNode))
        np.testing.assert_allclose(
            [world_of(result.labelmapNode, voxel) for voxel in there],
            [world_of(expected.labelmapNode, voxel) for voxel in wanted],
            atol=1e-6,
        )


# --- what comes out


@pytest.mark.parametrize("under", ["none", "stretch"])
def test_the_lines_tell_the_whole_skeleton(slicer_scene, logic, under):
    """A frame, which is a loop, with a bar through one corner, and a bar apart from it."""
    from PotentialSkeletonMRML.lines import stored_skeleton, stored_table

    array = np.zeros((30, 30, 10), np.uint8)
    array[4:24, 4:24, 3:7] = array[20:29, 20:24, 3:7] = array[1:3, 2:20, 3:6] = 1
    array[8:20, 8:20] = 0
    result = logic.extract(add_labelmap(array, RIGHT_ANGLED, TRANSFORMS[under]()))
    model, stored, in_world = (
        result.modelNode,
        *(stored_skeleton(result.modelNode, world) for world in (False, True)),
    )
    for name, values in result.skeleton.to_table().items():
        assert stored_table(model)[name] == pytest.approx(values), name
    assert len(set(stored.to_table()["component"])) == 2
    for branch, again, placed, curve in zip(
        result.skeleton.branches, stored.branches, in_world.branches, result.curveNodes, strict=True
    ):
        ijk = branch.points[:, ::-1]
        local = ijk @ result.ijkToRAS[:3, :3].T + result.ijkToRAS[:3, 3]
        assert again.points[:, ::-1] == pytest.approx(local)
        assert placed.points[:, ::-1] == pytest.approx(control_points(curve))
        assert again.radius == pytest.approx(branch.radius)


def test_one_voxel_has_no_branch_and_every_output(slicer_scene, logic):
    mask = np.zeros((5, 6, 7), bool)
    mask[2, 3, 4] = True
    result = logic.extract(add_labelmap(mask), **ALL)
    assert result.curveNodes == []
    assert result.modelNode.GetPolyData().GetNumberOfLines() == 0
    assert result.tableNode.GetNumberOfRows() == 0
    assert np.array_equal(voxels(result.labelmapNode) > 0, mask)
    assert "There is no branch" in result.warnings[-1]


def test_given_nodes_are_filled_and_keep_their_display(slicer_scene, logic, labelmap):
    first = logic.extract(labelmap, **ALL)
    first.curveNodes[0].GetDisplayNode().SetSelectedColor(0.1, 0.2, 0.3)
    first.modelNode.GetDisplayNode().SetLineWidth(7)
    nodes = slicer_scene.GetNumberOfNodes()
    voxels(labelmap)[20:] = 0  # one limb is left
    outputs = {name: getattr(first, name) for name in (*NONE, *ALL)}
    second = logic.extract(labelmap, **outputs)
    assert len(second.skeleton.branches) == len(second.curveNodes) == 1
    assert second.curveNodes[0] is first.curveNodes[0]
    assert set(nodes_of(second)) <= set(nodes_of(first))
    assert slicer_scene.GetNumberOfNodesByClass("vtkMRMLMarkupsCurveNode") == 1
    removed = 2 * 2  # two curves with their displays
    assert slicer_scene.GetNumberOfNodes() == nodes - removed
    assert second.tableNode.GetNumberOfRows() == 1
    radius = second.curveNodes[0].GetMeasurement("Radius").GetControlPointValues()
    assert radius.GetNumberOfTuples() == second.curveNodes[0].GetNumberOfControlPoints()
    assert second.curveNodes[0].GetDisplayNode().GetSelectedColor() == (0.1, 0.2, 0.3)
    assert second.modelNode.GetDisplayNode().GetLineWidth() == 7
    third = logic.extract(add_labelmap(), **{**outputs, "curveNodes": second.curveNodes})
    assert len(third.curveNodes) == 3


def test_a_result_is_found_by_its_object(slicer_scene, logic, labelmap):
    from PotentialSkeletonMRML.run_nodes import kept_model, kept_nodes

    result = logic.extract(labelmap, tableNode=False, **ALL)
    assert kept_model(labelmap, "") is result.modelNode
    assert kept_model(labelmap, "Segment_1") is None
    assert kept_model(add_labelmap(), "") is None
    assert kept_model(None, "") is None
    nodes = kept_nodes(result.modelNode)
    assert (nodes["curveNodes"], nodes["tubesNode"]) == (result.curveNodes, result.tubesNode)
    assert "tableNode" not in nodes
    logic.extract(labelmap, **{**NONE, "modelNode": result.modelNode})  # the others stay referred
    assert kept_nodes(result.modelNode) == nodes


def test_curves_lie_below_those_of_their_parents(logic, labelmap, hierarchy):
    result = logic.extract(labelmap)
    items = [hierarchy.GetItemByDataNode(curve) for curve in result.curveNodes]
    above = [hierarchy.GetItemParent(item) for item in items]
    generations = result.skeleton.to_table()["generation"]
    for generation, parent in zip(generations, above):
        if generation == 0:
            assert parent == result.folderItemID
        else:
            assert generations[items.index(parent)] == generation - 1


# --- refusals, Cancel and failures leave the scene as it was


def refusals():
    """Calls that fail: name -> (input and options, part of the message)."""
    return {
        "nothing": (lambda s: ((None,), {}), "No input"),
        "another kind": (lambda s: ((add("vtkMRMLModelNode"),), {}), "'new' is no labelmap"),
        "no voxels": (lambda s: ((add(LABELMAP),), {}), "'new' holds no voxels"),
        "no label": (lambda s: ((s,), {"label": 4}), "no label 4; it has 1"),
        "no segment": (lambda s: ((add_segmentation(s), "liver"), {}), "'liver'; it has 'vessel'"),
        "which segment": (
            lambda s: ((add_segmentation(add_labelmap(two()), ("a", "b")),), {}),
            "2 segments; choose one of 'a', 'b'",
        ),
        "no segments": (lambda s: ((add("vtkMRMLSegmentationNode"),), {}), "has no segment"),
        "label of segment": (lambda s: ((add_segmentation(s),), {"label": 1}), "name a segment"),
        "segment of label": (lambda s: ((s, "vessel"), {}), "'scan' is a labelmap"),
        "method": (lambda s: ((s,), {"method": "magic"}), "magic"),
        "input as output": (lambda s: ((s,), {"labelmapNode": s}), "'scan' is the input"),
        "twice": (lambda s: ((s,), twice("vtkMRMLModelNode")), "two outputs"),
    }


def two():
    labels = MASK.astype(np.uint8)
    labels[2:6, 2:6, 2:6] = 2
    return labels


def add(class_name):
    import slicer

    return slicer.mrmlScene.AddNewNodeByClass(class_name, "new")


def twice(class_name):
    node = add(class_name)
    return {"modelNode": node, "tubesNode": node}


@pytest.mark.parametrize("case", refusals())
def test_refused_input_changes_nothing(logic, labelmap, case):
    make, message = refusals()[case]
    arguments, options = make(labelmap)
    before = scene_text()
    with pytest.raises(InputError, match=message):
        logic.extract(*arguments, **options)
    assert scene_text() == before


@pytest.mark.parametrize("share", [0.0, 0.3, 1.0])
def test_cancel_changes_nothing(logic, labelmap, hierarchy, share):
    before = scene_text()
    with pytest.raises(Cancelled):
        logic.extract(labelmap, progress=lambda fraction: fraction < share, **ALL)
    assert scene_text() == before


@pytest.mark.parametrize("step", ["show_curve", "group"])
def test_a_failure_while_writing_removes_what_was_added(
    logic, labelmap, hierarchy, monkeypatch, step
):
    from PotentialSkeletonMRML import outputs

    before, items = scene_text(), hierarchy.GetNumberOfItems()
    monkeypatch.setattr(outputs, step, lambda *arguments: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        logic.extract(labelmap, **ALL)
    assert scene_text() == before
    assert hierarchy.GetNumberOfItems() == items


@pytest.mark.parametrize("which", ["scan", "lines"])
def test_a_node_removed_meanwhile_is_named(slicer_scene, logic, labelmap, which):
    model = slicer_scene.AddNewNodeByClass("vtkMRMLModelNode", "lines")
    removed = labelmap if which == "scan" else model
    with pytest.raises(Cancelled, match=f"'{which}' was removed"):
        logic.extract(
            labelmap, modelNode=model, progress=lambda _share: slicer_scene.RemoveNode(removed)
        )
    assert slicer_scene.GetNumberOfNodesByClass("vtkMRMLMarkupsCurveNode") == 0


# --- the whole


def test_everything_comes_back_from_an_mrb(slicer_scene, logic, hierarchy, tmp_path):
    import slicer

    labelmap = add_labelmap(MASK, RIGHT_ANGLED, rigid())
    first = logic.extract(labelmap, **ALL)
    positions = [control_points(curve) for curve in first.curveNodes]
    radii = [branch.radius for branch in first.skeleton.branches]
    labels, table = voxels(first.labelmapNode).copy(), first.skeleton.to_table()
    assert slicer.util.saveScene(str(tmp_path / "s.mrb"), {})
    headless.start().clear()
    slicer.util.loadScene(str(tmp_path / "s.mrb"), {})

    for number, (there, radius) in enumerate(zip(positions, radii)):
        curve = slicer.util.getNode(f"scan branch {number}")
        np.testing.assert_allclose(control_points(curve), there, atol=1e-4)
        values = curve.GetMeasurement("Radius").GetControlPointValues()
        found = [values.GetValue(n) for n in range(values.GetNumberOfTuples())]
        np.testing.assert_allclose(found, radius, rtol=1e-5)
        assert not curve.GetNthControlPointVisibility(0)
    assert np.array_equal(voxels(slicer.util.getNode("scan skeleton")), labels)
    lines = slicer.util.getNode("scan centrelines").GetPolyData()
    assert lines.GetNumberOfLines() == 3
    assert lines.GetPointData().GetArray("Radius").GetNumberOfTuples() == sum(map(len, radii))
    loaded = column(slicer.util.getNode("scan branches"), "length_mm")
    np.testing.assert_allclose(loaded, table["length_mm"], rtol=1e-5)


def test_self_test_of_the_module(slicer_scene):
    from PotentialSkeleton import PotentialSkeletonTest

    PotentialSkeletonTest().runTest()
