"""What the panel asks of the module's logic, on the MRML scene and without a panel."""

import numpy as np
import pytest

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
