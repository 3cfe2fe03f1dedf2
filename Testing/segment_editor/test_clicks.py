"""The points of a segment in the scene."""

import numpy as np
import pytest


@pytest.fixture
def segmentation(slicer_scene):
    import slicer

    node = slicer.mrmlScene.AddNewNodeByClass("vtkMRMLSegmentationNode", "vessels")
    for name in ("portal", "hepatic"):
        node.GetSegmentation().AddEmptySegment(name, name)
    return node


def clicks_of(node, segment_id):
    from SegmentEditorVesselFromClicksPanel.clicks import Clicks

    return Clicks(node, segment_id)


def test_each_segment_has_points_of_its_own(segmentation):
    portal, hepatic = (clicks_of(segmentation, each) for each in ("portal", "hepatic"))
    portal.add((1, 2, 3))
    hepatic.add((4, 5, 6), background=True)
    assert portal.points("vessel").world.tolist() == [[1, 2, 3]]
    assert portal.points("background").labels == []
    assert hepatic.points("vessel").labels == []
    assert hepatic.points("background").world.tolist() == [[4, 5, 6]]
    assert {node.GetName() for node in portal.nodes.values()} == {"portal vessel"}


def test_the_last_point_goes_first_whichever_list_it_is_in(segmentation):
    clicks = clicks_of(segmentation, "portal")
    for number in range(4):
        clicks.add((number, 0, 0), background=number in (1, 3))
    left = []
    for _ in range(5):
        left.append([len(clicks.points(kind).labels) for kind in ("vessel", "background")])
        clicks.remove_last()
    assert left == [[2, 2], [2, 1], [1, 1], [1, 0], [0, 0]]


def test_points_and_threshold_are_saved_with_the_scene(segmentation, tmp_path):
    import slicer

    clicks = clicks_of(segmentation, "hepatic")
    clicks.add((1.5, -2.25, 30.125))
    clicks.add((7, 8, 9), background=True)
    clicks.set_more(-0.35)
    path = str(tmp_path / "scene.mrb")
    assert slicer.util.saveScene(path, {})
    slicer.mrmlScene.Clear(False)
    slicer.util.loadScene(path, {})
    (loaded,) = slicer.util.getNodesByClass("vtkMRMLSegmentationNode")
    again = clicks_of(loaded, "hepatic")
    assert np.allclose(again.points("vessel").world, [[1.5, -2.25, 30.125]], atol=1e-4)
    assert np.allclose(again.points("background").world, [[7, 8, 9]], atol=1e-4)
    assert again.more == -0.35
    again.remove_last()
    assert again.points("background").labels == []
    assert clicks_of(loaded, "portal").nodes == {}


def test_new_lists_do_not_take_the_place_of_the_users_own(segmentation):
    import slicer

    own = slicer.mrmlScene.AddNewNodeByClass("vtkMRMLMarkupsFiducialNode", "mine")
    slicer.modules.markups.logic().SetActiveList(own)
    selection = slicer.mrmlScene.GetFirstNodeByClass("vtkMRMLSelectionNode")
    clicks_of(segmentation, "portal").add((1, 2, 3))
    assert selection is None or selection.GetActivePlaceNodeID() == own.GetID()
    assert own.GetNumberOfControlPoints() == 0


def test_clear_removes_the_lists(segmentation):
    import slicer

    before = slicer.mrmlScene.GetNumberOfNodesByClass("vtkMRMLMarkupsFiducialNode")
    clicks = clicks_of(segmentation, "portal")
    clicks.add((1, 2, 3))
    clicks.add((1, 2, 4), background=True)
    clicks.clear()
    assert clicks.nodes == {}
    assert slicer.mrmlScene.GetNumberOfNodesByClass("vtkMRMLMarkupsFiducialNode") == before
    assert clicks.more == 0
