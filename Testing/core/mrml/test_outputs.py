"""What a run may write into, and that it writes all or nothing: the logic on the MRML scene."""

from contextlib import suppress

import numpy as np
import pytest

from FuzzyVesselCoreLib.mrml import ownership
from support.mrml_cases import add_seeds, add_volume

LABELMAP, SEGMENTATION = "vtkMRMLLabelMapVolumeNode", "vtkMRMLSegmentationNode"
SHAPE = (14, 16, 18)
SEEDS = [(7, 8, 3), (7, 8, 14)]


def vessel(shape=SHAPE):
    """A noisy tube along I in a darker background."""
    rng = np.random.default_rng(4)
    k, j, _ = np.indices(shape)
    tube = (k - 7) ** 2 + (j - 8) ** 2 <= 9
    return (np.where(tube, 200, 90) + rng.normal(0, 9, shape)).astype(np.int16)


@pytest.fixture
def logic(slicer_scene):
    from FuzzyConnectedGPU import FuzzyConnectedGPULogic

    return FuzzyConnectedGPULogic()


@pytest.fixture
def volume(slicer_scene):
    return add_volume(vessel())


@pytest.fixture
def seeds(volume):
    return add_seeds(volume, SEEDS)


@pytest.fixture
def segmentation(slicer_scene):
    return slicer_scene.AddNewNodeByClass(SEGMENTATION, "parts")


def array(node):
    import slicer

    return slicer.util.arrayFromVolume(node)


def segment_array(segmentation, segment_id, volume):
    import slicer

    return slicer.util.arrayFromSegmentBinaryLabelmap(segmentation, segment_id, volume)


def import_labels(labels, segmentation, volume):
    """IDs of the segments that labels make, which share one layer."""
    import slicer

    labelmap = slicer.modules.volumes.logic().CreateAndAddLabelVolume(volume, "labels")
    slicer.util.updateVolumeFromArray(labelmap, labels)
    slicer.modules.segmentations.logic().ImportLabelmapToSegmentationNode(labelmap, segmentation)
    slicer.mrmlScene.RemoveNode(labelmap)
    return list(segmentation.GetSegmentation().GetSegmentIDs())


# --- whose an output is


def test_a_copy_of_an_output_is_none(slicer_scene, logic, volume, seeds):
    result = logic.segment(volume, seeds, threshold=0.4)
    copy = slicer_scene.AddNewNodeByClass(LABELMAP)
    copy.Copy(result.labelmapNode)
    assert not ownership.is_output(copy, ownership.LABELMAP)
    assert ownership.output_of(volume, ownership.LABELMAP, LABELMAP) is result.labelmapNode


@pytest.mark.parametrize("into", ["an empty scene", "another scene"])
def test_outputs_are_known_after_saving_and_loading(
    slicer_scene, logic, volume, seeds, tmp_path, into
):
    """Added to a scene with nodes of the same IDs, they get others."""
    import slicer

    result = logic.segment(volume, seeds, threshold=0.4, segmentationNode=True)
    copy = slicer_scene.AddNewNodeByClass(LABELMAP)
    copy.Copy(result.labelmapNode)
    copy.SetName("copy")
    assert slicer.util.saveScene(str(tmp_path / "s.mrb"), {})
    slicer_scene.Clear(False)
    if into == "another scene":
        strangers = add_volume(vessel()), add_volume(np.ones(SHAPE, np.uint8), kind=LABELMAP)
        for node in strangers:
            node.SetName("stranger")
    slicer.util.loadScene(str(tmp_path / "s.mrb"), {})
    volume, labels, scene, copy = (
        slicer.util.getNode(name) for name in ("scan", "scan vessels", "scan connectedness", "copy")
    )
    assert ownership.output_of(volume, ownership.LABELMAP, LABELMAP) is labels
    assert ownership.belongs_to(scene, ownership.CONNECTEDNESS, volume)
    assert not ownership.is_output(copy, ownership.LABELMAP)
    if into == "another scene":
        assert not any(ownership.is_output(each, ownership.LABELMAP) for each in strangers)


# --- inputs are no outputs


# --- segments are changed in place


def properties(segmentation, segment_id):
    """Everything of a segment that a result has no part in."""
    import vtk

    segment = segmentation.GetSegmentation().GetSegment(segment_id)
    display, terminology = segmentation.GetDisplayNode(), vtk.reference("")
    segment.GetTag(segment.GetTerminologyEntryTagName(), terminology)
    mine = vtk.reference("")
    segment.GetTag("mine", mine)
    return (
        segment.GetName(),
        segment.GetColor(),
        display.GetSegmentOpacity3D(segment_id),
        display.GetSegmentOpacity2DFill(segment_id),
        display.GetSegmentVisibility(segment_id),
        display.GetSegmentVisibility2DFill(segment_id),
        display.GetSegmentVisibility3D(segment_id),
        str(terminology),
        str(mine),
    )


