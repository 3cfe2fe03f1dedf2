"""Several segments in one run: one tree each, all or none, each as if it were alone."""

import numpy as np
import pytest

from FuzzyVesselCoreLib.errors import Cancelled, InputError
from support.mrml_cases import linear_transform, scene_text
from support.vessel_scene import add_segmentation, vessels

pytest.importorskip("slicer", reason="slicer-core is not installed")


@pytest.fixture
def logic(slicer_scene):
    from PotentialSkeleton import PotentialSkeletonLogic

    return PotentialSkeletonLogic()


def two_vessels(**options):
    mask = vessels()
    return add_segmentation({"Portal, left": mask, "Vein": mask[:, ::-1, ::-1]}, **options)


def test_each_tree_is_that_of_its_segment_alone(logic):
    from PotentialSkeletonMRML.lines import stored_table

    node = two_vessels(transform=linear_transform())
    both = logic.extractSegments(node, device="cpu")
    names = [result.modelNode.GetName() for result in both]
    assert names == ["Portal, left centrelines", "Vein centrelines"]
    for segment, result in zip(node.GetSegmentation().GetSegmentIDs(), both, strict=True):
        alone = logic.extract(node, segment, device="cpu")
        assert stored_table(result.modelNode) == stored_table(alone.modelNode)
        for one, other in zip(alone.skeleton.branches, result.skeleton.branches, strict=True):
            assert np.array_equal(one.points, other.points)
            assert np.array_equal(one.radius, other.radius)
        assert result.warnings == alone.warnings


def test_one_table_has_a_column_for_the_tree(logic):
    from PotentialSkeletonMRML.lines import stored_table
    from PotentialSkeletonMRML.run_nodes import keep
    from PotentialSkeletonMRML.tables import stored_tables

    node = two_vessels()
    both = logic.extractSegments(node, ["Vein", "Portal, left"], device="cpu")
    models = [result.modelNode for result in both]
    logic.tree(models[1]).rename(0, "Trunk")
    for result, segment in zip(both, reversed(list(node.GetSegmentation().GetSegmentIDs()))):
        keep(result, node, segment, [])
    table, rows = stored_tables(models), len(stored_table(models[0])["branch"])
    assert list(table)[:3] == ["tree", "branch", "name"]
    assert set(table["tree"][:rows]) == {"Vein"}
    assert set(table["tree"][rows:]) == {"Portal, left"}
    assert table["name"][: rows + 1] == [""] * rows + ["Trunk"]
    assert {len(column) for column in table.values()} == {len(table["tree"])}
    assert stored_tables(models[:1]) == stored_table(models[0])


def test_a_run_that_cannot_be_finished_changes_nothing(logic, slicer_scene):
    node = two_vessels()
    node.GetSegmentation().AddEmptySegment("", "Artery")
    labelmap = slicer_scene.AddNewNodeByClass("vtkMRMLLabelMapVolumeNode")
    model = slicer_scene.AddNewNodeByClass("vtkMRMLModelNode", "Mine")
    before, seen = scene_text(), []

    def cancelled_in_the_second(fraction):
        seen.append(fraction)
        return fraction < 0.7

    for act, error, message in (
        (lambda: logic.extractSegments(node), InputError, "'Artery' of 'Vessels' is empty"),
        (lambda: logic.extractSegments(node, ["Vein", "Vein"]), InputError, "named twice"),
        (lambda: logic.extractSegments(node, []), InputError, "no segment was named"),
        (lambda: logic.extractSegments(node, ["Liver"]), InputError, "no segment 'Liver'"),
        (lambda: logic.extractSegments(labelmap), InputError, "need a segmentation"),
        (
            lambda: logic.extractSegments(
                node, ["Vein", "Portal, left"], outputs=lambda _segment: {"modelNode": model}
            ),
            InputError,
            "two outputs",
        ),
        (
            lambda: logic.extractSegments(
                node, ["Vein", "Portal, left"], progress=cancelled_in_the_second
            ),
            Cancelled,
            None,
        ),
    ):
        with pytest.raises(error, match=message):
            act()
        assert scene_text() == before
    assert seen == sorted(seen)
    assert seen[-1] >= 0.7
