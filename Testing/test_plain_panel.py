"""The plain panel on widgets that only remember; the real ones exist in Slicer alone."""

import numpy as np
import pytest

from mrml_cases import add_seeds, add_volume
from plain_widgets import errors, made_panel


@pytest.fixture
def panel(slicer_scene, monkeypatch):
    import FuzzyConnectedGPU as module

    widget = made_panel(module, monkeypatch)
    yield widget
    widget.cleanup()


@pytest.fixture
def choices(panel):
    """The panel's choices with a volume and seeds."""
    rng = np.random.default_rng(0)
    array = rng.normal(50, 5, (12, 12, 12)).astype(np.float32)
    array[5:8, 5:8] += 100
    choices = panel.logic.getParameterNode()
    choices.inputVolume = add_volume(array)
    choices.seeds = add_seeds(choices.inputVolume, [(6, 6, 6)])
    return choices


def test_apply_needs_a_volume_and_seeds(panel, choices):
    assert panel.applyButton.enabled
    choices.seeds = None
    assert not panel.applyButton.enabled


def test_the_slider_rests_while_the_threshold_is_automatic(panel, choices):
    assert not panel.thresholdSlider.enabled
    choices.automaticThreshold = False
    assert panel.thresholdSlider.enabled


def test_apply_segments_and_fills_the_same_nodes_again(slicer_scene, panel, choices):
    panel.applyButton.slots["clicked(bool)"](True)
    assert errors == []
    assert " ml at threshold " in panel.resultLabel.text
    assert panel.applyButton.text == "Apply"
    nodes = slicer_scene.GetNumberOfNodes()
    panel.onApply()
    assert slicer_scene.GetNumberOfNodes() == nodes
    assert choices.labelmap.GetName() == "scan vessels"


def test_a_click_during_the_run_cancels_it(slicer_scene, panel, choices, monkeypatch):
    import slicer

    before = slicer_scene.GetNumberOfNodes()
    monkeypatch.setattr(slicer.app, "processEvents", panel.onApply, raising=False)
    panel.onApply()
    assert panel.resultLabel.text == "Cancelled."
    assert slicer_scene.GetNumberOfNodes() == before
    assert panel.applyButton.text == "Apply"


def test_errors_are_shown(panel, choices):
    choices.seeds.RemoveAllControlPoints()
    panel.onApply()
    assert "place at least one seed" in errors[0]
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
    assert slicer_scene.GetNumberOfNodesByClass("vtkMRMLVolumeNode") == 0
    assert panel.logic.getParameterNode().inputVolume is None
