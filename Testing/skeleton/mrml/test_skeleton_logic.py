"""Centrelines on the MRML scene: places, inputs, outputs, and the whole."""

import numpy as np
import pytest

from fuzzy_vessel import headless
from FuzzyVesselCoreLib.mrml.reading import ijk_to_ras
from PotentialSkeletonLib import force_field, skeletonize
from support.mrml_cases import (
    OBLIQUE_LEFT_HANDED,
    world_of,
)
from support.skeleton_cases import (
    ALL,
    AXES,
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
    for node in (result.labelmapNode, result.fieldNode):
        np.testing.assert_allclose(ijk_to_ras(node), axes, atol=1e-12)
    for kind, node in result.criticalPointsNodes.items():
        there = [world_of(labelmap, p.position) for p in expected.critical_points if p.kind == kind]
        np.testing.assert_allclose(control_points(node), there, atol=1e-9)
    spatial = [node for node in nodes_of(result) if node.IsA("vtkMRMLTransformableNode")]
    assert len(spatial) >= 7
    assert all(n.GetTransformNodeID() == labelmap.GetTransformNodeID() for n in spatial)


@pytest.mark.parametrize(
    ("axes", "transform", "word"),
    [
        ("right-handed", "none", None),
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


def test_model_has_a_line_a_branch_with_its_measures(logic, labelmap):
    result = logic.extract(labelmap)
    data, table = result.modelNode.GetPolyData(), result.skeleton.to_table()
    assert data.GetNumberOfLines() == data.GetNumberOfCells() == 3
    names = ("BranchId", "Generation", "Length", "MeanRadius")
    columns = ("branch", "generation", "length_mm", "mean_radius_mm")
    for name, wanted in zip(names, columns):
        array = data.GetCellData().GetArray(name)
        assert [array.GetTuple1(n) for n in range(3)] == table[wanted]
    radius = data.GetPointData().GetArray("Radius")
    branch = result.skeleton.branches[1]
    cell = data.GetCell(1)
    found = [radius.GetTuple1(cell.GetPointId(n)) for n in range(cell.GetNumberOfPoints())]
    np.testing.assert_array_equal(found, branch.radius)
    display = result.modelNode.GetDisplayNode()
    assert display.GetActiveScalarName() == "Radius"
    assert display.GetScalarVisibility()
    assert display.GetColorNode() is not None


def test_field_points_along_the_voxels_axes(logic, slicer_scene):
    labelmap = add_labelmap(MASK, OBLIQUE_LEFT_HANDED)
    result = logic.extract(labelmap, charge_distance=1, fieldNode=True, **NONE)
    field = voxels(result.fieldNode)
    vectors = force_field(MASK, charge_distance=1).vectors
    expected = vectors[..., ::-1] @ OBLIQUE_LEFT_HANDED[:3, :3].T
    assert field.dtype == np.float32
    np.testing.assert_allclose(field, expected, rtol=1e-5, atol=1e-7)
    assert np.abs(field).max() > 0.01
    assert result.fieldNode.GetVoxelVectorType() == result.fieldNode.VoxelVectorTypeSpatial


def test_one_voxel_has_no_branch_and_every_output(slicer_scene, logic):
    mask = np.zeros((5, 6, 7), bool)
    mask[2, 3, 4] = True
    result = logic.extract(add_labelmap(mask), **ALL)
    assert result.curveNodes == []
    assert result.modelNode.GetPolyData().GetNumberOfLines() == 0
    assert result.tableNode.GetNumberOfRows() == 0
    assert np.array_equal(voxels(result.labelmapNode) > 0, mask)
    assert result.warnings == [
        "Tiny, perhaps noise: 1 of 1 component.",
        "There is no branch: the skeleton is 1 point, seen in the labelmap only.",
    ]


# --- which nodes


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


# --- the whole


def test_everything_comes_back_from_an_mrb(slicer_scene, logic, hierarchy, tmp_path):
    import slicer

    labelmap = add_labelmap(MASK, RIGHT_ANGLED, rigid())
    first = logic.extract(labelmap, **ALL)
    positions = [control_points(curve) for curve in first.curveNodes]
    radii = [branch.radius for branch in first.skeleton.branches]
    labels, force = voxels(first.labelmapNode).copy(), voxels(first.fieldNode).copy()
    table = first.skeleton.to_table()
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
    np.testing.assert_allclose(voxels(slicer.util.getNode("scan force")), force, atol=1e-6)
    lines = slicer.util.getNode("scan centrelines").GetPolyData()
    assert lines.GetNumberOfLines() == 3
    assert lines.GetPointData().GetArray("Radius").GetNumberOfTuples() == sum(map(len, radii))
    loaded = column(slicer.util.getNode("scan branches"), "length_mm")
    np.testing.assert_allclose(loaded, table["length_mm"], rtol=1e-5)


def test_self_test_of_the_module(slicer_scene):
    from PotentialSkeleton import PotentialSkeletonTest

    PotentialSkeletonTest().runTest()


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
