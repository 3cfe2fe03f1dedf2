"""The panel's state: what changes it, what a result was made of, and what a saved scene keeps."""

import numpy as np
import pytest

from support.mrml_cases import add_seeds, add_volume, array
from support.panel_cases import vessel


def choose(panel, model):
    """A volume, two vessel points and a background point, with a model."""
    volume, parameters = add_volume(vessel()), panel.parameters
    parameters.model = getattr(type(parameters.model), model)
    parameters.inputVolume = volume
    parameters.seeds = add_seeds(volume, [(7, 8, 3), (7, 8, 14)], "seeds")
    parameters.backgroundSeeds = add_seeds(volume, [(2, 2, 9)], "background")
    panel.process_events()
    return parameters


def is_current(panel):
    panel.process_events()
    return panel.widget.panel.is_current()


def save_and_load(panel, path):
    """Through an .mrb file, with the scene closed in between."""
    import slicer

    assert slicer.util.saveScene(str(path))
    slicer.mrmlScene.Clear(False)
    panel.process_events()
    slicer.util.loadScene(str(path))
    panel.process_events()


# --- what a result was made of


def edit(volume):
    """Change some voxels, as a filter of Slicer does."""
    import slicer

    changed = array(volume).copy()
    changed[7, 8, 9] += 1
    slicer.util.updateVolumeFromArray(volume, changed)


@pytest.mark.parametrize("model", ["AFFINITY", "CONTRAST"])
def test_voxels_that_were_edited_count(panel, model):
    parameters = choose(panel, model)
    panel.click("applyButton")
    parameters.inputVolume.GetDisplayNode().SetWindow(77)  # changes no voxel
    assert is_current(panel)
    edit(parameters.inputVolume)
    panel.process_events()
    assert "press <b>Apply</b>" in panel.ui.adviceLabel.text
    assert panel.ui.statusLabel.text == ""  # it spoke of other voxels
    panel.click("applyButton")
    assert is_current(panel)
    assert "press <b>Apply</b>" not in panel.ui.adviceLabel.text


# --- a saved scene


@pytest.mark.parametrize("opened", [True, False])
@pytest.mark.parametrize("model", ["AFFINITY", "CONTRAST"])
def test_a_saved_scene_comes_back_as_it_was(panel, tmp_path, model, opened):
    """Also with gaps that were filled, which the curve of volumes does not count."""
    parameters = choose(panel, model)
    panel.click("applyButton")
    panel.ui.thresholdSlider.value = 0.55
    panel.ui.fillGapsSpinBox.value = 4
    panel.process_events()
    text, count = panel.ui.volumeValueLabel.text, np.count_nonzero(array(parameters.labelmap))
    if not opened:
        panel.window.exit()
    save_and_load(panel, tmp_path / "scene.mrb")
    if not opened:
        panel.window.enter()
        panel.process_events()
    parameters = panel.parameters
    names = ("inputVolume", "seeds", "backgroundSeeds", "sceneVolume", "labelmap", "segmentation")
    assert all(getattr(parameters, name) is not None for name in names)
    assert panel.ui.inputSelector.currentNode() is parameters.inputVolume
    assert parameters.threshold == pytest.approx(0.55)
    assert parameters.fillGaps == 4
    assert parameters.model.name == model
    assert panel.ui.volumeValueLabel.text == text
    assert np.count_nonzero(array(parameters.labelmap)) == count  # an axis may be turned round
    assert is_current(panel)
    assert panel.ui.applyButton.enabled
    count = panel.parameters.segmentation.GetSegmentation().GetNumberOfSegments()
    panel.click("applyButton")
    assert parameters.segmentation.GetSegmentation().GetNumberOfSegments() == count
