"""The panel of FuzzyConnectedGPU: real .ui file and MRML nodes, stand-ins for Slicer's widgets."""

from itertools import pairwise

import numpy as np
import pytest

from support.mrml_cases import add_volume, world_of
from support.panel_cases import SHAPE, array, table, vessel, wait, with_published_model


@pytest.fixture
def chosen(chosen):
    return with_published_model(chosen)


# --- results that follow


def test_a_result_of_other_seeds_is_called_so(done):
    assert "%" not in done.ui.thresholdNoteLabel.text  # no share of certainty that nobody measured
    assert "leak?" in done.ui.adviceLabel.text
    done.parameters.seeds.RemoveNthControlPoint(0)
    done.process_events()
    assert "earlier points" in done.ui.adviceLabel.text
    done.click("applyButton")
    assert "earlier points" not in done.ui.adviceLabel.text


def test_the_result_follows_a_seed_that_is_added_and_moved(chosen):
    parameters = chosen.parameters
    chosen.ui.autoUpdateCheckBox.checked = True
    wait(chosen, lambda: parameters.sceneVolume is not None)
    parameters.automaticAffinity = False  # so that only the seed changes
    position = world_of(parameters.inputVolume, (2, 2, 2))
    parameters.seeds.AddControlPointWorld(position, "new")
    wait(chosen, lambda: array(parameters.sceneVolume)[2, 2, 2] == 1)
    parameters.seeds.SetNthControlPointPositionWorld(
        2, world_of(parameters.inputVolume, (11, 2, 2))
    )
    wait(chosen, lambda: array(parameters.sceneVolume)[11, 2, 2] == 1)
    assert array(parameters.sceneVolume)[2, 2, 2] < 1
    assert chosen.widget.panel.is_current()


def test_a_run_that_nobody_asked_for_shows_no_pop_up(chosen, monkeypatch):
    import slicer

    monkeypatch.setattr(slicer.util, "errorDisplay", lambda *_, **__: pytest.fail("a pop-up"))
    chosen.parameters.solver = type(chosen.parameters.solver).CUDA_KFOE
    chosen.ui.autoUpdateCheckBox.checked = True
    wait(chosen, lambda: "cannot be used" in chosen.ui.statusLabel.text)


# --- the panel's life


def test_saving_and_loading_brings_everything_back(slicer_scene, done, no_runs, tmp_path):
    import slicer

    done.parameters.threshold = 0.33
    done.ui.radiusSpinBox.value = 3
    text, rows = done.ui.volumeValueLabel.text, len(table(done))
    path = str(tmp_path / "scene.mrb")
    assert slicer.util.saveScene(path)
    slicer_scene.Clear(False)
    done.process_events()
    assert table(done) == []
    slicer.util.loadScene(path)
    done.process_events()
    assert done.parameters.threshold == pytest.approx(0.33)
    assert done.ui.radiusSpinBox.value == 3
    assert done.ui.volumeValueLabel.text == text
    assert len(table(done)) == rows
    done.ui.thresholdSlider.value = 0.6
    done.process_events()
    expected = array(done.parameters.sceneVolume) >= np.float32(0.6)
    assert np.array_equal(array(done.parameters.labelmap), expected)


def test_reload_goes_on_where_it_was(done):
    threshold = done.parameters.threshold
    done.widget.onReload()
    done.process_events()
    assert done.parameters.threshold == threshold
    assert len(table(done)) == 3
    done.click("applyButton")
    assert array(done.parameters.labelmap)[7, 8, 3] == 1


def test_several_volumes(done):
    first = array(done.parameters.labelmap).copy()
    other = add_volume(vessel((20, 16, 18)))
    other.SetName("other")
    seeds = done.parameters.seeds
    done.parameters.inputVolume, done.parameters.seeds = other, seeds
    done.process_events()
    assert done.parameters.labelmap is None
    done.click("applyButton")
    assert done.parameters.labelmap.GetName() == "other vessels"
    assert array(done.parameters.labelmap).shape == (20, 16, 18)
    assert first.shape == SHAPE


def test_the_module_s_own_test_works_the_panel(panel):
    test, said = panel.module.FuzzyConnectedGPUTest(), []
    test.delayDisplay = said.append
    test.runTest()
    assert said.count("Test passed") == 6
    assert not any("Skipped" in text for text in said)


# --- how it looks


def test_nothing_is_clipped_at_the_usual_width(done, tmp_path):
    done.ui.advancedCollapsibleButton.collapsed = False
    done.parameters.region = type(done.parameters.region).BOX
    picture = done.grab(tmp_path / "panel.png")
    assert picture.width() == 420
    assert done.clipped() == []


def test_tab_goes_down_the_panel(done):
    done.ui.advancedCollapsibleButton.collapsed = False
    done.grab()
    places = done.tab_places()
    assert len(places) > 25
    row = 10  # pixels: what stands beside one another is not of one height
    assert all(after > before - row for before, after in pairwise(places))
