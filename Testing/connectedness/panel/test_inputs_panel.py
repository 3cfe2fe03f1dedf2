"""What the panel of FuzzyConnectedGPU shows and takes before a run."""

import numpy as np
import pytest

from FuzzyVesselCoreLib.mrml.points import placed_points
from support.mrml_cases import add_volume
from support.panel_cases import SHAPE, array, table, vessel, with_published_model


@pytest.fixture
def chosen(chosen):
    return with_published_model(chosen)


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
