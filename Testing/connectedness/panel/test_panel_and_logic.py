"""What the panel asks of the module's logic, on the MRML scene and without a panel."""

import numpy as np
import pytest

from FuzzyConnectedGPULib import GaussianAffinity
from FuzzyConnectedGPUMRML import run_inputs, views
from FuzzyVesselCoreLib.errors import InputError
from FuzzyVesselCoreLib.geometry import voxel_volume
from FuzzyVesselCoreLib.mrml.reading import ijk_to_ras
from support.mrml_cases import add_seeds, add_volume, linear_transform
from support.panel_cases import array

SEEDS = [(7, 8, 3), (7, 8, 14)]


@pytest.fixture
def logic(slicer_scene):
    from FuzzyConnectedGPU import FuzzyConnectedGPULogic

    return FuzzyConnectedGPULogic()


@pytest.fixture
def vessel():
    rng = np.random.default_rng(4)
    k, j, _ = np.indices((14, 16, 18))
    tube = (k - 7) ** 2 + (j - 8) ** 2 <= 9
    return (np.where(tube, 200, 90) + rng.normal(0, 9, tube.shape)).astype(np.int16)


@pytest.fixture
def volume(slicer_scene, vessel):
    return add_volume(vessel, transform=linear_transform())


@pytest.fixture
def seeds(volume):
    return add_seeds(volume, SEEDS)


@pytest.fixture
def result(logic, volume, seeds):
    return logic.segment(volume, seeds, threshold=0.4)


@pytest.fixture
def segmentation(slicer_scene):
    return slicer_scene.AddNewNodeByClass("vtkMRMLSegmentationNode", "segmentation")


def segment_array(segmentation, segment_id, volume):
    import slicer

    return slicer.util.arrayFromSegmentBinaryLabelmap(segmentation, segment_id, volume)


# --- seeds


def test_rows_tell_each_seed_s_voxel_and_intensities(logic, vessel, volume):
    seeds = add_seeds(volume, [(7, 8, 3), (50, 0, 0)])
    seeds.AddControlPoint((0, 0, 0), "on its way")
    seeds.UnsetNthControlPointPosition(2)
    inside, outside = logic.seedRows(volume, seeds, radius=1)
    box = vessel[6:9, 7:10, 2:5]
    assert (inside.index, inside.label, inside.ijk) == (0, "seeds-1", (3, 8, 7))
    assert inside.intensity == vessel[7, 8, 3]
    assert (inside.mean, inside.deviation) == pytest.approx((box.mean(), box.std()))
    assert (outside.ijk, outside.intensity, outside.mean) == ((0, 0, 50), None, None)


# --- run again


def test_a_second_run_computes_only_what_changed(logic, volume, seeds, result):
    affinity = GaussianAffinity(200, 15, 15)
    logic.segment(volume, seeds, threshold=0.4, affinity=affinity)
    logic.segment(volume, seeds, threshold=0.3, affinity=affinity)
    assert logic.cached.work == "nothing"
    seeds.AddControlPointWorld(seeds.GetNthControlPointPositionWorld(0), "again")
    logic.segment(volume, seeds, threshold=0.3, affinity=affinity)
    assert logic.cached.work == "nothing"  # the same voxel
    array(volume)[7, 8, 9] += 30
    logic.segment(volume, seeds, threshold=0.3, affinity=affinity)
    assert logic.cached.work == "everything"
    logic.forget()
    logic.segment(volume, seeds, threshold=0.3, affinity=affinity)
    assert logic.cached.work == "everything"


# --- threshold of a scene that is there


def test_volume_curve_is_the_volume_of_the_labels(logic, result):
    curve = logic.volumeCurve(result.sceneNode)
    values = array(result.sceneNode)
    millilitres = voxel_volume(ijk_to_ras(result.sceneNode)) / 1000
    for threshold in (0.001, 0.25, 0.4, 0.99, 1.0):
        count = np.count_nonzero(values >= np.float32(threshold))
        assert curve.at(threshold) == pytest.approx(count * millilitres)
    assert curve.at(0.4) == pytest.approx(result.volumeMl)
    assert (np.diff(curve.millilitres) <= 0).all()


# --- segments


def test_an_edited_segment_is_kept_and_a_new_one_added(logic, volume, seeds, segmentation):
    import slicer

    first = logic.segment(volume, seeds, threshold=0.4, segmentationNode=segmentation)
    edited = segment_array(segmentation, first.segmentID, volume)
    edited[0, 0, 0] = 1
    slicer.util.updateSegmentBinaryLabelmapFromArray(edited, segmentation, first.segmentID, volume)
    second = logic.segment(volume, seeds, threshold=0.3, segmentationNode=segmentation)
    third = logic.segment(volume, seeds, threshold=0.2, segmentationNode=segmentation)
    assert second.segmentID != first.segmentID
    assert third.segmentID == second.segmentID
    names = [segmentation.GetSegmentation().GetNthSegment(n).GetName() for n in range(2)]
    assert names == ["seeds", "seeds 2"]
    assert segment_array(segmentation, first.segmentID, volume)[0, 0, 0] == 1


