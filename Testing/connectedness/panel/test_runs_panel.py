"""The connectedness panel before, during and after a run: points, Apply, Cancel, the threshold."""

import numpy as np
import pytest

from FuzzyVesselCoreLib.mrml.points import placed_points
from support.mrml_cases import add_seeds, add_volume, array, world_of
from support.panel_cases import (
    SHAPE,
    during_runs,
    save_and_load,
    table,
    until,
    vessel,
    with_published_model,
)


@pytest.fixture
def chosen(chosen):
    return with_published_model(chosen)


# --- what it shows and takes before a run


def test_delete_and_undo(chosen):
    seeds = chosen.parameters.seeds
    before = placed_points(seeds).world
    assert not chosen.ui.deleteSeedButton.enabled
    assert not chosen.ui.undoSeedButton.enabled
    chosen.ui.seedsTable.selectRow(0)
    chosen.process_events()
    chosen.click("deleteSeedButton")
    assert [row[0] for row in table(chosen)] == ["seeds-2", "background-1"]
    chosen.parameters.backgroundSeeds.RemoveAllControlPoints()
    chosen.process_events()
    chosen.click("undoSeedButton")
    assert len(table(chosen)) == 2
    chosen.click("undoSeedButton")
    np.testing.assert_allclose(placed_points(seeds).world, before)
    assert not chosen.ui.undoSeedButton.enabled


def test_points_are_found_automatically_and_undone(slicer_scene, panel):
    button = panel.ui.findSeedsButton
    assert not button.enabled
    assert button.toolTip == "Choose a volume first."
    panel.parameters.inputVolume = add_volume(vessel())
    panel.process_events()
    assert "delete what is no vessel" in button.toolTip
    panel.click("findSeedsButton")
    rows = table(panel)
    assert rows[0][0] == "automatic-1"
    voxel = panel.ui.seedsTable.item(0, 0).toolTip().partition("voxel ")[2]
    _i, j, k = map(int, voxel.split(", "))
    assert (k - 7) ** 2 + (j - 8) ** 2 <= 9
    assert panel.ui.statusLabel.text.startswith("Found")
    assert panel.ui.applyButton.enabled
    panel.click("findSeedsButton")
    assert table(panel) == rows
    panel.click("undoSeedButton")
    assert table(panel) == []
    assert not panel.ui.undoSeedButton.enabled
    panel.parameters.seeds.SetFixedNumberOfControlPoints(True)
    panel.click("findSeedsButton")
    assert "its number is fixed" in panel.ui.statusLabel.text


def test_nothing_found_leaves_no_list(slicer_scene, panel):
    panel.parameters.inputVolume = add_volume(np.zeros(SHAPE, np.int16))
    panel.process_events()
    panel.click("findSeedsButton")
    assert panel.take_errors() == []
    assert "No vessel was found" in panel.ui.statusLabel.text
    panel.process_events()
    assert "No vessel was found" in panel.ui.statusLabel.text  # and it can still be read
    assert panel.parameters.seeds is None
    assert slicer_scene.GetFirstNodeByClass("vtkMRMLMarkupsFiducialNode") is None


def test_place_makes_a_list_and_only_one_is_placed_into(slicer_scene, panel):
    import slicer

    panel.parameters.inputVolume = add_volume(vessel())
    interaction = slicer.app.applicationLogic().GetInteractionNode()
    panel.click("placeSeedsButton")
    assert panel.parameters.seeds.GetName() == "Vessel"
    assert interaction.GetCurrentInteractionMode() == interaction.Place
    assert interaction.GetPlaceModePersistence()
    panel.click("placeBackgroundButton")
    assert panel.ui.placeBackgroundButton.checked
    assert not panel.ui.placeSeedsButton.checked
    selection = slicer.app.applicationLogic().GetSelectionNode()
    assert selection.GetActivePlaceNodeID() == panel.parameters.backgroundSeeds.GetID()
    panel.window.exit()
    assert interaction.GetCurrentInteractionMode() != interaction.Place


def test_a_segment_can_be_the_mask(chosen):
    import slicer

    halves = np.ones(SHAPE, np.uint8)
    halves[:, :, 9:] = 2
    labelmap = add_volume(halves, kind="vtkMRMLLabelMapVolumeNode")
    segmentation = slicer.mrmlScene.AddNewNodeByClass("vtkMRMLSegmentationNode", "halves")
    slicer.modules.segmentations.logic().ImportLabelmapToSegmentationNode(labelmap, segmentation)
    parameters = chosen.parameters
    parameters.region = type(parameters.region).MASK
    assert chosen.ui.maskSegmentComboBox.isHidden()
    parameters.mask = segmentation
    box = chosen.ui.maskSegmentComboBox
    assert not box.isHidden()
    assert box.itemText(0) == "All segments"
    assert box.count == 3
    box.currentIndex = 1
    box.activated.emit(1)
    chosen.click("applyButton")
    scene = array(parameters.sceneVolume)
    assert scene[:, :, :9].any()
    assert not scene[:, :, 9:].any()
    assert "Left out" in chosen.ui.statusLabel.text  # the seed in the other half


