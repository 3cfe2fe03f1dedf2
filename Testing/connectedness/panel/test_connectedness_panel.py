"""The panel of FuzzyConnectedGPU: real .ui file and MRML nodes, stand-ins for Slicer's widgets."""

from itertools import pairwise

import numpy as np
import pytest

from FuzzyVesselCoreLib.mrml.points import placed_points
from support.mrml_cases import add_seeds, add_volume, world_of
from support.panel_cases import SHAPE, array, vessel


@pytest.fixture
def chosen(chosen):
    """With the papers' model, and a background seed."""
    parameters = chosen.parameters
    parameters.model = type(parameters.model).AFFINITY
    parameters.backgroundSeeds = add_seeds(parameters.inputVolume, [(2, 2, 9)], "background")
    chosen.process_events()
    return chosen


def table(panel):
    rows = panel.ui.seedsTable
    return [
        [rows.item(row, column).text() for column in range(rows.columnCount)]
        for row in range(rows.rowCount)
    ]


def wait(panel, until, seconds=10):
    """Handle events until something is so."""
    import time

    end = time.monotonic() + seconds
    while not until():
        assert time.monotonic() < end, "it did not happen"
        panel.process_events()


def during_runs(monkeypatch, act):
    """Call `act` once, as an event that is handled in the middle of a run."""
    import slicer

    import FuzzyVesselCoreLib.widgets.run as run

    monkeypatch.setattr(run, "ROUND", 0.0)
    handle, calls = slicer.app.processEvents, []

    def process_events(*flags):
        handle(*flags)
        if not calls:
            calls.append(1)
            act()

    monkeypatch.setattr(slicer.app, "processEvents", process_events)


# --- before a run


def test_an_empty_panel_says_what_is_missing(panel):
    assert not panel.ui.applyButton.enabled
    assert panel.ui.applyButton.toolTip == "Choose a volume."
    assert panel.ui.adviceLabel.text.startswith("Load a CT or MR angiography")
    volume = add_volume(vessel())
    panel.parameters.inputVolume = volume
    assert "Place at least one point" in panel.ui.applyButton.toolTip
    panel.parameters.seeds = add_seeds(volume, [(7, 8, 3)])
    assert panel.ui.applyButton.enabled
    assert panel.ui.adviceLabel.text.startswith("Press <b>Apply</b>")
    panel.parameters.region = type(panel.parameters.region).MASK
    assert "Choose the mask" in panel.ui.applyButton.toolTip


def test_the_volume_is_described(chosen):
    assert "18 \u00d7 16 \u00d7 14 voxels" in chosen.ui.inputSelector.toolTip


def test_a_colour_image_is_refused_in_words(panel):
    import slicer

    image = slicer.mrmlScene.AddNewNodeByClass("vtkMRMLScalarVolumeNode", "colours")
    slicer.util.updateVolumeFromArray(image, vessel())
    image.GetImageData().AllocateScalars(3, 3)
    panel.parameters.inputVolume = image
    assert "one intensity" in panel.ui.adviceLabel.text
    assert "colours" in panel.ui.applyButton.toolTip


def test_seeds_are_listed_with_what_the_image_holds_there(chosen):
    rows = table(chosen)
    assert [row[0] for row in rows] == ["seeds-1", "seeds-2", "background-1"]
    assert rows[0][1] == str(vessel()[7, 8, 3])
    assert "\u00b1" in rows[0][2]
    assert chosen.ui.seedsTable.item(0, 0).toolTip() == "seeds-1, voxel 3, 8, 7"
    assert chosen.ui.seedsCountLabel.text.endswith("2 points")
    assert chosen.ui.backgroundCountLabel.text.endswith("1 point")


def test_a_click_in_the_table_jumps_there(slicer_scene, chosen):
    node = slicer_scene.AddNewNodeByClass("vtkMRMLSliceNode")
    node.SetOrientationToAxial()
    chosen.ui.seedsTable.cellClicked.emit(1, 0)
    wanted = world_of(chosen.parameters.inputVolume, (7, 8, 14))
    matrix = node.GetSliceToRAS()
    assert [matrix.GetElement(row, 3) for row in range(3)] == pytest.approx(wanted)


def test_delete_and_undo(chosen):
    seeds = chosen.parameters.seeds
    before = placed_points(seeds).world
    assert not chosen.ui.deleteSeedButton.enabled
    assert not chosen.ui.undoSeedButton.enabled
    chosen.ui.seedsTable.selectRow(0)
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


