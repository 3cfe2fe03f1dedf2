"""Presses without a drag, drags without a release, and what is taken away in the middle."""

import numpy as np
import pytest

from support.drag_cases import (
    button,
    hold,
    let_go,
    move,
    own_segment_is_shown,
    preview,
    settle,
    until,
)
from support.mrml_cases import world_of
from support.panel_cases import POINTS

BESIDE = tuple(np.add(POINTS[1], (0, 0, -2)))


def in_a_run(panel, monkeypatch, act):
    """Call `act` once, in the middle of the next run of the panel."""
    import slicer

    import FuzzyVesselCoreLib.widgets.run as run

    monkeypatch.setattr(run, "ROUND", 0.0)
    handle, calls = slicer.app.processEvents, []

    def process_events(*flags):
        handle(*flags)
        if not calls and panel.widget.panel.running.active:
            calls.append(1)
            act()

    monkeypatch.setattr(slicer.app, "processEvents", process_events)
    return calls


def add_point(panel, voxel):
    panel.parameters.seeds.AddControlPointWorld(world_of(panel.parameters.inputVolume, voxel))


@pytest.mark.parametrize("moved", [False, True])
def test_a_press_during_a_run_leaves_no_result_behind(live, monkeypatch, moved):
    def press():
        hold(live)
        if moved:  # and back: the points are those of the run that this cancels
            move(live, BESIDE)
            move(live, POINTS[1])
        let_go(live)

    calls = in_a_run(live, monkeypatch, press)
    add_point(live, (7, 10, 8))
    until(live, lambda: calls)
    until(live, live.widget.panel.is_current)


def test_a_press_during_a_run_by_apply_leaves_no_result_behind(live, monkeypatch):
    def drag_and_back():
        live.ui.autoUpdateCheckBox.checked = True
        live.process_events()
        hold(live)
        move(live, POINTS[1])
        move(live, BESIDE)
        let_go(live)

    live.ui.autoUpdateCheckBox.checked = False
    move(live, BESIDE)
    live.process_events()
    calls = in_a_run(live, monkeypatch, drag_and_back)
    live.click("applyButton")
    assert calls
    until(live, live.widget.panel.is_current)


def test_an_unmoved_press_cancels_no_run(live, monkeypatch):
    ended = []
    own = live.widget.panel
    run = own.run
    own.run = lambda *arguments: ended.append(run(*arguments)) or ended[-1]
    calls = in_a_run(live, monkeypatch, lambda: (hold(live), let_go(live)))
    add_point(live, (7, 10, 8))
    until(live, lambda: calls)
    settle(live)
    assert len(ended) == 1


def snap(panel):
    """Slicer's key S: an interaction without an end, and a point that moves once."""
    hold(panel)
    button(False)
    move(panel, BESIDE)


def test_a_drag_without_an_end_ends_by_itself(live):
    own = live.widget.panel
    snap(live)
    until(live, lambda: not own.seeds.dragging)
    until(live, own.is_current)
    settle(live)
    assert preview(live) is None
    assert own_segment_is_shown(live)
    live.click("undoSeedButton")
    place = live.parameters.seeds.GetNthControlPointPositionWorld(1)
    np.testing.assert_allclose(place, world_of(live.parameters.inputVolume, POINTS[1]))


def test_a_point_that_is_held_still_is_held(live):
    from FuzzyConnectedGPUPanel.following.point_drag import PointDrag

    drag = live.widget.panel.seeds.drag
    assert isinstance(drag, PointDrag)
    hold(live)
    move(live, BESIDE)
    drag._look()  # as after a time without a move
    assert drag.dragging
    button(False)
    drag._look()
    assert not drag.dragging


def place(panel):
    add_point(panel, (7, 10, 8))


def delete(panel):
    panel.parameters.seeds.RemoveNthControlPoint(1)


def apply(panel):
    panel.click("applyButton")


@pytest.mark.parametrize("act", [place, delete, apply])
def test_what_belongs_to_no_drag_ends_it(live, act):
    hold(live)
    move(live, BESIDE)
    until(live, lambda: preview(live) is not None)
    act(live)
    assert not live.widget.panel.seeds.dragging
    until(live, live.widget.panel.is_current)
    settle(live)
    assert preview(live) is None
    assert own_segment_is_shown(live)


def test_all_points_lose_their_places_while_a_step_works(live):
    run, seeds = live.widget.panel.live._run, live.parameters.seeds
    hold(live)
    move(live, BESIDE)
    run._go_on()
    assert run.working
    for index in range(seeds.GetNumberOfControlPoints()):
        seeds.UnsetNthControlPointPosition(index)
    run._future.exception(20)
    run._go_on()
    assert live.widget.panel.seeds.dragging
    assert preview(live) is None


def test_a_dialog_finds_the_result_as_it_is_shown_otherwise(live, monkeypatch, tmp_path):
    """Slicer's scene has an event for saving, and never sends it: the dialog is what is seen."""
    import slicer

    hold(live)
    move(live, BESIDE)
    until(live, lambda: preview(live) is not None)
    assert not own_segment_is_shown(live)
    dialogs = [object()]
    monkeypatch.setattr(slicer.app, "activeModalWidget", lambda: dialogs[0] if dialogs else None)
    until(live, lambda: own_segment_is_shown(live))
    slicer.mrmlScene.SetURL(str(tmp_path / "saved.mrml"))
    slicer.mrmlScene.Commit()
    assert "Visible2DFill:false" not in (tmp_path / "saved.mrml").read_text()
    dialogs.clear()
    move(live, tuple(np.add(BESIDE, (0, 0, -1))))
    until(live, lambda: not own_segment_is_shown(live))
    let_go(live)
    settle(live)
    assert own_segment_is_shown(live)
