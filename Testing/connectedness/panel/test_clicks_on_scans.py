"""A user's way through the panel, with the mouse in real views: seeds, Apply, threshold, drag.

The pictures that it takes on the way can be kept: FUZZYVESSEL_PICTURES names a folder for them.
"""

import numpy as np
import pytest

from FuzzyVesselCoreLib.mrml.points import placed_points, points_in_volume
from FuzzyVesselCoreLib.phantom.liver import liver_phantom
from support.mrml_cases import array, world_of
from support.panel_cases import button, until

SIZE = 72


@pytest.fixture(scope="module")
def phantom():
    return liver_phantom((SIZE,) * 3)


@pytest.fixture
def volume(slicer_scene, phantom):
    from FuzzyVesselCoreLib.mrml.points import add_phantom

    volume, seeds, background = add_phantom(phantom)
    for node in (seeds, background):
        slicer_scene.RemoveNode(node)
    volume.GetDisplayNode().AutoWindowLevelOff()
    volume.GetDisplayNode().SetWindowLevelMinMax(-60, 300)
    return volume


@pytest.fixture
def view(slicer_scene, volume):
    import support.slice_view as slice_view

    view = slice_view.SliceView()
    view.show(volume)
    yield view
    view.close()


@pytest.fixture
def panel(volume, view, open_panel):
    panel = open_panel("FuzzyConnectedGPU")
    panel.parameters.inputVolume = volume
    panel.process_events()
    return panel


def click_at(view, volume, voxel):
    """Bring a voxel into the slice and click it."""
    world = world_of(volume, voxel)
    view.node.JumpSliceByOffsetting(*world)
    view.click(*view.pixel_of(world))


def place_seeds(panel, view, volume, phantom):
    panel.click("placeSeedsButton")
    for voxel in phantom.seeds:
        click_at(view, volume, voxel)
    panel.process_events()


def test_clicks_place_seeds_until_the_right_button(panel, view, volume, phantom):
    import slicer

    place_seeds(panel, view, volume, phantom)
    seeds = panel.parameters.seeds
    voxels = points_in_volume(volume, placed_points(seeds).world)
    assert np.abs(voxels - phantom.seeds).max() <= 1
    assert panel.ui.seedsTable.rowCount == len(phantom.seeds)
    view.click(20, 20, "Right")
    interaction = slicer.app.applicationLogic().GetInteractionNode()
    assert interaction.GetCurrentInteractionMode() != interaction.Place
    assert not panel.ui.placeSeedsButton.checked
    view.click(30, 30)
    assert seeds.GetNumberOfDefinedControlPoints() == len(phantom.seeds)


def test_the_slice_follows_the_slider_and_keeps_the_result_of_the_release(
    panel, view, volume, phantom
):
    from PySide6.QtCore import QPoint, Qt
    from PySide6.QtTest import QTest
    from PySide6.QtWidgets import QSlider, QStyle, QStyleOptionSlider

    place_seeds(panel, view, volume, phantom)
    panel.click("applyButton")
    view.node.JumpSliceByOffsetting(*world_of(volume, phantom.seeds[2]))
    shown, labels = view.colored(), array(panel.parameters.labelmap).copy()
    (slider,) = panel.ui.thresholdSlider.findChildren(QSlider)
    option = QStyleOptionSlider()
    slider.initStyleOption(option)
    handle = slider.style().subControlRect(QStyle.CC_Slider, option, QStyle.SC_SliderHandle, slider)
    start = handle.center()
    end = QPoint(round(start.x() * 1.7), start.y())  # to the right is more
    QTest.mousePress(slider, Qt.LeftButton, Qt.NoModifier, start)
    for step in range(1, 6):
        QTest.mouseMove(slider, start + (end - start) * step / 5)
    panel.process_events()
    lowest = panel.ui.thresholdSlider.value
    assert lowest < panel.parameters.threshold
    assert view.colored() > shown + 100
    assert np.array_equal(array(panel.parameters.labelmap), labels)
    QTest.mouseRelease(slider, Qt.LeftButton, Qt.NoModifier, end)
    panel.process_events()
    assert panel.parameters.threshold == lowest
    values = array(panel.parameters.sceneVolume)
    assert np.array_equal(array(panel.parameters.labelmap), values >= np.float32(lowest))
    assert view.composite.GetForegroundVolumeID() is None


def test_the_result_follows_a_seed_that_is_dragged(panel, view, volume, phantom, monkeypatch):
    import slicer

    monkeypatch.setattr(slicer.app, "mouseButtons", lambda: 0)
    place_seeds(panel, view, volume, phantom)
    view.click(20, 20, "Right")
    panel.parameters.automaticAffinity = False
    panel.ui.autoUpdateCheckBox.checked = True
    until(panel, lambda: panel.parameters.sceneVolume is not None)
    first = tuple(phantom.seeds[0])
    target = (first[0], first[1] - 6, first[2] + 4)
    view.node.JumpSliceByOffsetting(*world_of(volume, first))
    view.pixels()  # what is drawn can be picked
    start, end = (view.pixel_of(world_of(volume, voxel)) for voxel in (first, target))
    button(True)
    view.press(*start)
    for step in (0.3, 0.7, 1.0):
        view.move(*(a + (b - a) * step for a, b in zip(start, end)))
        panel.process_events()
    assert panel.widget.panel.seeds.dragging
    button(False)
    view.release(*end)
    moved = points_in_volume(volume, placed_points(panel.parameters.seeds).world)[0]
    assert np.abs(moved - target).max() <= 1
    until(panel, lambda: array(panel.parameters.sceneVolume)[tuple(moved)] == 1)
    assert array(panel.parameters.sceneVolume)[first] < 1
    assert not panel.widget.panel.seeds.dragging
    panel.click("undoSeedButton")
    back = points_in_volume(volume, placed_points(panel.parameters.seeds).world)[0]
    assert tuple(back) == first or np.abs(back - first).max() <= 1