def test_numbers_follow_the_seeds_until_they_are_edited(chosen):
    parameters = chosen.parameters
    mean = parameters.mean
    assert mean == pytest.approx(200, abs=8)
    assert not chosen.ui.automaticAffinityButton.enabled
    chosen.ui.sigmaSpinBox.value = 40
    assert parameters.sigma == 40
    assert not parameters.automaticAffinity
    parameters.seeds.AddControlPointWorld(world_of(parameters.inputVolume, (2, 2, 2)), "dark")
    chosen.process_events()
    assert parameters.mean == mean
    chosen.click("automaticAffinityButton")
    assert parameters.automaticAffinity
    assert parameters.sigma != 40
    assert parameters.mean < mean


def test_the_radius_counts_for_numbers_and_table(chosen):
    sigma, around = chosen.parameters.sigma, table(chosen)[0][2]
    chosen.ui.radiusSpinBox.value = 5
    chosen.process_events()
    assert chosen.parameters.sigma != sigma
    assert table(chosen)[0][2] != around


def test_only_the_widgets_of_the_chosen_region_are_shown(chosen):
    ui, kinds = chosen.ui, type(chosen.parameters.region)
    ui.regionComboBox.currentIndex = 1
    assert chosen.parameters.region is kinds.BOX
    assert not ui.roiSelector.isHidden()
    assert ui.maskSelector.isHidden()
    chosen.click("fitRoiButton")
    size, bounds = np.zeros(3), np.zeros(6)
    chosen.parameters.roi.GetSizeWorld(size)
    chosen.parameters.inputVolume.GetRASBounds(bounds)
    assert size == pytest.approx(bounds[1::2] - bounds[::2])
    ui.regionComboBox.currentIndex = 0
    assert ui.roiSelector.isHidden()


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


def test_a_box_bounds_the_paths_and_the_cut_the_threshold(chosen):
    parameters = chosen.parameters
    parameters.region = type(parameters.region).BOX
    chosen.click("fitRoiButton")
    size = np.zeros(3)
    parameters.roi.GetSizeWorld(size)
    parameters.roi.SetSizeWorld(size * 0.5)
    chosen.ui.cutSlider.value = 0.3
    chosen.click("applyButton")
    scene = array(parameters.sceneVolume)
    assert 0 < np.count_nonzero(scene) < scene.size / 4
    assert scene[scene > 0].min() >= np.float32(0.3)
    chosen.ui.thresholdSlider.value = 0.1
    chosen.process_events()
    assert np.array_equal(array(parameters.labelmap), scene >= np.float32(0.3))


def test_numbers_of_another_solver_rest_until_it_is_chosen(chosen):
    assert not chosen.ui.correctionsSpinBox.enabled
    assert "corrected" in chosen.ui.correctionsSpinBox.toolTip
    chosen.parameters.solver = type(chosen.parameters.solver).CUDA_KFOE_CORRECTED
    assert chosen.ui.correctionsSpinBox.enabled
    assert not chosen.ui.weightSlider.enabled
    chosen.parameters.form = type(chosen.parameters.form).WEIGHTED
    assert chosen.ui.weightSlider.enabled


# --- a run


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
    assert done.ui.statusLabel.text.startswith("Nothing but the threshold had changed")


def test_the_segment_is_shown_in_3d(done):
    inner = done.parameters.segmentation.GetSegmentation()
    wait(done, lambda: inner.ContainsRepresentation("Closed surface"))
    done.parameters.threshold = 0.2
    wait(done, lambda: inner.ContainsRepresentation("Closed surface"))
    done.ui.show3DCheckBox.checked = False
    wait(done, lambda: not inner.ContainsRepresentation("Closed surface"))


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


def test_numba_is_asked_for_only_where_the_cpu_is_used(chosen, monkeypatch):
    import FuzzyConnectedGPUPanel.connectedness_panel as file

    panel = chosen.widget.panel
    monkeypatch.setattr(file, "cuda_status", lambda: "there is no card")
    assert panel.requirements == file.NUMBA
    monkeypatch.setattr(file, "cuda_status", lambda: None)
    assert panel.requirements == ()
    chosen.parameters.device = "cpu"
    assert panel.requirements == file.NUMBA


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


