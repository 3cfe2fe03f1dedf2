"""The table of a dragged point: every stage is measured, and the labels are those of whole runs."""

from types import SimpleNamespace

import pytest

pytest.importorskip("slicer", reason="slicer-core is not installed")
from fuzzy_vessel.benchmark.drag import drag_table
from fuzzy_vessel.benchmark.drag.drags import drags
from fuzzy_vessel.benchmark.setting import Setting
from fuzzy_vessel.pictures import offscreen
from FuzzyVesselCoreLib.errors import InputError
from support.slice_view import need_rendering

SMALL = SimpleNamespace(liver=(17, 48, 48))


def table_of(monkeypatch, count):
    """The table of the first drags on a small phantom."""
    monkeypatch.setattr(drag_table, "drags", lambda *arguments: drags(*arguments)[:count])
    return drag_table.by_drag(Setting(sizes=SMALL, quick=True, tell=lambda _text: None))


def test_every_stage_up_to_the_slices_is_measured(slicer_scene, monkeypatch):
    need_rendering()
    table = table_of(monkeypatch, 1)
    (row,) = table.rows
    assert all(row[stage] > 0 for stage in drag_table.STAGES)
    assert row["longest"] >= row["total"] > row["labels"]
    assert row["equal"] == "1 of 1"
    assert not any("Slices are not included" in note for note in table.notes)


def test_without_drawing_the_table_says_what_is_left_out(slicer_scene, monkeypatch):
    def refuse():
        raise offscreen.CannotRender("there is no EGL")

    monkeypatch.setattr(offscreen, "prepare_drawing", refuse)
    table = table_of(monkeypatch, 6)
    whats = [row["what"] for row in table.rows]
    one = ["the first point", "a further point", "a not-vessel point"]
    several = "a point of one of 2 vessels"
    assert whats == [*one, several, f"{several}, the last", "the first point of 2 vessels"]
    assert table.notes[-1] == "Slices are not included: there is no EGL."
    assert all(row["equal"] == "1 of 1" for row in table.rows)


def test_without_slicer_core_the_table_is_empty_and_says_why(monkeypatch):
    from fuzzy_vessel.slicer_host import headless

    def refuse():
        raise InputError("The MRML scene needs slicer-core")

    monkeypatch.setattr(headless, "start", refuse)
    table = table_of(monkeypatch, 1)
    assert not table.rows
    assert table.notes == ["The MRML scene needs slicer-core"]
