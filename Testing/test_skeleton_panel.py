"""The plain panel of the second module on widgets that only remember."""

import numpy as np
import pytest

from mrml_cases import add_volume
from plain_widgets import errors, made_panel

LABELMAP = "vtkMRMLLabelMapVolumeNode"


@pytest.fixture
def panel(slicer_scene, monkeypatch):
    import PotentialSkeleton as module

    widget = made_panel(module, monkeypatch)
    yield widget
    widget.cleanup()


@pytest.fixture
def choices(panel):
    """The panel's choices with a labelmap of two crossing bars and a speck."""
    array = np.zeros((24, 24, 12), np.uint8)
    array[10:14, 2:22, 4:8] = array[2:22, 10:14, 4:8] = 1
    array[1, 1, 1] = 1
    choices = panel.logic.getParameterNode()
    choices.input = add_volume(array, kind=LABELMAP)
    return choices


def add_segmentation(labelmap):
    import slicer

    node = slicer.mrmlScene.AddNewNodeByClass("vtkMRMLSegmentationNode", "parts")
    slicer.modules.segmentations.logic().ImportLabelmapToSegmentationNode(labelmap, node)
    return node


def test_apply_needs_an_input(panel, choices):
    assert panel.applyButton.enabled
    choices.input = None
    assert not panel.applyButton.enabled


def test_a_segment_is_asked_for_in_a_segmentation_only(panel, choices):
    assert not panel.segmentEdit.enabled
    choices.input = add_segmentation(choices.input)
    assert panel.segmentEdit.enabled
    choices.segment = "liver"
    panel.onApply()
    assert "'parts' has no segment 'liver'" in errors[0]
    choices.segment = ""
    panel.onApply()
    assert errors == []


def test_apply_finds_centrelines_and_fills_the_same_nodes_again(slicer_scene, panel, choices):
    panel.applyButton.slots["clicked(bool)"](True)
    assert errors == []
    count = slicer_scene.GetNumberOfNodesByClass("vtkMRMLMarkupsCurveNode")
    assert panel.resultLabel.text.startswith(f"{count} branches, ")
    assert "Dropped 1 island" in panel.resultLabel.text
    assert panel.applyButton.text == "Apply"
    nodes = slicer_scene.GetNumberOfNodes()
    panel.onApply()
    assert errors == []
    assert slicer_scene.GetNumberOfNodes() == nodes
    assert choices.model.GetName() == "scan centrelines"


def test_a_click_during_the_run_cancels_it(slicer_scene, panel, choices, monkeypatch):
    import slicer

    before = slicer_scene.GetNumberOfNodes()
    monkeypatch.setattr(slicer.app, "processEvents", panel.onApply, raising=False)
    panel.onApply()
    assert panel.resultLabel.text == "Cancelled."
    assert slicer_scene.GetNumberOfNodes() == before
    assert panel.applyButton.text == "Apply"


def test_closing_the_scene_during_the_run_ends_it(slicer_scene, panel, choices, monkeypatch):
    import slicer

    def close():
        if slicer_scene.GetNumberOfNodesByClass("vtkMRMLVolumeNode"):
            slicer_scene.Clear(False)

    monkeypatch.setattr(slicer.app, "processEvents", close, raising=False)
    panel.onApply()
    assert errors == []
    assert panel.resultLabel.text == "Cancelled."
    assert slicer_scene.GetNumberOfNodesByClass("vtkMRMLMarkupsCurveNode") == 0
    assert panel.logic.getParameterNode().input is None
