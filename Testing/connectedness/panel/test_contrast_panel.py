"""The panel with the contrast model, its default: clicks, background clicks and a threshold."""

import numpy as np
import pytest

from support.mrml_cases import add_seeds, add_volume
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
