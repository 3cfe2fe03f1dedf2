"""Several vessels in the panel: rows, points, branches, other vessels' points, undo and redo."""

import numpy as np
import pytest

from support.crossing_vessels import crossing
from support.mrml_cases import add_seeds, add_volume, world_of
from support.panel_cases import labels, point_at, press, save_and_load


@pytest.fixture
def one(panel):
    """One vessel with a point."""
    volume = add_volume(crossing())
    panel.parameters.inputVolume = volume
    panel.parameters.seeds = add_seeds(volume, [(6, 6, 2)], "seeds")
    panel.process_events()
    return panel


@pytest.fixture
def two(one):
    """A second vessel with a point, and both segmented."""
    one.click("addVesselButton")
    place(one, (6, 15, 2))
    one.click("applyButton")
    return one


def place(panel, voxel):
    """A point of the current vessel, as by the mouse."""
    position = world_of(panel.parameters.inputVolume, voxel)
    panel.parameters.seeds.AddControlPointWorld(position)
    panel.process_events()


def lists(panel):
    from FuzzyConnectedGPUMRML.vessel_lists import vessels_of

    return vessels_of(panel.parameters)


def counts(panel):
    return [node.GetNumberOfDefinedControlPoints() for node in lists(panel)]


def names(panel):
    inner = panel.parameters.segmentation.GetSegmentation()
    return [inner.GetNthSegment(n).GetName() for n in range(inner.GetNumberOfSegments())]


def cell(panel, row, column):
    return panel.ui.vesselsTable.item(row, column).text()


def test_a_second_vessel_has_a_row_points_and_a_segment_of_its_own(two):
    second = lists(two)[1]
    assert two.ui.vesselsFrame.isVisible()
    assert two.parameters.seeds is second
    assert counts(two) == [1, 1]
    assert names(two) == ["seeds", "Vessel"]
    found = labels(two)
    assert (found[6, 6, 2], found[6, 15, 2]) == (1, 2)
    assert [cell(two, row, 1) for row in (0, 1)] == ["seeds", "Vessel"]
    assert [cell(two, row, 3) for row in (0, 1)] == ["1", "1"]
    assert all("ml" in cell(two, row, 4) for row in (0, 1))
    assert "1 point" in two.ui.seedsCountLabel.text
    assert two.widget.panel.is_current()
    two.click("applyButton")
    assert names(two) == ["seeds", "Vessel"]
    volume = two.parameters.inputVolume
    import slicer

    slicer.util.arrayFromVolume(volume)[0, 0, 0] += 1
    slicer.util.arrayFromVolumeModified(volume)
    assert not two.widget.panel.is_current()


def test_kind_name_and_colour_are_those_of_the_segment(two):
    box = two.ui.vesselsTable.cellWidget(0, 2)
    box.setCurrentIndex(1)
    box.activated.emit(1)
    two.process_events()
    node = lists(two)[0]
    segment = two.parameters.segmentation.GetSegmentation().GetNthSegment(0)
    assert "SCT^8993003^Hepatic vein" in segment.GetTerminology()
    assert segment.GetName() == node.GetName() == "Hepatic vein"
    assert segment.GetColor() == pytest.approx(node.GetDisplayNode().GetSelectedColor())
    two.ui.vesselsTable.item(0, 1).setText("Right hepatic vein")
    two.process_events()
    assert segment.GetName() == node.GetName() == "Right hepatic vein"
    two.widget.panel.vessels.change_color(node, (0.1, 0.2, 0.3))
    assert segment.GetColor() == pytest.approx((0.1, 0.2, 0.3))


def test_vessels_have_different_colours(two):
    for _ in range(6):
        two.click("addVesselButton")
    colors = {node.GetDisplayNode().GetSelectedColor() for node in lists(two)}
    assert len(colors) == len(lists(two)) == 8


def test_the_key_h_hands_the_branch_at_the_mouse_over(two):
    found = labels(two)
    owner = int(found[6, 6, 30])
    other = 3 - owner
    two.ui.vesselsTable.setCurrentCell(other - 1, 1)
    two.process_events()
    point_at(two.parameters.inputVolume, (6, 6, 28))
    press(two, "H")
    assert not two.widget.panel.is_current()
    two.click("applyButton")
    assert (labels(two)[6, 6, 30:38] == other).all()
    press(two, "Ctrl+Z")
    two.click("applyButton")
    assert np.array_equal(labels(two), found)


def test_the_button_hands_over_one_branch_and_then_ends(two):
    two.click("handOverButton")
    assert two.ui.placeSeedsButton.checked
    place(two, (6, 6, 30))
    node = two.parameters.seeds
    assert node.GetNthControlPointDescription(1) == "hand-over 1"
    assert not two.ui.handOverButton.checked
    assert not two.ui.placeSeedsButton.checked
    place(two, (6, 15, 5))
    assert node.GetNthControlPointDescription(2) == ""


def test_a_point_goes_to_another_vessel_in_one_step(two):
    two.ui.seedsTable.selectRow(1)
    menu = two.widget.panel.seeds.menu
    two.widget.panel.seeds.fill_menu()
    assert [each.text for each in menu.actions()] == ["Give to seeds", "It is no vessel"]
    menu.actions()[0].trigger()
    two.process_events()
    assert counts(two) == [2, 0]
    two.click("undoSeedButton")
    assert counts(two) == [1, 1]
    two.click("redoSeedButton")
    assert counts(two) == [2, 0]
    two.click("undoSeedButton")
    two.ui.seedsTable.selectRow(1)
    two.widget.panel.seeds.fill_menu()
    menu.actions()[1].trigger()
    two.process_events()
    assert two.parameters.backgroundSeeds.GetNumberOfDefinedControlPoints() == 1
    assert counts(two) == [1, 0]


