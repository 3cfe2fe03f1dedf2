"""Runs of the panel of FuzzyConnectedGPU: results, errors, Cancel, and what changes meanwhile."""

import numpy as np
import pytest

from support.mrml_cases import add_seeds, add_volume
from support.panel_cases import array, during_runs, table, vessel, with_published_model


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
