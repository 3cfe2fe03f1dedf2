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
