"""Several vessels on the scene: one segment each, other thresholds, hand-overs, saved scenes."""

import numpy as np
import pytest

from FuzzyVesselCoreLib.errors import InputError
from support.crossing_vessels import SHAPE, crossing
from support.mrml_cases import add_seeds, add_volume, world_of


@pytest.fixture
def logic(slicer_scene):
    from FuzzyConnectedGPU import FuzzyConnectedGPULogic

    return FuzzyConnectedGPULogic()


@pytest.fixture
def volume(slicer_scene):
    return add_volume(crossing())


@pytest.fixture
def lists(volume):
    """Portal vein and hepatic vein, with a point at each end."""
    from FuzzyConnectedGPUMRML.vessels import set_kind

    portal = add_seeds(volume, [(6, 6, 2), (6, 6, 37)], "Portal vein")
    hepatic = add_seeds(volume, [(6, 15, 2), (6, 15, 37)], "Hepatic vein")
    set_kind(portal, "portal vein")
    set_kind(hepatic, "hepatic vein")
    return [portal, hepatic]


def array(node):
    import slicer

    return slicer.util.arrayFromVolume(node)


def segment_array(result, number):
    import slicer

    vessel = result.vessels[number]
    node = result.segmentationNode
    return slicer.util.arrayFromSegmentBinaryLabelmap(node, vessel.segmentID, result.labelmapNode)


def test_one_segment_each_with_name_colour_and_terminology(logic, volume, lists):
    import vtk

    result = logic.segmentSeveral(volume, lists, segmentationNode=True, device="cpu")
    labels = array(result.labelmapNode)
    inner = result.segmentationNode.GetSegmentation()
    assert inner.GetNumberOfSegments() == 2
    for number, (vessel, node) in enumerate(zip(result.vessels, lists)):
        assert np.array_equal(segment_array(result, number) > 0, labels == number + 1)
        segment, entry = inner.GetSegment(vessel.segmentID), vtk.reference("")
        assert segment.GetName() == vessel.name == node.GetName()
        assert segment.GetColor() == pytest.approx(node.GetDisplayNode().GetSelectedColor())
        segment.GetTag(segment.GetTerminologyEntryTagName(), entry)
        assert f"^{node.GetName()}~" in str(entry)
        voxel_ml = abs(np.linalg.det(ras(volume))) / 1000
        assert vessel.volumeMl == pytest.approx((labels == number + 1).sum() * voxel_ml)
    assert labels[6, 6, 2] == labels[6, 6, 37] == 1
    assert labels[6, 15, 2] == labels[6, 15, 37] == 2
    assert result.volumeMl == pytest.approx(sum(each.volumeMl for each in result.vessels))


def ras(volume):
    from FuzzyVesselCoreLib.mrml.reading import ijk_to_ras

    return ijk_to_ras(volume)[:3, :3]


def test_a_point_hands_a_branch_over(logic, volume, lists):
    from FuzzyConnectedGPUMRML.vessels import is_hand_over, mark_hand_over

    portal = lists[0]
    portal.RemoveNthControlPoint(1)
    plain = array(logic.segmentSeveral(volume, lists, device="cpu").labelmapNode).copy()
    assert plain[6, 6, 30] == 2  # behind the crossing it follows the other vessel
    index = portal.AddControlPointWorld(world_of(volume, (6, 6, 28)), "branch")
    mark_hand_over(lists, portal, index)
    assert [is_hand_over(portal, n) for n in range(2)] == [False, True]
    result = logic.segmentSeveral(volume, lists, segmentationNode=True, device="cpu")
    labels = array(result.labelmapNode).copy()
    assert (labels[6, 6, 30:38] == 1).all()
    assert np.array_equal(labels > 0, plain > 0)
    assert (labels[:, 13:] == plain[:, 13:]).all()
    cut = logic.thresholdScene(result.sceneNode, labelmapNode=result.labelmapNode)
    assert np.array_equal(array(cut.labelmapNode), labels)
    portal.SetNthControlPointPositionWorld(index, world_of(volume, (0, 0, 0)))
    assert "no vessel at branch" in " ".join(
        logic.segmentSeveral(volume, lists, device="cpu").warnings
    )
    portal.SetNthControlPointPositionWorld(index, (1e4, 0, 0))
    assert "outside of the volume" in " ".join(
        logic.segmentSeveral(volume, lists, device="cpu").warnings
    )


def test_disputed_voxels_are_a_segment_on_request(logic, lists):
    flat = np.full(SHAPE, 90, np.int16)
    flat[5:8, 5:8] = 200
    volume = add_volume(flat)
    ends = [add_seeds(volume, [(6, 6, 2)], "a"), add_seeds(volume, [(6, 6, 37)], "b")]
    result = logic.segmentSeveral(
        volume, ends, segmentationNode=True, showDisputed=True, device="cpu"
    )
    inner = result.segmentationNode.GetSegmentation()
    assert result.disputedMl > 0
    assert [inner.GetNthSegment(n).GetName() for n in range(3)] == ["a", "b", "Disputed"]
    again = logic.thresholdScene(result.sceneNode, segmentationNode=result.segmentationNode)
    assert inner.GetNumberOfSegments() == 2
    assert again.disputedMl == result.disputedMl


def test_a_removed_list_asks_for_another_run(logic, volume, lists):
    import slicer

    result = logic.segmentSeveral(volume, lists, device="cpu")
    slicer.mrmlScene.RemoveNode(lists[0])
    with pytest.raises(InputError, match="press Apply"):
        logic.thresholdScene(result.sceneNode, 0.4)