# --- results, errors, Cancel, and what changes meanwhile


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
    assert set(seen) == {(False, True)}
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


@pytest.mark.parametrize("how", ["replaced", "moved"])
def test_another_grid_in_the_middle_of_a_run_ends_it(slicer_scene, chosen, monkeypatch, how):
    import slicer

    volume, other = chosen.parameters.inputVolume, np.zeros((5, 6, 7), np.int16)
    acts = {
        "replaced": lambda: slicer.util.updateVolumeFromArray(volume, other),
        "moved": lambda: volume.SetSpacing(1, 1, 3),
    }
    during_runs(monkeypatch, acts[how])
    chosen.ui.applyButton.click()
    assert "were replaced or moved during the run" in chosen.ui.statusLabel.text
    assert slicer_scene.GetNumberOfNodesByClass("vtkMRMLSegmentationNode") == 0


def test_automatic_chosen_in_a_run_wins_over_what_was_moved_before(done, monkeypatch):
    parameters = done.parameters
    automatic = parameters.threshold

    def act():
        parameters.threshold = 0.3
        done.process_events()
        done.click("automaticThresholdButton")

    during_runs(monkeypatch, act)
    done.click("applyButton")
    assert parameters.thresholdSource.value == "automatic"
    assert parameters.threshold == automatic


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
    assert "is running: wait" in why
    assert not active
    assert waiting.ui.applyButton.enabled
    made = {
        name: slicer_scene.GetNumberOfNodesByClass(f"vtkMRML{name}Node") - count
        for name, count in before.items()
    }
    ours = "Segmentation" if first == "FuzzyConnectedGPU" else "Model"
    assert {name for name, count in made.items() if count} == {ours}


# --- the threshold


def test_a_threshold_without_a_result_is_no_choice(chosen):
    chosen.parameters.threshold = 0.9  # by a script
    chosen.click("applyButton")
    assert chosen.parameters.thresholdSource.value == "automatic"
    assert chosen.parameters.threshold != 0.9


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


def test_a_preview_ends_when_the_slider_is_let_go_where_it_was(slicer_scene, done):
    composite = slicer_scene.AddNewNodeByClass("vtkMRMLSliceCompositeNode")
    done.ui.thresholdSlider.valueIsChanging.emit(0.05)
    assert composite.GetForegroundVolumeID() is not None
    until(done, lambda: composite.GetForegroundVolumeID() is None)


def test_the_overlay_is_shown_on_wish(slicer_scene, done):
    composite = slicer_scene.AddNewNodeByClass("vtkMRMLSliceCompositeNode")
    done.ui.overlayCheckBox.checked = True
    assert composite.GetForegroundVolumeID() == done.parameters.sceneVolume.GetID()
    done.ui.overlaySlider.value = 0.8
    assert composite.GetForegroundOpacity() == pytest.approx(0.8)
    done.ui.overlayCheckBox.checked = False
    assert composite.GetForegroundVolumeID() is None


# --- what a result was made of, and what a saved scene keeps


@pytest.fixture(params=["AFFINITY", "CONTRAST"])
def either(chosen, request):
    """With each model."""
    chosen.parameters.model = type(chosen.parameters.model)[request.param]
    return chosen


def test_voxels_and_points_that_were_edited_count(either):
    import slicer

    either.click("applyButton")
    volume, panel = either.parameters.inputVolume, either.widget.panel
    volume.GetDisplayNode().SetWindow(77)  # changes no voxel
    either.process_events()
    assert panel.is_current()
    either.parameters.backgroundSeeds.AddControlPointWorld(world_of(volume, (2, 13, 9)))
    assert not panel.is_current()
    either.parameters.backgroundSeeds.RemoveNthControlPoint(1)
    assert panel.is_current()
    scene = either.parameters.sceneVolume
    text = scene.GetAttribute("FuzzyVesselGPU.Inputs")
    scene.SetAttribute("FuzzyVesselGPU.Inputs", text.split(" ")[0])  # as earlier versions wrote it
    assert panel.is_current()
    scene.SetAttribute("FuzzyVesselGPU.Inputs", text)
    changed = array(volume).copy()
    changed[7, 8, 9] += 1
    slicer.util.updateVolumeFromArray(volume, changed)  # as a filter of Slicer does
    either.process_events()
    assert "press <b>Apply</b>" in either.ui.adviceLabel.text
    assert either.ui.statusLabel.text == ""  # it spoke of other voxels
    either.click("applyButton")
    assert panel.is_current()
    assert "press <b>Apply</b>" not in either.ui.adviceLabel.text


@pytest.mark.parametrize("opened", [True, False])
def test_a_saved_scene_comes_back_as_it_was(either, tmp_path, opened):
    """Also with gaps that were filled, which the curve of volumes does not count."""
    panel, parameters, model = either, either.parameters, either.parameters.model.name
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
    assert panel.widget.panel.is_current()
    assert panel.ui.applyButton.enabled
    count = panel.parameters.segmentation.GetSegmentation().GetNumberOfSegments()
    panel.click("applyButton")
    assert parameters.segmentation.GetSegmentation().GetNumberOfSegments() == count