@pytest.mark.parametrize("source", ["automatic", "background", "manual"])
def test_leaving_the_module_in_the_middle_of_a_run(chosen, monkeypatch, source):
    """With "From background" it was an AttributeError, and the surface was made on return only."""
    parameters = chosen.parameters
    parameters.thresholdSource = type(parameters.thresholdSource)(source)
    during_runs(monkeypatch, chosen.window.exit)
    chosen.ui.applyButton.click()
    assert chosen.take_errors() == []
    assert parameters.thresholdSource.value == source
    assert labels_are_those_of(parameters, parameters.threshold)
    if source == "background":
        assert array(parameters.labelmap)[2, 2, 9] == 0
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


def test_a_choice_of_the_threshold_in_the_middle_of_a_run_is_taken(done, monkeypatch):
    parameters = done.parameters
    before = array(parameters.labelmap).copy()
    parameters.cut = 0.01
    same = []

    def press():
        done.ui.backgroundThresholdButton.click()
        same.append(np.array_equal(array(parameters.labelmap), before))

    during_runs(monkeypatch, press)
    done.ui.applyButton.click()
    done.process_events()
    assert same == [True]  # the old result is not cut while the new one is computed
    assert array(parameters.labelmap)[2, 2, 9] == 0
    assert parameters.thresholdSource.value == "background"


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
        waiting.widget.panel.apply_quietly()
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


def test_an_error_while_a_run_begins_is_no_end(chosen, monkeypatch):
    """Apply was dead until Reload."""
    panel = chosen.widget.panel
    monkeypatch.setattr(panel.output, "show", lambda parameters: 1 / 0)
    chosen.ui.applyButton.click()
    assert chosen.take_errors()
    assert not panel.running.active
    assert chosen.ui.progressBar.isHidden()
    monkeypatch.undo()
    panel.update()
    chosen.click("applyButton")
    assert array(chosen.parameters.labelmap).any()


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


def test_outputs_that_were_removed_are_made_again(slicer_scene, done):
    for name in ("labelmap", "sceneVolume", "segmentation"):
        slicer_scene.RemoveNode(getattr(done.parameters, name))
    done.process_events()
    assert done.ui.volumeValueLabel.text == ""
    done.click("applyButton")
    assert array(done.parameters.labelmap).any()


# --- the threshold


@pytest.fixture
def no_runs(monkeypatch):
    """From here on nothing may be computed anew."""
    import FuzzyConnectedGPULib.cached_connectedness as kept

    def refuse(*_arguments, **_options):
        raise AssertionError("connectedness was computed again")

    monkeypatch.setattr(kept, "connectedness", refuse)


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


def test_gaps_are_filled_on_wish(done, no_runs):
    done.ui.thresholdSlider.value = 0.5
    done.process_events()
    before, text = array(done.parameters.labelmap).copy(), done.ui.volumeValueLabel.text
    done.ui.fillGapsSpinBox.value = 3
    done.process_events()
    after = array(done.parameters.labelmap)
    assert (after >= before).all()
    assert after.sum() > before.sum()
    assert done.ui.volumeValueLabel.text != text
    assert done.parameters.thresholdSource.value == "manual"


def test_background_seeds_choose_the_threshold(done, no_runs):
    position = world_of(done.parameters.inputVolume, (7, 8, 9))
    done.parameters.backgroundSeeds.SetNthControlPointPositionWorld(0, position)
    background = array(done.parameters.sceneVolume)[7, 8, 9]
    done.ui.thresholdSlider.value = background / 2
    done.process_events()
    assert array(done.parameters.labelmap)[7, 8, 9] == 1
    done.click("backgroundThresholdButton")
    assert background < done.parameters.threshold < background + 1e-4
    assert array(done.parameters.labelmap)[7, 8, 9] == 0
    done.parameters.backgroundSeeds.RemoveAllControlPoints()
    done.process_events()
    assert not done.ui.backgroundThresholdButton.enabled
    assert "Not vessel" in done.ui.backgroundThresholdButton.toolTip


def test_background_seeds_never_lower_the_threshold(done, no_runs):
    """Two points in healthy liver turned 123 ml into 465 ml."""
    done.ui.thresholdSlider.value = 0.7
    done.process_events()
    before = array(done.parameters.labelmap).copy()
    done.click("backgroundThresholdButton")
    assert done.parameters.threshold == pytest.approx(0.7)
    assert np.array_equal(array(done.parameters.labelmap), before)
    assert done.parameters.thresholdSource.value == "background"


