"""Points, threshold, automatic update and undo belong to their volume; clicks to what is seen."""

from dataclasses import replace

import numpy as np
import pytest

from FuzzyVesselCoreLib.mrml.writing import KIND
from support.mrml_cases import add_seeds, add_volume, array, world_of
from support.panel_cases import POINTS, point_at, save_and_load, settle, vessel

BESIDE = (7, 8, 9)


@pytest.fixture
def other(done):
    """Another scan; the first one has its result, a moved slider and automatic updates."""
    done.ui.autoUpdateCheckBox.checked = True
    done.ui.thresholdSlider.value = 0.3
    settle(done)
    volume = add_volume(vessel()[:, :, ::-1].copy())
    volume.SetName("other")
    return volume


def choose(panel, volume):
    panel.ui.inputSelector.setCurrentNode(volume)
    settle(panel)


def state(panel):
    parameters = panel.parameters
    return (
        *(parameters.seeds, parameters.backgroundSeeds, parameters.threshold),
        *(parameters.thresholdSource.value, parameters.autoUpdate, parameters.labelmap),
    )


def test_choosing_a_volume_takes_nothing_along_and_starts_no_run(done, other):
    first, own = done.parameters.inputVolume, state(done)
    labels, point_count = array(own[-1]).copy(), own[0].GetNumberOfControlPoints()
    choose(done, other)
    assert state(done) == (None, None, 0.5, "automatic", False, None)
    assert not done.ui.undoSeedButton.enabled  # what was done on the first one stays there
    done.parameters.seeds = add_seeds(other, [BESIDE], "of the other")
    settle(done)
    choose(done, first)
    assert state(done) == own
    assert own[0].GetNumberOfControlPoints() == point_count
    assert np.array_equal(array(own[-1]), labels)  # nobody ran anything
    assert done.ui.undoSeedButton.enabled
    choose(done, other)
    assert done.parameters.seeds.GetName() == "of the other"


def test_what_belongs_to_each_volume_is_saved(done, other, tmp_path):
    import slicer

    names = [each.GetName() for each in (done.parameters.inputVolume, done.parameters.seeds)]
    choose(done, other)
    save_and_load(done, tmp_path / "scene.mrb")
    settle(done)
    assert done.parameters.inputVolume.GetName() == "other"
    choose(done, slicer.util.getNode(names[0]))
    parameters = done.parameters
    assert parameters.seeds.GetName() == names[1]
    assert (parameters.threshold, parameters.autoUpdate) == (pytest.approx(0.3), True)
    assert done.widget.panel.is_current()


def test_several_vessels_belong_to_their_volume(done):
    from FuzzyConnectedGPUMRML.vessel_lists import vessels_of

    done.click("addVesselButton")
    first, lists = done.parameters.inputVolume, vessels_of(done.parameters)
    choose(done, add_volume(vessel()))
    assert vessels_of(done.parameters) == []
    choose(done, first)
    assert vessels_of(done.parameters) == lists


def test_results_are_not_offered_as_a_volume(done):
    selector = done.ui.inputSelector
    offered = [selector.nodeFromIndex(n) for n in range(selector.nodeCount())]
    assert offered == [done.parameters.inputVolume]
    assert done.parameters.sceneVolume.GetAttribute(KIND)
    scene = done.parameters.sceneVolume
    done.parameters.inputVolume = scene  # by a script
    done.process_events()
    assert "is a result" in done.ui.adviceLabel.text
    assert not done.ui.applyButton.enabled


@pytest.fixture
def mouse_over(monkeypatch):
    """A function that lets the mouse be in a slice that shows a volume, at a voxel."""
    from FuzzyConnectedGPUMRML import views

    def point(volume, voxel):
        monkeypatch.setattr(views, "volume_at_mouse", lambda: volume)
        point_at(volume, voxel)

    return point


def test_a_key_adds_its_point_to_the_volume_that_is_seen(done, other, mouse_over):
    first = done.parameters.inputVolume
    count = done.parameters.seeds.GetNumberOfControlPoints()
    mouse_over(other, BESIDE)
    assert done.widget.panel.seeds.placing.add_at_mouse("seeds")
    settle(done)
    assert done.parameters.inputVolume is other
    assert done.parameters.seeds.GetNumberOfControlPoints() == 1
    assert done.parameters.labelmap is None
    choose(done, first)
    assert done.parameters.seeds.GetNumberOfControlPoints() == count


