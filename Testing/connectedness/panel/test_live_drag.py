"""A point that is dragged: slices follow, the mouse never waits, the result comes at the end."""

from dataclasses import replace

import numpy as np

from FuzzyConnectedGPUMRML.live import hidden_result
from FuzzyVesselCoreLib.phantom.liver import liver_phantom
from support.drag_cases import (
    hold,
    labels,
    let_go,
    move,
    own_segment_is_shown,
    preview,
    settle,
    until,
)
from support.mrml_cases import add_seeds, add_volume, world_of
from support.panel_cases import POINTS


def test_slices_follow_and_the_result_comes_at_the_end(live):
    runs = []
    own = live.widget.panel
    run = own.run
    own.run = lambda *arguments: runs.append(1) or run(*arguments)
    k, j, i = POINTS[1]
    hold(live)
    for step in (1, 2, 3):
        move(live, (k, j, i - step))
        until(live, lambda: preview(live) is not None)
    settle(live)
    assert not runs  # no whole run while the point is held
    shown = preview(live)
    assert shown.any()
    assert not own_segment_is_shown(live)
    let_go(live)
    settle(live)
    assert len(runs) == 1
    assert preview(live) is None
    assert own_segment_is_shown(live)
    assert own.is_current()
    np.testing.assert_array_equal(shown, labels(live))
    assert own.live._live is None  # no run to come lacks its memory


def test_what_a_preview_cannot_know_is_said_until_the_result_is_there(live):
    own, work = live.widget.panel.live, live.widget.panel.live._run._work
    own._run._work = lambda *arguments: replace(work(*arguments), exact=False)
    hold(live)
    move(live, tuple(np.add(POINTS[1], (0, 0, -2))))
    until(live, lambda: preview(live) is not None)
    assert live.ui.statusLabel.text.startswith("A preview: ")
    own._run._work = work
    let_go(live)
    settle(live)
    assert live.ui.statusLabel.text.startswith("Went on from the last run")


def test_in_a_scan_of_several_tissues_the_first_point_ends_in_a_run_of_its_own(panel, monkeypatch):
    """The preview is on the tissue where the drag began, and says so; the result is not."""
    import slicer

    from FuzzyConnectedGPULib import segment

    monkeypatch.setattr(slicer.app, "mouseButtons", lambda: 0)
    phantom = liver_phantom((24, 40, 40))
    first, other, goal = (tuple(map(int, each)) for each in phantom.seeds[:3])
    k, j, i = phantom.spacing
    volume = add_volume(phantom.volume, np.diag([-i, -j, k, 1.0]))
    panel.parameters.inputVolume = volume
    panel.parameters.seeds = add_seeds(volume, [first, other], "seeds")
    panel.ui.autoUpdateCheckBox.checked = True
    until(panel, lambda: panel.parameters.labelmap is not None)
    settle(panel)
    evidence = panel.widget.panel.logic.kept.evidence
    assert not evidence.holds_for(goal)
    hold(panel)
    move(panel, goal, index=0)
    until(panel, lambda: preview(panel) is not None)
    assert panel.ui.statusLabel.text.startswith("A preview: ")
    assert panel.widget.panel.logic.kept.evidence is evidence
    let_go(panel)
    settle(panel)
    alone = segment(phantom.volume, [goal, other], spacing=phantom.spacing, device="cpu")
    np.testing.assert_array_equal(labels(panel), alone.labels)
    assert panel.ui.statusLabel.text.startswith("Done")


def test_leaving_the_module_takes_the_preview_away(live):
    hold(live)
    move(live, tuple(np.add(POINTS[1], (0, 0, -2))))
    until(live, lambda: preview(live) is not None)
    live.window.exit()
    assert preview(live) is None
    assert own_segment_is_shown(live)
    let_go(live)
    live.window.enter()
    settle(live)
    assert preview(live) is None


def test_a_point_that_comes_back_leaves_no_preview_and_needs_no_run(live):
    before = labels(live)
    hold(live)
    move(live, tuple(np.add(POINTS[1], (0, 0, -2))))
    until(live, lambda: preview(live) is not None)
    move(live, POINTS[1])
    let_go(live)
    settle(live)
    assert preview(live) is None
    assert own_segment_is_shown(live)
    np.testing.assert_array_equal(labels(live), before)