def test_a_segment_is_overwritten_only_when_it_was_chosen(logic, volume, seeds, segmentation):
    inner = segmentation.GetSegmentation()
    mine = inner.AddEmptySegment("mine", "My vessel", (0.1, 0.2, 0.3))
    made = logic.segment(volume, seeds, threshold=0.4, segmentationNode=segmentation).segmentID
    assert made != mine
    assert inner.GetNumberOfSegments() == 2
    chosen = logic.segment(
        volume, seeds, threshold=0.4, segmentationNode=segmentation, segmentID=mine
    )
    assert chosen.segmentID == mine
    assert inner.GetSegment(mine).GetName() == "My vessel"
    assert inner.GetSegment(mine).GetColor() == pytest.approx((0.1, 0.2, 0.3))
    assert segment_array(segmentation, mine, volume).any()
    assert inner.GetNumberOfSegments() == 2


def test_one_segment_can_be_the_mask(logic, volume, seeds, segmentation):
    import slicer

    halves = np.ones(array(volume).shape, np.uint8)
    halves[:, :, 9:] = 2
    labelmap = slicer.modules.volumes.logic().CreateAndAddLabelVolume(volume, "halves")
    slicer.util.updateVolumeFromArray(labelmap, halves)
    segmentation.SetAndObserveTransformNodeID(volume.GetTransformNodeID())
    logic_of_segments = slicer.modules.segmentations.logic()
    logic_of_segments.ImportLabelmapToSegmentationNode(labelmap, segmentation)
    ids = segmentation.GetSegmentation().GetSegmentIDs()
    found = logic.segment(volume, seeds, threshold=0.2, maskNode=segmentation, maskSegmentID=ids[0])
    assert array(found.labelmapNode)[:, :, :9].any()
    assert not array(found.labelmapNode)[:, :, 9:].any()
    both = logic.segment(volume, seeds, threshold=0.2, maskNode=segmentation)
    assert array(both.labelmapNode)[:, :, 9:].any()
    with pytest.raises(InputError, match="no segment 'gone'"):
        logic.segment(volume, seeds, maskNode=segmentation, maskSegmentID="gone")


def test_outputs_removed_during_the_run_are_made_anew(slicer_scene, logic, volume, seeds, result):
    def remove_then_go_on(_fraction):
        slicer_scene.RemoveNode(result.labelmapNode)
        return True

    again = logic.segment(
        volume,
        seeds,
        threshold=0.2,
        labelmapNode=result.labelmapNode,
        sceneVolumeNode=result.sceneNode,
        progress=remove_then_go_on,
    )
    assert slicer_scene.IsNodePresent(again.labelmapNode)
    assert again.labelmapNode is not result.labelmapNode
    assert again.sceneNode is result.sceneNode


# --- difference


def test_difference_of_two_results(slicer_scene, logic, volume, seeds, result):
    wider = logic.thresholdScene(result.sceneNode, 0.01).labelmapNode
    found = logic.difference(result.labelmapNode, wider, volume)
    first, second = array(result.labelmapNode) > 0, array(wider) > 0
    assert np.array_equal(array(found.labelmapNode), first + 2 * second)
    assert found.onlyFirstMl == 0
    assert found.bothMl == pytest.approx(result.volumeMl)
    count = np.count_nonzero(second & ~first) * voxel_volume(ijk_to_ras(volume)) / 1000
    assert found.onlySecondMl == pytest.approx(count)
    assert 0 < found.dice < 1
    colors = found.labelmapNode.GetDisplayNode().GetColorNode()
    assert colors.GetColorName(2) == "Only in the second"
    nodes = slicer_scene.GetNumberOfNodes()
    again = logic.difference(wider, result.labelmapNode, volume, found.labelmapNode)
    assert slicer_scene.GetNumberOfNodes() == nodes
    assert again.onlyFirstMl == pytest.approx(count)


def test_difference_refuses_what_cannot_be_compared(logic, volume, result):
    for first, second, words in (
        (result.labelmapNode, None, "Choose two results"),
        (result.labelmapNode, result.labelmapNode, "choose two"),
    ):
        with pytest.raises(InputError, match=words):
            logic.difference(first, second, volume)


# --- stale results


def text_of(volume, seeds, **options):
    return run_inputs.inputs_text(volume, [seeds], run_inputs.RunOptions(**options))


def test_a_scene_knows_what_it_was_made_from(logic, volume, seeds, result):
    assert run_inputs.is_from(result.sceneNode, text_of(volume, seeds))
    for options in ({"radius": 1}, {"cut": 0.1}, {"solver": "kfoe"}, {"side": "dark"}):
        assert not run_inputs.is_from(result.sceneNode, text_of(volume, seeds, **options))
    seeds.SetNthControlPointPositionWorld(0, seeds.GetNthControlPointPositionWorld(1))
    assert not run_inputs.is_from(result.sceneNode, text_of(volume, seeds))


# --- slice views


@pytest.fixture
def composite(slicer_scene):
    return slicer_scene.AddNewNodeByClass("vtkMRMLSliceCompositeNode")


def test_preview_shows_the_scene_from_the_threshold_and_puts_all_back(composite, result, volume):
    views.show_volume(volume)
    views.show_labelmap(result.labelmapNode, 0.8)
    display = result.sceneNode.GetDisplayNode()
    was = display.GetLowerThreshold()
    preview = views.ThresholdPreview(result.sceneNode)
    preview.show(0.37)
    assert composite.GetForegroundVolumeID() == result.sceneNode.GetID()
    assert display.GetLowerThreshold() == pytest.approx(0.37)
    assert composite.GetLabelOpacity() == 0
    preview.end()
    assert composite.GetForegroundVolumeID() is None
    assert composite.GetLabelOpacity() == pytest.approx(0.8)
    assert display.GetLowerThreshold() == pytest.approx(was)
