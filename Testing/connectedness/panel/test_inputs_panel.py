"""What the panel of FuzzyConnectedGPU shows and takes before a run."""

import numpy as np
import pytest

from FuzzyVesselCoreLib.mrml.points import placed_points
from support.mrml_cases import add_seeds, add_volume, world_of
from support.panel_cases import SHAPE, array, table, vessel, with_published_model


@pytest.fixture
def chosen(chosen):
    return with_published_model(chosen)


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
    assert chosen.ui.automaticAffinityCheckBox.checked
    chosen.ui.sigmaSpinBox.value = 40
    assert parameters.sigma == 40
    assert not parameters.automaticAffinity
    parameters.seeds.AddControlPointWorld(world_of(parameters.inputVolume, (2, 2, 2)), "dark")
    chosen.process_events()
    assert parameters.mean == mean
    chosen.click("automaticAffinityCheckBox")
    assert parameters.automaticAffinity
    assert parameters.sigma != 40
    assert parameters.mean < mean


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