def test_undo_and_redo_of_points_and_thresholds_over_several_steps(two):
    automatic = two.parameters.threshold
    place(two, (6, 15, 37))
    two.ui.thresholdSlider.value = 0.7
    two.process_events()
    lists(two)[0].SetNthControlPointPositionWorld(
        0, world_of(two.parameters.inputVolume, (6, 6, 6))
    )
    two.process_events()
    moved = tuple(lists(two)[0].GetNthControlPointPositionWorld(0))
    press(two, "Ctrl+Z")
    assert tuple(lists(two)[0].GetNthControlPointPositionWorld(0)) != moved
    assert two.parameters.threshold == pytest.approx(0.7)
    press(two, "Z")
    assert two.parameters.thresholdSource.value == "automatic"
    assert two.parameters.threshold == pytest.approx(automatic)
    assert counts(two) == [1, 2]
    press(two, "Ctrl+Z")
    assert counts(two) == [1, 1]
    for key in ("Ctrl+Y", "Y"):
        press(two, key)
    assert counts(two) == [1, 2]
    assert two.parameters.threshold == pytest.approx(0.7)
    assert two.parameters.thresholdSource.value == "manual"
    press(two, "Ctrl+Shift+Z")
    assert tuple(lists(two)[0].GetNthControlPointPositionWorld(0)) == moved
    assert not two.ui.redoSeedButton.enabled
    place(two, (6, 15, 30))
    assert two.ui.undoSeedButton.enabled


def test_disputed_voxels_come_and_go(two):
    two.parameters.showDisputed = True
    two.process_events()
    assert names(two) == ["seeds", "Vessel", "Disputed"]
    two.parameters.showDisputed = False
    two.process_events()
    assert names(two) == ["seeds", "Vessel"]


def look_of(panel):
    """What is to be seen of all vessels: names, colours, points and segments."""
    return (
        [node.GetName() for node in lists(panel)],
        [tuple(node.GetDisplayNode().GetSelectedColor()) for node in lists(panel)],
        counts(panel),
        names(panel),
    )


@pytest.mark.parametrize("which", [0, 1])
def test_removing_a_vessel_is_taken_back_and_made_again(two, monkeypatch, which):
    import slicer

    monkeypatch.setattr(slicer.util, "confirmYesNoDisplay", lambda *a, **k: True)
    place(two, (6, 15, 37))
    two.click("applyButton")
    two.parameters.seeds = lists(two)[which]
    two.process_events()
    before, shown = look_of(two), labels(two)
    two.click("removeVesselButton")
    gone = look_of(two)
    assert len(gone[0]) == len(gone[3]) == 1
    press(two, "Ctrl+Z")
    assert look_of(two) == before
    assert two.parameters.seeds is lists(two)[which]
    assert two.widget.panel.is_current()
    press(two, "Ctrl+Z")
    assert counts(two) == [1, 1]  # the step before the removal: a point
    for key in ("Ctrl+Y", "Ctrl+Y"):
        press(two, key)
    assert look_of(two) == gone
    press(two, "Ctrl+Z")
    two.ui.thresholdSlider.value = 0.62  # the division is that of these lists again
    two.process_events()
    assert "press Apply" not in two.ui.statusLabel.text
    press(two, "Ctrl+Z")
    two.click("applyButton")
    assert look_of(two) == before
    np.testing.assert_array_equal(labels(two), shown)


def test_vessels_come_back_with_the_scene(two, tmp_path):
    box = two.ui.vesselsTable.cellWidget(0, 2)
    box.activated.emit(0)
    two.process_events()
    point_at(two.parameters.inputVolume, (6, 15, 30))
    press(two, "H")
    two.click("applyButton")
    before, named = labels(two), [node.GetName() for node in lists(two)]
    colors = [tuple(node.GetDisplayNode().GetSelectedColor()) for node in lists(two)]
    save_and_load(two, tmp_path / "scene.mrb")
    assert [node.GetName() for node in lists(two)] == named == ["Portal vein", "Vessel"]
    found = [node.GetDisplayNode().GetSelectedColor() for node in lists(two)]
    np.testing.assert_allclose(found, colors, atol=1e-4)
    assert two.ui.vesselsFrame.isVisible()
    assert two.widget.panel.is_current()
    assert [cell(two, row, 3) for row in (0, 1)] == ["1", "2"]
    assert all("ml" in cell(two, row, 4) for row in (0, 1))
    two.ui.thresholdSlider.value = 0.6
    two.process_events()
    assert np.count_nonzero(labels(two)) < np.count_nonzero(before)
    press(two, "Ctrl+Z")
    assert np.array_equal(labels(two), orient(before, labels(two)))
    two.click("applyButton")
    assert np.array_equal(labels(two), orient(before, labels(two)))
    two.ui.thresholdSlider.value = 0.7
    two.process_events()
    save_and_load(two, tmp_path / "again.mrb")
    two.click("applyButton")
    assert two.parameters.segmentation.GetSegmentation().GetNumberOfSegments() == 2
    assert names(two) == ["Portal vein", "Vessel"]


def orient(array, like):
    """A file may turn an axis round."""
    return min(array, array[::-1], key=lambda each: np.count_nonzero(each != like))
