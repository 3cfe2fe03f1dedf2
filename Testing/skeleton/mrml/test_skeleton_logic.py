"""Centrelines on the MRML scene: places, inputs, outputs, refusals, and the whole."""

import numpy as np
import pytest

from fuzzy_vessel import headless
from FuzzyVesselCoreLib.errors import Cancelled, InputError
from FuzzyVesselCoreLib.mrml.reading import ijk_to_ras
from PotentialSkeletonLib import skeletonize
from PotentialSkeletonMRML import lines
from support import solids
from support.mrml_cases import (
    OBLIQUE_LEFT_HANDED,
    add_volume,
    linear_transform,
    rotation_about,
    scene_text,
    warp_transform,
    world_of,
)

LABELMAP = "vtkMRMLLabelMapVolumeNode"
ALL = dict(tubesNode=True)


TRANSFORMS = {
    "none": lambda: None,
    "rigid": lambda: linear_transform(scales=(1, 1, 1)),
    "stretch": linear_transform,
    "warp": warp_transform,
}
RIGHT_ANGLED = rotation_about((1, 2, -1), 40) @ np.diag([0.6, 0.7, 1.4, 1.0])
RIGHT_ANGLED[:3, 3] = -12, 30, 55
AXES = {
    "right-handed": RIGHT_ANGLED,
    "left-handed": RIGHT_ANGLED @ np.diag([1, 1, -1, 1]),
    "sheared": OBLIQUE_LEFT_HANDED,
}


def fork():
    """A fork of three limbs of different widths."""
    mask = np.zeros((40, 28, 30), bool)
    for end, radius in (((4, 14, 15), 4.0), ((35, 6, 8), 2.5), ((34, 22, 23), 3.0)):
        mask |= solids.tube(solids.line((18, 14, 15), end), radius, mask.shape)
    return mask


MASK = fork()


def add_labelmap(mask=MASK, axes=RIGHT_ANGLED, transform=None):
    return add_volume(np.asarray(mask, np.uint8), axes, transform, LABELMAP)


def add_segmentation(labelmap, names=("vessel",)):
    """A segmentation with a segment for each label of a labelmap."""
    import slicer

    node = slicer.mrmlScene.AddNewNodeByClass("vtkMRMLSegmentationNode", "parts")
    node.SetAndObserveTransformNodeID(labelmap.GetTransformNodeID())
    slicer.modules.segmentations.logic().ImportLabelmapToSegmentationNode(labelmap, node)
    for segment_id, name in zip(node.GetSegmentation().GetSegmentIDs(), names, strict=True):
        node.GetSegmentation().GetSegment(segment_id).SetName(name)
    return node


def spacing_of(axes):
    return tuple(np.linalg.norm(axes[:3, :3], axis=0)[::-1])


def control_points(node):
    """World positions (n, 3) of a markups node."""
    positions = np.zeros((node.GetNumberOfControlPoints(), 3))
    for number, position in enumerate(positions):
        node.GetNthControlPointPositionWorld(number, position)
    return positions


def voxels(node):
    import slicer

    return slicer.util.arrayFromVolume(node)


def column(node, name):
    table = node.GetTable()
    values = [table.GetValueByName(row, name) for row in range(table.GetNumberOfRows())]
    return [value.ToString() if value.IsString() else value.ToDouble() for value in values]


def nodes_of(result):
    """All nodes of a result."""
    single = (result.modelNode, result.tubesNode, result.labelmapNode, result.tableNode)
    return [node for node in (*single, *result.curveNodes) if node is not None]


@pytest.fixture
def labelmap(slicer_scene):
    return add_labelmap()


@pytest.fixture
def hierarchy(slicer_scene):
    import slicer

    return slicer.vtkMRMLSubjectHierarchyNode.GetSubjectHierarchyNode(slicer_scene)


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


def test_a_part_without_a_branch_changes_no_number(logic, slicer_scene):
    mask = np.zeros((9, 9, 40), bool)
    mask[1:4, 1:4, 1:4] = mask[4:7, 4:7, 6:38] = True
    model = logic.extract(add_labelmap(mask)).modelNode
    starts = lines.values_of(model.GetPolyData(), "StartNode")
    assert logic.tree(model).table()["start"] == starts.tolist()


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
    }


def two():
    labels = MASK.astype(np.uint8)
    labels[2:6, 2:6, 2:6] = 2
    return labels


def add(class_name):
    import slicer

    return slicer.mrmlScene.AddNewNodeByClass(class_name, "new")


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


@pytest.mark.parametrize("which", ["scan", "lines"])
def test_a_node_removed_meanwhile_is_named(slicer_scene, logic, labelmap, which):
    model = slicer_scene.AddNewNodeByClass("vtkMRMLModelNode", "lines")
    removed = labelmap if which == "scan" else model
    with pytest.raises(Cancelled, match=f"'{which}' was removed"):
        logic.extract(
            labelmap, modelNode=model, progress=lambda _share: slicer_scene.RemoveNode(removed)
        )
    assert slicer_scene.GetNumberOfNodesByClass("vtkMRMLMarkupsCurveNode") == 0


def test_what_is_not_wanted_is_not_left_behind(logic, labelmap, slicer_scene):
    result = logic.extract(labelmap, modelNode=False, labelmapNode=False)
    assert (result.modelNode, result.labelmapNode) == (None, None)
    assert len(result.curveNodes) == result.tableNode.GetNumberOfRows() == 3
    assert slicer_scene.GetNumberOfNodesByClass("vtkMRMLModelNode") == 0


def test_several_segments_have_the_outputs_that_are_asked_for(logic, labelmap, slicer_scene):
    node = add_segmentation(add_labelmap(two()), ("a", "b"))
    results = logic.extractSegments(node, tubesNode=True, curveNodes=False, drop_islands=0)
    assert [each.tubesNode.GetName() for each in results] == ["a tubes", "b tubes"]
    assert slicer_scene.GetNumberOfNodesByClass("vtkMRMLMarkupsCurveNode") == 0


# --- the whole


def test_everything_comes_back_from_an_mrb(slicer_scene, logic, hierarchy, tmp_path):
    import slicer

    labelmap = add_labelmap(MASK, RIGHT_ANGLED, TRANSFORMS["rigid"]())
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
