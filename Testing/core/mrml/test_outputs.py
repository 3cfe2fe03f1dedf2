"""What a run may write into, and what it leaves of a segment: the logic on the MRML scene."""

import numpy as np
import pytest

from FuzzyVesselCoreLib.mrml import segments, writing
from support.mrml_cases import add_seeds, add_volume, array, segment_array
from support.panel_cases import POINTS, SHAPE, vessel

LABELMAP, SEGMENTATION = "vtkMRMLLabelMapVolumeNode", "vtkMRMLSegmentationNode"


@pytest.fixture
def volume(slicer_scene):
    return add_volume(vessel())


@pytest.fixture
def seeds(volume):
    return add_seeds(volume, POINTS, name="Portal vein, left")


@pytest.fixture
def segmentation(slicer_scene):
    return slicer_scene.AddNewNodeByClass(SEGMENTATION, "parts")


# --- whose an output is


@pytest.mark.parametrize("into", ["an empty scene", "another scene"])
def test_outputs_are_known_after_saving_and_loading_and_copies_are_none(
    slicer_scene, logic, volume, seeds, tmp_path, into
):
    """Added to a scene with nodes of the same IDs, they get others."""
    import slicer

    result = logic.segment(volume, seeds, threshold=0.4, segmentationNode=True)
    copy = slicer_scene.AddNewNodeByClass(LABELMAP)
    copy.Copy(result.labelmapNode)
    copy.SetName("copy")
    assert not writing.is_output(copy, writing.LABELMAP)
    assert writing.output_of(volume, writing.LABELMAP, LABELMAP) is result.labelmapNode
    assert slicer.util.saveScene(str(tmp_path / "s.mrb"), {})
    slicer_scene.Clear(False)
    strangers = []
    if into == "another scene":
        strangers = [add_volume(np.ones(SHAPE, np.uint8), kind=LABELMAP) for _ in range(2)]
        for node in strangers:
            node.SetName("stranger")
    slicer.util.loadScene(str(tmp_path / "s.mrb"), {})
    volume, labels, scene, copy = (
        slicer.util.getNode(name) for name in ("scan", "scan vessels", "scan connectedness", "copy")
    )
    assert writing.output_of(volume, writing.LABELMAP, LABELMAP) is labels
    assert writing.belongs_to(scene, writing.CONNECTEDNESS, volume)
    assert not any(writing.is_output(each, writing.LABELMAP) for each in (copy, *strangers))


def test_outputs_lie_beside_their_volume(slicer_scene, logic, volume, seeds):
    import slicer

    hierarchy = slicer.vtkMRMLSubjectHierarchyNode.GetSubjectHierarchyNode(slicer_scene)
    patient = hierarchy.CreateSubjectItem(hierarchy.GetSceneItemID(), "patient")
    study = hierarchy.CreateStudyItem(patient, "study")
    hierarchy.CreateItem(study, volume)
    result = logic.segment(volume, seeds, threshold=0.4, segmentationNode=True)
    other = logic.thresholdScene(result.sceneNode, 0.1).labelmapNode
    for node in (*result, result.segmentationNode, other):
        assert hierarchy.GetItemParent(hierarchy.GetItemByDataNode(node)) == study


# --- segments are changed in place


def looks(segmentation, segment_id):
    """Everything of a segment that a result has no part in."""
    import vtk

    segment = segmentation.GetSegmentation().GetSegment(segment_id)
    display, mine = segmentation.GetDisplayNode(), vtk.reference("")
    segment.GetTag("mine", mine)
    return (
        segment.GetName(),
        segment.GetColor(),
        segment.GetTerminology(),
        str(mine),
        display.GetSegmentOpacity3D(segment_id),
        display.GetSegmentOpacity2DFill(segment_id),
        display.GetSegmentVisibility(segment_id),
        display.GetSegmentVisibility3D(segment_id),
    )


def test_a_segment_keeps_its_looks_and_its_terminology(logic, volume, seeds, segmentation):
    first = logic.segment(volume, seeds, threshold=0.4, segmentationNode=segmentation)
    segment = segmentation.GetSegmentation().GetSegment(first.segmentID)
    assert segment.GetTerminology() == segments.entry_of("portal vein")
    assert segment.GetColor() == seeds.GetDisplayNode().GetSelectedColor()
    segment.SetName("Renal vein")
    segment.SetColor(0.1, 0.5, 0.9)
    segment.SetTerminology(segments.entry_of("vein"))
    segment.SetTag("mine", "yes")
    display = segmentation.GetDisplayNode()
    display.SetSegmentOpacity3D(first.segmentID, 0.4)
    display.SetSegmentOpacity2DFill(first.segmentID, 0.2)
    display.SetSegmentVisibility(first.segmentID, False)
    display.SetSegmentVisibility3D(first.segmentID, False)
    before = looks(segmentation, first.segmentID)
    again = logic.segment(volume, seeds, threshold=0.2, segmentationNode=segmentation)
    moved = logic.thresholdScene(first.sceneNode, 0.1, segmentationNode=segmentation)
    assert again.segmentID == moved.segmentID == first.segmentID
    assert segmentation.GetSegmentation().GetSegment(first.segmentID) is segment
    assert looks(segmentation, first.segmentID) == before
    found = segment_array(segmentation, first.segmentID, volume)
    assert np.array_equal(found, array(moved.labelmapNode))
