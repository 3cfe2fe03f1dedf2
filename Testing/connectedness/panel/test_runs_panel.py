"""Runs of the panel of FuzzyConnectedGPU: results, errors, Cancel, and what changes meanwhile."""

import numpy as np
import pytest

from support.mrml_cases import add_seeds, add_volume
from support.panel_cases import SHAPE, array, during_runs, table, vessel, wait, with_published_model


@pytest.fixture
def chosen(chosen):
    return with_published_model(chosen)


def test_apply_fills_new_nodes_and_then_the_same_again(slicer_scene, done):
    parameters = done.parameters
    assert parameters.labelmap.GetName() == "scan vessels"
    assert parameters.sceneVolume.GetName() == "scan connectedness"
    assert parameters.segmentation.GetName() == "scan segmentation"
    assert array(parameters.labelmap)[7, 8, 3] == 1
    assert "ml" in done.ui.volumeValueLabel.text
    assert done.ui.statusLabel.text.startswith("Done, on the CPU")
    nodes = slicer_scene.GetNumberOfNodes()
    done.click("applyButton")
    assert slicer_scene.GetNumberOfNodes() == nodes


def test_errors_are_shown_in_the_panel(chosen):
    import slicer

    chosen.parameters.region = type(chosen.parameters.region).MASK
    empty = np.zeros(SHAPE, np.uint8)
    chosen.parameters.mask = add_volume(empty, kind="vtkMRMLLabelMapVolumeNode")
    chosen.click("applyButton")
    assert "is empty within" in chosen.ui.statusLabel.text
    assert chosen.take_errors() == []  # a sentence, no dialog
    assert chosen.parameters.segmentation is None
    assert slicer.mrmlScene.GetNumberOfNodesByClass("vtkMRMLSegmentationNode") == 0


def test_cancel_changes_nothing(slicer_scene, chosen, monkeypatch):
    before = slicer_scene.GetNumberOfNodes()
    seen = []

    def press_cancel():
        seen.append((chosen.ui.applyButton.enabled, chosen.ui.progressBar.visible))
        chosen.ui.cancelButton.click()

    during_runs(monkeypatch, press_cancel)
    chosen.ui.applyButton.click()
    assert seen == [(False, True)]
    assert chosen.ui.statusLabel.text == "Cancelled; nothing was changed."
    assert slicer_scene.GetNumberOfNodes() == before
    assert chosen.ui.applyButton.enabled
    assert not chosen.ui.cancelButton.enabled


def test_closing_the_scene_in_the_middle_of_a_run_ends_it(slicer_scene, chosen, monkeypatch):
    during_runs(monkeypatch, lambda: slicer_scene.Clear(False))
    chosen.ui.applyButton.click()
    chosen.process_events()
    assert slicer_scene.GetNumberOfNodesByClass("vtkMRMLVolumeNode") == 0
    assert slicer_scene.GetNumberOfNodesByClass("vtkMRMLSegmentationNode") == 0
    assert chosen.parameters.inputVolume is None
    assert table(chosen) == []
    assert chosen.ui.volumeValueLabel.text == ""


def labels_are_those_of(parameters, threshold):
    expected = array(parameters.sceneVolume) >= np.float32(threshold)
    return np.array_equal(array(parameters.labelmap), expected)


@pytest.mark.parametrize("source", ["automatic", "manual"])
def test_leaving_the_module_in_the_middle_of_a_run(chosen, monkeypatch, source):
    """With "From background" it was an AttributeError, and the surface was made on return only."""
    parameters = chosen.parameters
    parameters.thresholdSource = type(parameters.thresholdSource)(source)
    during_runs(monkeypatch, chosen.window.exit)
    chosen.ui.applyButton.click()
    assert chosen.take_errors() == []
    assert parameters.thresholdSource.value == source
    assert labels_are_those_of(parameters, parameters.threshold)
    inner = parameters.segmentation.GetSegmentation()
    wait(chosen, lambda: inner.ContainsRepresentation("Closed surface"))
    chosen.window.enter()
    assert "ml" in chosen.ui.volumeValueLabel.text


@pytest.mark.parametrize("name", ["chosen", "done"])
def test_a_threshold_moved_in_the_middle_of_a_run_is_taken(request, monkeypatch, name):
    panel = request.getfixturevalue(name)
    parameters = panel.parameters
    parameters.cut = 0.01  # so that there is something to compute

    def move():
        panel.ui.thresholdSlider.value = 0.77
        panel.ui.fillGapsSpinBox.value = 0

    during_runs(monkeypatch, move)
    panel.ui.applyButton.click()
    panel.process_events()
    assert parameters.threshold == pytest.approx(0.77)
    assert parameters.thresholdSource.value == "manual"
    assert labels_are_those_of(parameters, 0.77)


@pytest.mark.parametrize("first", ["FuzzyConnectedGPU", "PotentialSkeleton"])
def test_the_other_module_s_run_waits_for_this_one(slicer_scene, open_panel, monkeypatch, first):
    panels = {name: open_panel(name) for name in ("FuzzyConnectedGPU", "PotentialSkeleton")}
    volume = add_volume(vessel())
    bar = add_volume((vessel() > 150).astype(np.uint8), kind="vtkMRMLLabelMapVolumeNode")
    panels["FuzzyConnectedGPU"].parameters.inputVolume = volume
    panels["FuzzyConnectedGPU"].parameters.seeds = add_seeds(volume, [(7, 8, 3)])
    panels["PotentialSkeleton"].parameters.input = bar
    running = panels.pop(first)
    (waiting,) = panels.values()
    running.process_events()
    seen = []

    def press():
        waiting.window.enter()
        waiting.widget.panel.apply()
        seen.append((waiting.ui.applyButton.enabled, waiting.ui.applyButton.toolTip))
        seen.append(waiting.widget.panel.running.active)

    before = {
        name: slicer_scene.GetNumberOfNodesByClass(f"vtkMRML{name}Node")
        for name in ("Model", "Segmentation")
    }
    during_runs(monkeypatch, press)
    running.ui.applyButton.click()
    running.process_events()
    ((enabled, why), active) = seen
    assert not enabled
    assert "a run is going on there" in why
    assert not active
    assert waiting.ui.applyButton.enabled
    made = {
        name: slicer_scene.GetNumberOfNodesByClass(f"vtkMRML{name}Node") - count
        for name, count in before.items()
    }
    ours = "Segmentation" if first == "FuzzyConnectedGPU" else "Model"
    assert {name for name, count in made.items() if count} == {ours}


@pytest.mark.parametrize("name", ["inputVolume", "seeds", "backgroundSeeds"])
def test_removing_an_input_in_the_middle_of_a_run(slicer_scene, chosen, monkeypatch, name):
    node = getattr(chosen.parameters, name)
    during_runs(monkeypatch, lambda: slicer_scene.RemoveNode(node))
    chosen.ui.applyButton.click()
    chosen.process_events()
    assert getattr(chosen.parameters, name) is None
    assert chosen.parameters.labelmap is None
    assert slicer_scene.GetNumberOfNodesByClass("vtkMRMLSegmentationNode") == 0
    if name == "backgroundSeeds":
        assert "was removed; nothing was" in chosen.ui.statusLabel.text
    else:
        assert not chosen.ui.applyButton.enabled
