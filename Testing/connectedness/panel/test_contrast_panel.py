"""The panel with the contrast model, its default: clicks, background clicks and a threshold."""

import numpy as np
import pytest

from support.mrml_cases import add_seeds, add_volume, world_of
from support.panel_cases import array

SHAPE = (16, 20, 22)
EARLIER = "of earlier points or settings: press <b>Apply</b>"
FIRST, OTHER, LEAK = (8, 10, 4), (8, 10, 18), (8, 10, 11)


@pytest.fixture
def chosen(panel):
    """The panel as it is by default, with a noisy tube and two seeds in it."""
    k, j, _i = np.indices(SHAPE)
    tube = (k - 8) ** 2 + (j - 10) ** 2 <= 5
    voxels = 100 + 60 * tube + np.random.default_rng(4).normal(0, 9, SHAPE)
    volume = add_volume(voxels.astype(np.int16), np.diag([-1.0, -1.0, 1.0, 1.0]))
    panel.parameters.inputVolume = volume
    panel.parameters.seeds = add_seeds(volume, [FIRST, OTHER], "seeds")
    panel.process_events()
    return panel


def choose_model(panel, name):
    panel.parameters.model = getattr(type(panel.parameters.model), name)
    panel.process_events()


def place_background(panel):
    volume = panel.parameters.inputVolume
    panel.parameters.backgroundSeeds = add_seeds(volume, [LEAK], "background")
    panel.process_events()


def test_what_the_model_does_not_use_is_hidden(panel):
    ui = panel.ui
    ui.advancedCollapsibleButton.collapsed = False
    assert panel.parameters.model.value == "contrast"
    hidden = (ui.affinityGroupBox, ui.backgroundThresholdButton)
    disabled = (ui.solverComboBox, ui.formComboBox, ui.correctionsSpinBox, ui.weightSlider)
    assert all(widget.isHidden() for widget in hidden)
    assert not any(widget.isEnabled() for widget in disabled)
    assert "affinity" in ui.solverComboBox.toolTip
    choose_model(panel, "AFFINITY")
    assert not any(widget.isHidden() for widget in hidden)
    assert ui.solverComboBox.isEnabled()
    choose_model(panel, "CONTRAST")
    assert all(widget.isHidden() for widget in hidden)


def test_the_model_is_chosen_in_the_box(panel):
    box = panel.ui.modelComboBox
    assert box.currentText == "Contrast to the surroundings"
    box.currentIndex = 1 - box.currentIndex
    assert panel.parameters.model.value == "affinity"


def test_apply_takes_two_seeds_and_says_what_the_threshold_means(done):
    parameters = done.parameters
    labels, scene = array(parameters.labelmap), array(parameters.sceneVolume)
    assert labels[FIRST] == labels[OTHER] == 1
    assert 200 < labels.sum() < 900
    assert np.array_equal(labels > 0, scene >= np.float32(0.5))
    assert parameters.threshold == 0.5
    assert parameters.thresholdSource.value == "automatic"
    assert done.ui.thresholdNoteLabel.text.startswith("Vessels differ from their surroundings by")
    assert "ml" in done.ui.volumeValueLabel.text
    assert done.ui.statusLabel.text.startswith("Done, on ")
    done.click("applyButton")
    assert done.ui.statusLabel.text.startswith("Nothing but the threshold had changed")


def test_a_background_point_is_kept_out_by_the_next_run(done):
    parameters = done.parameters
    assert array(parameters.labelmap)[LEAK] == 1
    assert EARLIER not in done.ui.adviceLabel.text
    place_background(done)
    assert EARLIER in done.ui.adviceLabel.text
    done.click("applyButton")
    assert array(parameters.labelmap)[LEAK] == 0
    assert array(parameters.labelmap)[FIRST] == 1
    assert EARLIER not in done.ui.adviceLabel.text
    done.ui.thresholdSlider.value = 0.01
    done.process_events()
    assert array(parameters.labelmap)[LEAK] == 0


def test_the_background_s_threshold_is_not_needed(done):
    """Background points are kept out at every threshold."""
    button = done.ui.backgroundThresholdButton
    assert button.isHidden()
    place_background(done)
    assert button.isHidden()
    choose_model(done, "AFFINITY")
    assert not button.isHidden()
    assert button.enabled


