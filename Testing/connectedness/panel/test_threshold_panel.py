"""The threshold in the panel of FuzzyConnectedGPU."""

import numpy as np
import pytest

from support.panel_cases import array, wait, with_published_model


@pytest.fixture
def chosen(chosen):
    return with_published_model(chosen)


def test_the_threshold_cuts_the_scene_that_is_there(done, no_runs):
    parameters = done.parameters
    assert parameters.thresholdSource.value == "automatic"
    values = array(parameters.sceneVolume)
    for threshold in (0.2, 0.7):
        done.ui.thresholdSlider.value = threshold
        done.process_events()
        expected = values >= np.float32(parameters.threshold)
        assert np.array_equal(array(parameters.labelmap), expected)
        assert parameters.thresholdSource.value == "manual"
        assert not done.ui.automaticThresholdButton.checked
    done.click("automaticThresholdButton")
    assert parameters.thresholdSource.value == "automatic"
    assert parameters.threshold != 0.7


def test_the_slices_follow_while_the_slider_is_held(slicer_scene, done, no_runs):
    composite = slicer_scene.AddNewNodeByClass("vtkMRMLSliceCompositeNode")
    before = array(done.parameters.labelmap).copy()
    done.ui.thresholdSlider.valueIsChanging.emit(0.05)
    display = done.parameters.sceneVolume.GetDisplayNode()
    assert composite.GetForegroundVolumeID() == done.parameters.sceneVolume.GetID()
    assert display.GetLowerThreshold() == pytest.approx(0.05)
    assert np.array_equal(array(done.parameters.labelmap), before)
    text = done.ui.volumeValueLabel.text
    done.ui.thresholdSlider.value = 0.05
    done.process_events()
    assert composite.GetForegroundVolumeID() is None
    assert done.ui.volumeValueLabel.text == text
    assert not np.array_equal(array(done.parameters.labelmap), before)


def test_a_preview_ends_when_the_slider_is_let_go_where_it_was(slicer_scene, done):
    composite = slicer_scene.AddNewNodeByClass("vtkMRMLSliceCompositeNode")
    done.ui.thresholdSlider.valueIsChanging.emit(0.05)
    assert composite.GetForegroundVolumeID() is not None
    wait(done, lambda: composite.GetForegroundVolumeID() is None)


def test_the_overlay_is_shown_on_wish(slicer_scene, done):
    composite = slicer_scene.AddNewNodeByClass("vtkMRMLSliceCompositeNode")
    done.ui.overlayCheckBox.checked = True
    assert composite.GetForegroundVolumeID() == done.parameters.sceneVolume.GetID()
    done.ui.overlaySlider.value = 0.8
    assert composite.GetForegroundOpacity() == pytest.approx(0.8)
    done.ui.overlayCheckBox.checked = False
    assert composite.GetForegroundVolumeID() is None
