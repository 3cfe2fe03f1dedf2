"""Segments of an earlier session stay: nodes get IDs again that others had before them."""

import numpy as np
import pytest

from support.mrml_cases import add_seeds, add_volume
from support.panel_cases import POINTS, SHAPE, vessel


@pytest.fixture
def saved(slicer_scene):
    """A scene with one vessel: volume, list of points, segmentation."""
    volume = add_volume(vessel(), np.diag([-1.0, -1.0, 1.0, 1.0]))
    seeds = add_seeds(volume, POINTS, "Portal vein")
    segmentation = slicer_scene.AddNewNodeByClass("vtkMRMLSegmentationNode", "Vessels")
    run(volume, seeds, segmentation)
    return volume, seeds, segmentation


def run(volume, seeds, segmentation):
    from FuzzyConnectedGPU import FuzzyConnectedGPULogic

    FuzzyConnectedGPULogic().segment(volume, seeds, segmentationNode=segmentation, device="cpu")


def turned_vessel():
    """Another scan, whose vessel goes along J."""
    return np.ascontiguousarray(vessel((SHAPE[0], SHAPE[2], SHAPE[1])).transpose(0, 2, 1))


def segments(segmentation, volume):
    """The voxels of each segment by its name."""
    import slicer

    inner = segmentation.GetSegmentation()
    return {
        inner.GetSegment(each).GetName(): slicer.util.arrayFromSegmentBinaryLabelmap(
            segmentation, each, volume
        ).copy()
        for each in inner.GetSegmentIDs()
    }


def test_a_segmentation_that_is_loaded_without_its_scene(saved, slicer_scene, tmp_path):
    import slicer

    volume, seeds, segmentation = saved
    ids, before = (volume.GetID(), seeds.GetID()), segments(segmentation, volume)
    assert slicer.util.saveNode(segmentation, str(tmp_path / "vessels.seg.nrrd"), properties={})
    slicer_scene.Clear()
    volume = add_volume(vessel(), np.diag([-1.0, -1.0, 1.0, 1.0]))
    seeds = add_seeds(volume, POINTS[:1], "Artery")
    segmentation = slicer.util.loadSegmentation(str(tmp_path / "vessels.seg.nrrd"))
    assert (volume.GetID(), seeds.GetID()) == ids  # or it would try nothing
    run(volume, seeds, segmentation)
    after = segments(segmentation, volume)
    assert list(after) == ["Portal vein", "Artery"]
    assert np.array_equal(after["Portal vein"], before["Portal vein"])


@pytest.mark.parametrize("gone", ["points", "volume"])
def test_a_scene_that_was_saved_without_a_node(saved, slicer_scene, tmp_path, gone):
    import slicer

    volume, seeds, segmentation = saved
    ids, before = (volume.GetID(), seeds.GetID()), segments(segmentation, volume)
    slicer_scene.RemoveNode(seeds if gone == "points" else volume)
    assert slicer.util.saveScene(str(tmp_path / "scene.mrb"))
    slicer_scene.Clear()
    slicer.util.loadScene(str(tmp_path / "scene.mrb"))
    segmentation = slicer.util.getNode("Vessels")
    if gone == "volume":
        volume = add_volume(turned_vessel(), np.diag([-1.0, -1.0, 1.0, 1.0]))
        seeds = slicer.util.getNode("Portal vein")
    else:
        volume = slicer.util.getNode("scan")
        seeds = add_seeds(volume, POINTS[:1], "Artery")
    assert (volume.GetID(), seeds.GetID()) == ids  # or it would try nothing
    run(volume, seeds, segmentation)
    after = segments(segmentation, volume)
    assert len(after) == 2
    assert np.array_equal(after["Portal vein"], before["Portal vein"])
