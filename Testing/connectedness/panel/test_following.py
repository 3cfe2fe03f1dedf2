"""With *Update automatically* the result follows the points, in the background."""

import threading
import time

import numpy as np
import pytest

from FuzzyVesselCoreLib.errors import Cancelled, DeviceError
from support.mrml_cases import add_seeds, array, world_of
from support.panel_cases import (
    POINTS,
    hold,
    labels,
    let_go,
    move,
    own_segment_is_shown,
    preview,
    settle,
    until,
)


def test_slices_follow_and_the_result_comes_at_the_end(live):
    import slicer

    before, (k, j, i) = labels(live), POINTS[1]
    hold(live)
    for step in (1, 2, 3):
        move(live, (k, j, i - step))
        until(live, lambda: preview(live) is not None)
    settle(live)
    shown = preview(live)
    assert shown.any()
    assert not own_segment_is_shown(live)
    assert np.array_equal(labels(live), before)  # nothing is written while the point is held
    node = live.widget.panel.following._preview._node
    assert not node.GetSaveWithScene()
    assert node.GetHideFromEditors()
    segmentations = slicer.util.getNodesByClass("vtkMRMLSegmentationNode")
    assert segmentations == [live.parameters.segmentation]  # a preview is no segmentation
    let_go(live)
    settle(live)
    assert preview(live) is None
    assert not slicer.mrmlScene.IsNodePresent(node)
    assert own_segment_is_shown(live)
    assert live.widget.panel.is_current()
    np.testing.assert_array_equal(shown, labels(live))


def test_the_mouse_never_waits_and_the_latest_position_wins(live):
    """A slow run that is out of date ends between its steps, and is not shown."""
    following, begun, ended = live.widget.panel.following, [], []
    work = following._run._work

    def slow(inputs, progress):
        begun.append(inputs)
        end = time.monotonic() + 120
        while not ended and time.monotonic() < end:
            if not progress(0.1):
                ended.append("cancelled")
                raise Cancelled
            time.sleep(0.002)
        return work(inputs, progress)

    following._run._work = slow
    hold(live)
    for i in (12, 13):  # before the run begins
        move(live, (7, 8, i))
    until(live, lambda: following._run.working)
    time.sleep(0.4)
    start = time.monotonic()
    move(live, (7, 8, 10))
    live.process_events()
    assert time.monotonic() - start < 5  # the other position would have taken 20 seconds
    until(live, lambda: preview(live) is not None)
    assert ended == ["cancelled"]
    assert len(begun) == 2
    let_go(live)
    settle(live)
    assert array(live.parameters.sceneVolume)[7, 8, 10] == 1


@pytest.mark.parametrize("how", ["untick", "leave", "close"])
def test_a_preview_goes_with_what_it_belongs_to(live, slicer_scene, how):
    segmentation = live.parameters.segmentation
    hold(live)
    move(live, (7, 8, 12))
    until(live, lambda: preview(live) is not None)
    if how == "untick":
        live.ui.autoUpdateCheckBox.checked = False
        live.process_events()
    elif how == "leave":
        live.widget.exit()
    else:
        slicer_scene.Clear(0)
    assert preview(live) is None
    if how != "close":
        assert segmentation.GetDisplayNode().GetVisibility2D()
    if how == "leave":
        live.widget.enter()


def test_an_error_is_said_once_and_the_next_change_is_followed(live, monkeypatch):
    from FuzzyConnectedGPUMRML import segmenting

    calls = []

    def fail(*_arguments, **_options):
        calls.append(1)
        raise DeviceError("lost")

    with monkeypatch.context() as patch:
        patch.setattr(segmenting, "segment_arrays", fail)
        live.parameters.seeds.RemoveNthControlPoint(1)
        settle(live)
    assert "lost" in live.ui.statusLabel.text
    assert len(calls) == 1
    live.parameters.seeds.AddControlPointWorld(world_of(live.parameters.inputVolume, POINTS[1]))
    settle(live)
    assert live.widget.panel.is_current()


def test_an_error_of_writing_is_said(live, monkeypatch):
    run, goes_on = live.widget.panel.following._run, threading.Event()
    work = run._work
    monkeypatch.setattr(run, "_work", lambda *given: goes_on.wait(60) and work(*given))
    live.parameters.seeds.RemoveNthControlPoint(1)
    until(live, lambda: run.working)
    inner = live.parameters.segmentation.GetSegmentation()
    inner.CreateRepresentation("Closed surface")
    inner.SetSourceRepresentationName("Closed surface")
    goes_on.set()
    settle(live)
    assert "urface" in live.ui.statusLabel.text


def test_further_points_keep_the_threshold_that_a_person_chose(live):
    parameters = live.parameters
    live.ui.thresholdSlider.value = 0.62
    settle(live)
    volume, before = parameters.inputVolume, array(parameters.sceneVolume).copy()

    def is_kept():
        values = array(parameters.sceneVolume)
        assert parameters.threshold == pytest.approx(0.62)
        assert live.ui.thresholdSlider.value == pytest.approx(0.62)
        np.testing.assert_array_equal(labels(live), values >= np.float32(parameters.threshold))
        return values.copy()

    parameters.seeds.AddControlPointWorld(world_of(volume, (7, 3, 9)))
    settle(live)
    more = is_kept()
    assert more[7, 3, 9] > before[7, 3, 9]
    parameters.backgroundSeeds = add_seeds(volume, [(7, 10, 9)], "background")
    settle(live)
    assert is_kept()[7, 10, 9] < more[7, 10, 9]