def test_the_background_s_threshold_is_chosen_again_in_the_next_run(done):
    done.click("backgroundThresholdButton")
    done.ui.sigmaSpinBox.value = 60
    done.click("applyButton")
    values = array(done.parameters.sceneVolume)
    automatic = done.widget.logic.automaticThreshold(
        done.parameters.sceneVolume, done.parameters.backgroundSeeds
    )
    assert done.parameters.threshold >= automatic - 1e-4
    assert values[2, 2, 9] < done.parameters.threshold
    assert done.parameters.thresholdSource.value == "background"


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


def test_a_click_in_the_curve_sets_the_threshold(done):
    from PySide6.QtCore import QPoint, Qt
    from PySide6.QtTest import QTest

    plot = done.widget.panel.threshold._plot
    area = plot.area()
    place = QPoint(round(area.left() + 0.25 * area.width()), round(area.center().y()))
    QTest.mouseClick(plot, Qt.LeftButton, Qt.NoModifier, place)
    assert done.parameters.threshold == pytest.approx(0.25, abs=0.01)
    assert done.parameters.thresholdSource.value == "manual"


def test_the_overlay_is_shown_on_wish(slicer_scene, done):
    composite = slicer_scene.AddNewNodeByClass("vtkMRMLSliceCompositeNode")
    done.ui.overlayCheckBox.checked = True
    assert composite.GetForegroundVolumeID() == done.parameters.sceneVolume.GetID()
    done.ui.overlaySlider.value = 0.8
    assert composite.GetForegroundOpacity() == pytest.approx(0.8)
    done.ui.overlayCheckBox.checked = False
    assert composite.GetForegroundVolumeID() is None


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
    assert chosen.ui.statusLabel.text.startswith("Went on")
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


# --- outputs


def test_an_existing_segment_is_overwritten_only_when_chosen(done, monkeypatch):
    import slicer

    monkeypatch.setattr(slicer.util, "confirmYesNoDisplay", lambda *_, **__: True)
    inner = done.parameters.segmentation.GetSegmentation()
    mine = inner.AddEmptySegment("mine", "My vessel")
    done.parameters.threshold = 0.3
    done.process_events()
    assert inner.GetNumberOfSegments() == 2
    texts = [done.ui.segmentComboBox.itemText(n) for n in range(done.ui.segmentComboBox.count)]
    assert texts == ["Update this result", "Overwrite: seeds", "Overwrite: My vessel"]
    done.ui.segmentComboBox.currentIndex = 2
    done.ui.segmentComboBox.activated.emit(2)
    assert done.parameters.segmentID == mine
    done.click("applyButton")
    assert inner.GetNumberOfSegments() == 2
    assert not inner.GetSegment(mine).GetRepresentation("Binary labelmap").IsEmpty()


def test_two_results_are_compared(done):
    parameters = done.parameters
    assert not done.ui.differenceButton.enabled
    wider = done.widget.logic.thresholdScene(parameters.sceneVolume, 0.01).labelmapNode
    parameters.firstResult, parameters.secondResult = parameters.labelmap, wider
    done.click("differenceButton")
    assert set(np.unique(array(parameters.differenceLabelmap))) == {0, 2, 3}
    assert "Dice" in done.ui.differenceNoteLabel.text


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


def test_another_module_and_back(done):
    parameters = done.parameters
    done.window.exit()
    parameters.seeds.AddControlPointWorld((1, 2, 3), "while away")
    done.process_events()
    done.window.enter()
    done.process_events()
    assert len(table(done)) == 4


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
    done.parameters.inputVolume = other
    done.process_events()
    assert "20 voxels" in done.ui.inputSelector.toolTip
    assert done.parameters.labelmap is None
    done.click("applyButton")
    assert done.parameters.labelmap.GetName() == "other vessels"
    assert array(done.parameters.labelmap).shape == (20, 16, 18)
    assert first.shape == SHAPE


def test_the_module_s_own_test_works_the_panel(panel):
    test, said = panel.module.FuzzyConnectedGPUTest(), []
    test.delayDisplay = said.append
    test.runTest()
    assert said.count("Test passed") == 11
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


def test_plots_show_curves(done):
    for frame in (done.ui.histogramFrame, done.ui.curveFrame):
        image = frame.grab().toImage()
        colors = {
            image.pixelColor(x, y).name()
            for x in range(0, image.width(), 2)
            for y in range(0, image.height(), 2)
        }
        assert len(colors) > 20