PORTAL_VEIN = (
    "Segmentation category and type - 3D Slicer General Anatomy list~SCT^85756007^Tissue~"
    "SCT^32764006^Portal vein~^^~Anatomic codes - DICOM master list~^^~^^"
)


def test_a_segment_keeps_its_looks_and_its_terminology(logic, volume, seeds, segmentation):
    first = logic.segment(volume, seeds, threshold=0.4, segmentationNode=segmentation)
    segment = segmentation.GetSegmentation().GetSegment(first.segmentID)
    segment.SetName("Portal vein")
    segment.SetColor(0.1, 0.5, 0.9)
    segment.SetTag(segment.GetTerminologyEntryTagName(), PORTAL_VEIN)
    segment.SetTag("mine", "yes")
    display = segmentation.GetDisplayNode()
    display.SetSegmentOpacity3D(first.segmentID, 0.4)
    display.SetSegmentOpacity2DFill(first.segmentID, 0.2)
    display.SetSegmentVisibility(first.segmentID, False)
    display.SetSegmentVisibility2DFill(first.segmentID, False)
    display.SetSegmentVisibility3D(first.segmentID, False)
    before = properties(segmentation, first.segmentID)
    again = logic.segment(volume, seeds, threshold=0.2, segmentationNode=segmentation)
    moved = logic.thresholdScene(first.sceneNode, 0.1, segmentationNode=segmentation)
    assert again.segmentID == moved.segmentID == first.segmentID
    assert segmentation.GetSegmentation().GetSegment(first.segmentID) is segment
    assert properties(segmentation, first.segmentID) == before
    found = segment_array(segmentation, first.segmentID, volume)
    assert np.array_equal(found, array(moved.labelmapNode))


def test_surfaces_are_of_the_voxels_that_are_there(logic, volume, seeds, segmentation):
    """A surface of the old voxels goes; where others have one, the new one is made."""
    first = logic.segment(volume, seeds, threshold=0.4, segmentationNode=segmentation)
    segmentation.CreateClosedSurfaceRepresentation()
    logic.thresholdScene(first.sceneNode, 0.05, segmentationNode=segmentation)
    inner = segmentation.GetSegmentation()
    assert inner.GetSegment(first.segmentID).GetRepresentation("Closed surface") is None
    (other,) = set(import_labels(np.ones(SHAPE, np.uint8), segmentation, volume)) - {
        first.segmentID
    }
    segmentation.CreateClosedSurfaceRepresentation()
    theirs = inner.GetSegment(other).GetRepresentation("Closed surface")
    old = inner.GetSegment(first.segmentID).GetRepresentation("Closed surface")
    logic.thresholdScene(first.sceneNode, 0.7, segmentationNode=segmentation)
    assert inner.GetSegment(other).GetRepresentation("Closed surface") is theirs
    new = inner.GetSegment(first.segmentID).GetRepresentation("Closed surface")
    assert new is not None
    assert new.GetNumberOfPoints() != old.GetNumberOfPoints()


# --- all or nothing


@pytest.mark.parametrize("gone", ["the scene", "the display"])
def test_taking_back_what_has_gone_already_says_nothing(slicer_scene, gone):
    """VTK said errors where the scene was closed in a run: Slicer itself had added a display."""
    from fuzzy_vessel.headless import vtk_messages
    from FuzzyVesselCoreLib.mrml.changes import all_or_nothing

    with vtk_messages() as said, suppress(ZeroDivisionError), all_or_nothing() as add:
        node = add(SEGMENTATION, "parts")
        node.CreateDefaultDisplayNodes()
        if gone == "the scene":
            slicer_scene.Clear(False)
        else:
            slicer_scene.RemoveNode(node.GetDisplayNode())
        1 / 0  # noqa: B018
    assert said == []
    assert slicer_scene.GetNumberOfNodesByClass(SEGMENTATION) == 0


# --- the subject hierarchy


@pytest.fixture
def study(slicer_scene, volume):
    """The item of a patient's study that the volume lies in."""
    import slicer

    hierarchy = slicer.vtkMRMLSubjectHierarchyNode.GetSubjectHierarchyNode(slicer_scene)
    patient = hierarchy.CreateSubjectItem(hierarchy.GetSceneItemID(), "patient")
    study = hierarchy.CreateStudyItem(patient, "study")
    hierarchy.CreateItem(study, volume)
    return hierarchy, study


def test_outputs_lie_beside_their_volume(logic, volume, seeds, study):
    hierarchy, folder = study
    result = logic.segment(volume, seeds, threshold=0.4, segmentationNode=True)
    for node in (*result, result.segmentationNode):
        assert hierarchy.GetItemParent(hierarchy.GetItemByDataNode(node)) == folder
    found = logic.difference(
        result.labelmapNode, logic.thresholdScene(result.sceneNode, 0.1).labelmapNode, volume
    )
    assert hierarchy.GetItemParent(hierarchy.GetItemByDataNode(found.labelmapNode)) == folder
