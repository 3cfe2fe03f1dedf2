"""What a run reads, what it leaves alone, and what comes back afterwards."""

import numpy as np
import pytest

from support.mrml_cases import add_volume

LABELMAP = "vtkMRMLLabelMapVolumeNode"


@pytest.fixture
def panel(slicer_scene, open_panel, monkeypatch):
    """The panel with a segmentation of two segments, each a pair of crossing bars."""
    panel = open_panel("PotentialSkeleton")
    import FuzzyVesselCoreLib.widgets.run

    monkeypatch.setattr(FuzzyVesselCoreLib.widgets.run, "ROUND", 0)
    panel.parameters.input = add_segmentation()
    panel.process_events()
    return panel


def add_segmentation(name="vessels"):
    import slicer

    node = slicer.mrmlScene.AddNewNodeByClass("vtkMRMLSegmentationNode", name)
    node.CreateDefaultDisplayNodes()
    for segment in ("Portal vein", "Hepatic veins"):
        array = np.zeros((24, 24, 12), np.uint8)
        array[10:14, 2:22, 4:8] = array[2:22, 10:14, 4:8] = 1
        labelmap = add_volume(array, kind=LABELMAP)
        slicer.modules.segmentations.logic().ImportLabelmapToSegmentationNode(labelmap, node)
        slicer.mrmlScene.RemoveNode(labelmap)
        inner = node.GetSegmentation()
        inner.GetNthSegment(inner.GetNumberOfSegments() - 1).SetName(segment)
    return node


def ids(panel):
    return list(panel.parameters.input.GetSegmentation().GetSegmentIDs())


def lines_of(scene):
    count = scene.GetNumberOfNodesByClass("vtkMRMLModelNode")
    models = [scene.GetNthNodeByClass(number, "vtkMRMLModelNode") for number in range(count)]
    return [model for model in models if not model.GetHideFromEditors()]


# --- inputs


# --- what is chosen first


def test_the_segment_in_the_segment_editor_is_chosen(slicer_scene, open_panel):
    import slicer

    panel = open_panel("PotentialSkeleton")
    panel.window.exit()
    edited = add_segmentation("edited")
    add_segmentation("newer")
    editor = slicer.mrmlScene.AddNewNodeByClass("vtkMRMLSegmentEditorNode")
    editor.SetAndObserveSegmentationNode(edited)
    wanted = list(edited.GetSegmentation().GetSegmentIDs())[1]
    editor.SetSelectedSegmentID(wanted)
    panel.window.enter()
    assert panel.parameters.input is edited
    assert panel.parameters.segment == wanted
    assert panel.ui.segmentSelector.currentSegmentID() == wanted


# --- centrelines inside their segment


def opacity(panel, number=0):
    display = panel.parameters.input.GetDisplayNode()
    return display.GetSegmentOpacity3D(ids(panel)[number])


def test_the_segment_is_translucent_while_its_centrelines_are_shown(slicer_scene, panel):
    assert opacity(panel) == 1.0
    panel.click("applyButton")
    assert opacity(panel) < 0.5
    assert opacity(panel, 1) == 1.0
    (lines,) = lines_of(slicer_scene)
    lines.GetDisplayNode().SetVisibility(False)
    assert opacity(panel) == 1.0
    lines.GetDisplayNode().SetVisibility(True)
    assert opacity(panel) < 0.5
    slicer_scene.RemoveNode(lines)
    assert opacity(panel) == 1.0


# --- outputs


# --- how it is shown


def test_the_first_view_needs_no_scrolling(panel):
    """On 1600 x 1000 pixels Slicer leaves a module about 740 of the height."""
    panel.click("applyButton")
    panel.ui.branchTable.selectRow(0)
    assert panel.ui.advancedSection.collapsed
    assert panel.grab().height() <= 740


# --- vessels that are edited afterwards


EDITED = "The vessels were edited after the centrelines were found: press Apply."


def edit_segment(node, segment_id):
    import slicer

    segment = node.GetSegmentation().GetSegment(segment_id)
    array = slicer.util.arrayFromSegmentInternalBinaryLabelmap(node, segment_id)
    inside = (array == segment.GetLabelValue()).nonzero()
    array[tuple(axis[0] for axis in inside)] = 0  # one voxel is taken away
    image = segment.GetRepresentation("Binary labelmap")
    image.GetPointData().GetScalars().Modified()
    image.Modified()


def test_a_segment_that_was_edited_asks_for_another_run(panel, tmp_path):
    import slicer

    vessels, (first, second) = panel.parameters.input, ids(panel)
    panel.click("applyButton")
    advice = panel.ui.nextLabel.text
    edit_segment(vessels, second)  # another one: nothing to do
    vessels.GetSegmentation().GetSegment(first).SetColor(0, 1, 0)
    panel.process_events()
    assert panel.ui.nextLabel.text == advice
    edit_segment(vessels, first)
    panel.process_events()
    assert panel.ui.nextLabel.text == EDITED
    assert slicer.util.saveScene(str(tmp_path / "scene.mrb"), {})
    slicer.mrmlScene.Clear(False)
    panel.process_events()
    slicer.util.loadScene(str(tmp_path / "scene.mrb"), {})
    panel.process_events()
    assert panel.ui.nextLabel.text == EDITED  # also after saving and loading
    panel.click("applyButton")
    assert panel.ui.nextLabel.text == advice


# --- settings


STALE = "Settings were changed after the centrelines were found: press Apply."


def test_settings_that_were_changed_ask_for_another_run(panel, tmp_path):
    import slicer

    panel.click("applyButton")
    advice, parameters = panel.ui.nextLabel.text, panel.parameters
    parameters.device = type(parameters.device).CPU  # gives the same
    parameters.colouring = type(parameters.colouring).BRANCH  # is not of the run
    assert panel.ui.nextLabel.text == advice
    parameters.strength = 8
    assert panel.ui.nextLabel.text == STALE
    parameters.strength = 6
    assert panel.ui.nextLabel.text == advice
    parameters.curves = True
    assert panel.ui.nextLabel.text == STALE
    assert slicer.util.saveScene(str(tmp_path / "scene.mrb"), {})
    slicer.mrmlScene.Clear(False)
    panel.process_events()
    slicer.util.loadScene(str(tmp_path / "scene.mrb"), {})
    panel.process_events()
    assert panel.ui.nextLabel.text == STALE  # also after saving and loading
    panel.click("applyButton")
    assert panel.ui.nextLabel.text == advice


# --- another segment's result