def test_where_no_point_can_be_the_last_preview_stays_and_nothing_is_said(live):
    hold(live)
    move(live, tuple(np.add(POINTS[1], (0, 0, -2))))
    until(live, lambda: preview(live) is not None)
    shown = preview(live)
    background = live.parameters.seeds
    move(live, POINTS[0])
    settle(live)
    assert live.ui.statusLabel.styleSheet == ""
    assert preview(live).shape == shown.shape
    assert background.GetNumberOfControlPoints() == len(POINTS)
    let_go(live)
    settle(live)


def test_the_affinity_model_follows_by_whole_runs(live):
    model = type(live.parameters.model)
    live.parameters.model = model.AFFINITY
    settle(live)
    hold(live)
    move(live, tuple(np.add(POINTS[1], (0, 0, -2))))
    settle(live)
    assert preview(live) is None
    let_go(live)
    settle(live)


def test_a_scene_that_was_saved_during_a_drag_shows_the_result(live, tmp_path):
    """A program can save at any time, and no event of the scene says so before."""
    import slicer

    hold(live)
    move(live, tuple(np.add(POINTS[1], (0, 0, -2))))
    until(live, lambda: preview(live) is not None)
    assert not own_segment_is_shown(live)
    slicer.mrmlScene.SetSaveToXMLString(1)
    slicer.mrmlScene.Commit()
    slicer.mrmlScene.SetSaveToXMLString(0)
    saved = slicer.mrmlScene.GetSceneXMLString()
    let_go(live)
    settle(live)
    assert "ShownInSlices" in saved
    display = live.parameters.segmentation.GetDisplayNode()
    assert not display.GetAttribute(hidden_result.MARK)
    (segment_id,) = live.parameters.segmentation.GetSegmentation().GetSegmentIDs()
    # As loaded: hidden, with the mark.
    hidden_result.hide(live.parameters.segmentation, [segment_id])
    assert not own_segment_is_shown(live)
    slicer.mrmlScene.InvokeEvent(slicer.mrmlScene.EndImportEvent)
    assert own_segment_is_shown(live)
    display.SetAttribute(hidden_result.MARK, "of another program")
    hidden_result.show_all_again()
    assert own_segment_is_shown(live)


def test_slices_follow_a_point_of_one_of_several_vessels(live):
    import slicer

    parameters = live.parameters
    live.click("addVesselButton")
    other = parameters.seeds
    other.AddControlPointWorld(world_of(parameters.inputVolume, (7, 8, 9)))
    settle(live)
    assert slicer.util.arrayFromVolume(parameters.labelmap).max() == 2
    runs, own = [], live.widget.panel
    run = own.run
    own.run = lambda *arguments: runs.append(1) or run(*arguments)
    hold(live)
    move(live, (7, 8, 12), index=0)
    until(live, lambda: preview(live) is not None)
    settle(live)
    assert not runs
    shown = preview(live)
    assert set(np.unique(shown)) == {0, 1, 2}
    display = parameters.segmentation.GetDisplayNode()
    ids = parameters.segmentation.GetSegmentation().GetSegmentIDs()
    assert not any(display.GetSegmentVisibility2DFill(each) for each in ids)
    let_go(live)
    settle(live)
    assert len(runs) == 1
    assert preview(live) is None
    np.testing.assert_array_equal(shown, labels(live))
    assert all(display.GetSegmentVisibility2DFill(each) for each in ids)


def test_the_scene_can_be_closed_while_a_point_is_held(live):
    import slicer

    hold(live)
    move(live, tuple(np.add(POINTS[1], (0, 0, -2))))
    slicer.mrmlScene.Clear(0)
    settle(live)
    assert not slicer.util.getNodesByClass("vtkMRMLSegmentationNode")


def test_the_preview_is_neither_saved_nor_listed(live):
    import slicer

    hold(live)
    move(live, tuple(np.add(POINTS[1], (0, 0, -2))))
    until(live, lambda: preview(live) is not None)
    (node,) = [
        each
        for each in slicer.util.getNodesByClass("vtkMRMLSegmentationNode")
        if each is not live.parameters.segmentation
    ]
    assert not node.GetSaveWithScene()
    assert node.GetHideFromEditors()
    let_go(live)
    settle(live)