def test_a_placed_point_goes_to_the_volume_that_is_seen(done, other, mouse_over):
    first, seeds = done.parameters.inputVolume, done.parameters.seeds
    count = seeds.GetNumberOfControlPoints()
    done.click("placeSeedsButton")
    mouse_over(other, BESIDE)
    seeds.AddControlPointWorld(world_of(other, BESIDE))
    settle(done)
    assert done.parameters.inputVolume is other
    assert "other" in done.ui.statusLabel.text
    assert seeds.GetNumberOfControlPoints() == count
    assert done.parameters.seeds.GetNumberOfControlPoints() == 1
    assert done.ui.placeSeedsButton.checked  # and the next click goes on there
    choose(done, first)
    assert not done.ui.placeSeedsButton.checked


@pytest.fixture
def grey(monkeypatch):
    """Voxels (K, J, I) in which the library finds no contrast: none, until some are added."""
    from FuzzyConnectedGPULib.scene import NO_CONTRAST
    from FuzzyConnectedGPUMRML import segmenting

    segment, voxels = segmenting.segment_arrays, []

    def with_grey_points(*arguments, **options):
        found = segment(*arguments, **options)
        new = {"notes": (NO_CONTRAST,), "without_contrast": tuple(voxels)} if voxels else {}
        return replace(found, scene=replace(found.scene, **new))

    monkeypatch.setattr(segmenting, "segment_arrays", with_grey_points)
    return voxels


def test_points_without_contrast_are_named_and_marked(done, grey):
    seeds = done.parameters.seeds
    label = seeds.GetNthControlPointLabel(1)
    grey.append(POINTS[1])
    done.click("applyButton")
    assert label in done.ui.adviceLabel.text
    assert "no contrast" in done.ui.adviceLabel.text
    assert "no contrast" not in done.ui.statusLabel.text  # said once
    assert not seeds.GetNthControlPointSelected(1)
    assert seeds.GetDisplayNode().GetColor() != seeds.GetDisplayNode().GetSelectedColor()
    grey.clear()
    seeds.SetNthControlPointPositionWorld(1, world_of(done.parameters.inputVolume, (7, 8, 13)))
    done.click("applyButton")
    assert seeds.GetNthControlPointSelected(1)
    assert "no contrast" not in done.ui.adviceLabel.text


def test_the_very_points_without_contrast_are_marked_whatever_their_labels(done, grey):
    first, volume = done.parameters.seeds, done.parameters.inputVolume
    done.click("addVesselButton")
    second = done.parameters.seeds
    second.AddControlPointWorld(world_of(volume, BESIDE))
    first.SetNthControlPointLabel(0, "")
    second.SetNthControlPointLabel(0, first.GetNthControlPointLabel(1))
    grey += [POINTS[0], BESIDE]
    done.click("applyButton")
    marked = [done.ui.seedsTable.item(row, 2).text() == "no contrast" for row in range(3)]
    assert marked == [True, False, True]


def test_the_result_of_another_volume_is_not_shown_over_the_chosen_one(done, other):
    first, segmentation = done.parameters.inputVolume, done.parameters.segmentation
    choose(done, other)
    assert not segmentation.GetDisplayNode().GetVisibility()
    choose(done, first)
    assert segmentation.GetDisplayNode().GetVisibility()


def test_undo_leaves_a_list_alone_that_was_edited_elsewhere(done):
    parameters, volume = done.parameters, done.parameters.inputVolume
    first = parameters.seeds
    first.AddControlPointWorld(world_of(volume, BESIDE))
    settle(done)
    parameters.seeds = second = add_seeds(volume, [BESIDE], "second")
    settle(done)
    for k in (1, 2):  # as in the module Markups
        first.AddControlPointWorld(world_of(volume, (k, 8, 9)))
    count = first.GetNumberOfControlPoints()
    second.AddControlPointWorld(world_of(volume, POINTS[0]))
    settle(done)
    while done.ui.undoSeedButton.enabled:
        done.click("undoSeedButton")
    assert second.GetNumberOfControlPoints() == 1
    assert first.GetNumberOfControlPoints() == count


def test_a_result_of_a_volume_that_is_not_chosen_any_more_is_named(done, other, monkeypatch):
    from FuzzyConnectedGPUMRML.segmenting import Run

    first, compute = done.parameters.inputVolume, Run.compute

    def choose_meanwhile(run, *arguments):
        done.parameters.inputVolume = other
        return compute(run, *arguments)

    monkeypatch.setattr(Run, "compute", choose_meanwhile)
    done.click("applyButton")
    assert done.ui.statusLabel.text.startswith(f"{first.GetName()}: ")
    assert done.parameters.labelmap is None
    assert not done.widget.panel.is_current()
