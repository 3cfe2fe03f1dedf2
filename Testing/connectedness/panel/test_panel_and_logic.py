"""What the panel asks of the module's logic, on the MRML scene and without a panel."""

import numpy as np
import pytest

from support.mrml_cases import add_seeds, add_volume, linear_transform

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


# --- threshold of a scene that is there


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