def test_a_lower_threshold_is_more_and_automatic_is_the_model_s_own(done):
    parameters = done.parameters
    sizes = {0.5: int(array(parameters.labelmap).sum())}
    for threshold in (0.4, 0.7):
        done.ui.thresholdSlider.value = threshold
        done.process_events()
        sizes[threshold] = int(array(parameters.labelmap).sum())
        assert parameters.thresholdSource.value == "manual"
    assert sizes[0.4] > sizes[0.5] > sizes[0.7] > 0
    done.click("automaticThresholdButton")
    assert parameters.threshold == 0.5
    assert array(parameters.labelmap).sum() == sizes[0.5]
    done.ui.thresholdSlider.value = 0.4
    done.click("applyButton")
    assert array(parameters.labelmap).sum() == sizes[0.4]


def test_the_affinity_s_cut_does_not_bound_the_threshold(chosen):
    """It is of the other model, and hidden."""
    chosen.parameters.cut = 0.6
    chosen.click("applyButton")
    chosen.ui.thresholdSlider.value = 0.4
    chosen.process_events()
    scene = array(chosen.parameters.sceneVolume)
    assert np.array_equal(array(chosen.parameters.labelmap) > 0, scene >= np.float32(0.4))
    chosen.click("applyButton")
    assert chosen.parameters.threshold == pytest.approx(0.4)


def test_another_model_makes_the_result_an_earlier_one(done):
    before = array(done.parameters.sceneVolume).copy()
    choose_model(done, "AFFINITY")
    assert EARLIER in done.ui.adviceLabel.text
    done.click("applyButton")
    assert not np.array_equal(array(done.parameters.sceneVolume), before)
    choose_model(done, "CONTRAST")
    done.click("applyButton")
    assert np.array_equal(array(done.parameters.sceneVolume), before)
    assert done.parameters.threshold == 0.5


def test_a_seed_that_is_a_background_seed_too_is_said(chosen):
    volume = chosen.parameters.inputVolume
    chosen.parameters.backgroundSeeds = add_seeds(volume, [FIRST], "background")
    chosen.click("applyButton")
    first = chosen.parameters.seeds.GetNthControlPointLabel(0)
    other = chosen.parameters.backgroundSeeds.GetNthControlPointLabel(0)
    assert chosen.ui.statusLabel.text == (
        f"'{first}' (vessel) and '{other}' (not vessel) are at the same place: move or delete one."
    )
    assert chosen.take_errors() == []  # a sentence, no dialog
    assert chosen.parameters.labelmap is None


def test_the_result_follows_background_points(done):
    import time

    parameters = done.parameters
    parameters.autoUpdate = True
    place_background(done)
    end = time.monotonic() + 20
    while array(parameters.labelmap)[LEAK] and time.monotonic() < end:
        done.process_events()
    assert array(parameters.labelmap)[LEAK] == 0
    place = world_of(parameters.inputVolume, (1, 1, 1))
    parameters.backgroundSeeds.SetNthControlPointPositionWorld(0, place)
    while not array(parameters.labelmap)[LEAK] and time.monotonic() < end:
        done.process_events()
    assert array(parameters.labelmap)[LEAK] == 1


def test_nothing_is_clipped_at_the_usual_width(done, tmp_path):
    place_background(done)
    picture = done.grab(tmp_path / "panel.png")
    assert picture.height() > 200
    assert done.clipped() == []


def test_numbers_of_the_affinity_are_read_when_they_are_shown(chosen, monkeypatch):
    from FuzzyConnectedGPUPanel import method_section

    read = []
    intensity_histogram = method_section.intensity_histogram
    monkeypatch.setattr(
        method_section,
        "intensity_histogram",
        lambda voxels: (read.append(voxels.shape), intensity_histogram(voxels))[1],
    )
    chosen.parameters.inputVolume.GetImageData().Modified()
    chosen.click("applyButton")
    assert read == []
    before = chosen.parameters.mean
    choose_model(chosen, "AFFINITY")
    assert read == [SHAPE]
    assert chosen.parameters.mean != before


def test_a_run_is_drawn_when_it_has_been_said_how_it_ended(chosen, monkeypatch):
    panel = chosen.widget.panel
    seen = []
    show = panel.advice.show

    def noted(parameters):
        seen.append((panel.running.active, bool(chosen.ui.statusLabel.text)))
        show(parameters)

    monkeypatch.setattr(panel.advice, "show", noted)
    chosen.click("applyButton")
    assert seen[-1] == (False, True)
    assert (False, False) not in seen
