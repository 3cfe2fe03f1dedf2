"""The effect on a stand-in for the Segment Editor, whose own logic writes, masks and undoes."""

import sys
import time
import types

import numpy as np
import pytest

from FuzzyVesselCoreLib.errors import Cancelled
from support.mrml_cases import add_volume, world_of
from support.places import ROOT

pytest.importorskip("slicer", reason="slicer-core is not installed")
from support.slice_view import SliceView

NAME, MODULE = "Vessel from clicks", "SegmentEditorVesselFromClicks"
SHAPE = (32, 40, 40)
FIRST, BESIDE = (16, 10, 5), (16, 28, 20)


@pytest.fixture(scope="module", autouse=True)
def registered():
    """The effect, registered by the hidden module as Slicer starts."""
    pytest.importorskip("PySide6", reason="PySide6-Essentials is not installed")
    from emulators.qt import application

    application.install()
    import types

    import slicer

    application.started.clear()
    path = ROOT / MODULE / f"{MODULE}.py"
    module = __import__(MODULE)
    parent = types.SimpleNamespace(path=str(path))
    getattr(module, MODULE)(parent)
    (start,) = application.started
    start()
    assert parent.hidden
    yield slicer.qSlicerSegmentEditorEffectFactory.instance()
    sys.modules.pop(f"{MODULE}Lib")


class Session:
    """An editor with the effect, on two tubes and a segmentation of two segments."""

    def __init__(self, slicer):
        from emulators.qt.segment_editor import Editor

        self.slicer = slicer
        k, j, _i = np.indices(SHAPE)
        self.first, self.second = ((k - 16) ** 2 + (j - c) ** 2 <= 5 for c in (10, 28))
        noise = np.random.default_rng(3).normal(0, 6, SHAPE)
        voxels = (100 + 80.0 * (self.first | self.second) + noise).astype(np.float32)
        self.volume = add_volume(voxels, np.diag([-1.0, -1.0, 1.0, 1.0]))
        self.segmentation = slicer.mrmlScene.AddNewNodeByClass("vtkMRMLSegmentationNode", "vessels")
        self.segmentation.CreateDefaultDisplayNodes()
        self.segmentation.SetReferenceImageGeometryParameterFromVolumeNode(self.volume)
        for name in ("portal", "hepatic"):
            self.segmentation.GetSegmentation().AddEmptySegment(name, name)
        self.editor = Editor(NAME, self.segmentation, self.volume)
        self.editor.select("portal")
        self.editor.effect.activate()
        self.live = self.editor.effect.self().live
        names = ("last", "clear", "more", "keep", "centrelines")
        buttons = {name: getattr(self.live, name) for name in names}
        buttons |= {"apply": self.live.apply_button, "cancel": self.live.cancel_button}
        self.options = types.SimpleNamespace(**buttons)

    def click(self, voxel, background=False):
        self.live.click(world_of(self.volume, voxel), background)
        self.wait()

    def wait(self):
        """Let timers and runs end."""
        end = time.monotonic() + 60
        while self.live._run.pending:
            assert time.monotonic() < end
            self.slicer.app.processEvents()

    def segment(self, segment_id):
        """Labels of a segment on the volume."""
        if (
            self.segmentation.GetSegmentation()
            .GetSegment(segment_id)
            .GetRepresentation("Binary labelmap")
            .IsEmpty()
        ):
            return np.zeros(SHAPE, bool)
        array = self.slicer.util.arrayFromSegmentBinaryLabelmap(
            self.segmentation, segment_id, self.volume
        )
        return array > 0

    def put(self, segment_id, mask):
        self.slicer.util.updateSegmentBinaryLabelmapFromArray(
            mask.astype(np.uint8), self.segmentation, segment_id, self.volume
        )

    def preview(self, number=None):
        """Where the preview shows a vessel (of a number); None without a preview."""
        found = self.live._preview.labels
        if found is None:
            return None
        return found > 0 if number is None else found == number

    def text(self):
        return self.live._sentence.text

    def points(self, kind="vessel"):
        return len(self.live._clicks.points(kind).labels)


@pytest.fixture
def session(slicer_scene, monkeypatch):
    import slicer

    errors = []
    monkeypatch.setattr(sys, "excepthook", lambda _kind, error, _trace: errors.append(error))
    monkeypatch.setattr(slicer.app, "mouseButtons", lambda: 0)
    session = Session(slicer)
    yield session
    session.editor.close()
    assert not errors, f"an error in a slot or an observer: {errors[0]!r}"


def test_the_module_s_own_test_works_the_effect(slicer_scene):
    test = sys.modules[MODULE].SegmentEditorVesselFromClicksTest()
    said = []
    test.delayDisplay = said.append
    test.runTest()
    assert said == ["Test passed"]


def test_the_effect_is_registered_once_and_found_by_its_name(registered):
    (effect,) = registered.registeredEffects()
    assert (effect.name, effect.perSegment, effect.requireSegments) == (NAME, True, True)
    assert effect.self().live is None
    assert not effect.self().icon().isNull()
    assert "Ctrl-click" in effect.self().helpText()
    clone = effect.self().clone()
    assert clone is not effect
    assert clone.pythonSource() == effect.pythonSource()


def test_click_preview_apply(session):
    assert session.preview() is None
    assert not session.options.apply.enabled
    session.click(FIRST)
    shown = session.preview()
    assert shown[session.first].mean() > 0.95
    assert not shown[session.second].any()
    assert not session.segment("portal").any()
    assert session.text().startswith("Preview: ")
    session.options.apply.click()
    assert np.array_equal(session.segment("portal"), shown)
    assert session.preview() is None
    assert session.points() == 1


def test_a_background_click_takes_a_branch_away(session):
    session.click(FIRST)
    session.click(BESIDE)
    assert session.preview()[session.second].mean() > 0.95
    session.live.click(world_of(session.volume, (16, 28, 6)), True)
    session.wait()
    assert not session.preview()[16, 28, 6]
    assert (session.points(), session.points("background")) == (2, 1)


def test_undo_and_redo_of_the_editor(session):
    painted = np.zeros(SHAPE, bool)
    painted[2:5, 2:5, 2:5] = True
    session.put("portal", painted)
    session.click(FIRST)
    session.options.apply.click()
    after = session.segment("portal")
    assert after.sum() > painted.sum()
    session.editor.logic.Undo()
    assert np.array_equal(session.segment("portal"), painted)
    session.editor.logic.Redo()
    assert np.array_equal(session.segment("portal"), after)


def test_apply_keeps_or_replaces_what_the_segment_holds(session):
    painted = np.zeros(SHAPE, bool)
    painted[2:5, 2:5, 2:5] = True
    session.put("portal", painted)
    session.click(FIRST)
    shown = session.preview()
    session.options.apply.click()
    assert np.array_equal(session.segment("portal"), shown | painted)
    session.options.keep.click()
    assert session.editor.effect.integerParameter("Keep") == 0
    session.options.more.value = -0.5
    session.wait()
    less = session.preview()
    assert 0 < less.sum() < shown.sum()
    session.options.apply.click()
    assert np.array_equal(session.segment("portal"), less)


def test_what_apply_wrote_before_is_replaced_and_all_else_kept(session):
    painted = np.zeros(SHAPE, bool)
    painted[14:19, 8:13, 2:4] = True  # some of it within the vessel
    session.put("portal", painted)
    session.click(FIRST)
    shown = session.preview()
    session.options.apply.click()
    first = session.segment("portal")
    assert (painted & shown).any()
    later = np.zeros(SHAPE, bool)
    later[25:28, 25:28, 25:28] = True
    session.put("portal", first | later)
    session.options.more.value = -0.5
    session.wait()
    less = session.preview()
    assert (shown & ~less & ~painted).any()
    session.options.apply.click()
    assert np.array_equal(session.segment("portal"), less | painted | later)
    session.editor.logic.Undo()
    assert np.array_equal(session.segment("portal"), first | later)


def test_after_an_undo_apply_adds(session):
    session.click(FIRST)
    session.options.apply.click()
    session.editor.logic.Undo()
    painted = np.zeros(SHAPE, bool)
    painted[25:28, 25:28, 25:28] = True
    session.put("portal", painted)
    session.options.more.value = -0.5
    session.wait()
    less = session.preview()
    session.options.apply.click()
    assert np.array_equal(session.segment("portal"), less | painted)


@pytest.mark.parametrize("mode", ["OverwriteAllSegments", "OverwriteNone"])
def test_the_editor_s_overwrite_rule_decides_on_other_segments(session, mode):
    session.editor.node.SetOverwriteMode(getattr(session.editor.node, mode))
    other = session.first & (np.indices(SHAPE)[2] > 20)
    session.put("hepatic", other)
    session.click(FIRST)
    shown = session.preview()
    session.options.apply.click()
    assert np.array_equal(session.segment("portal"), shown)
    left = other if mode == "OverwriteNone" else other & ~shown
    assert np.array_equal(session.segment("hepatic"), left)


def test_each_segment_keeps_its_points_and_its_threshold(session):
    """The preview of another segment that was not applied stays, and Apply writes both."""
    session.click(FIRST)
    session.options.more.value = 0.5
    session.wait()
    portal = session.preview(1)
    session.editor.select("hepatic")
    session.wait()
    assert (session.points(), session.options.more.value) == (0, 0)
    assert np.array_equal(session.preview(1), portal)
    session.click(BESIDE)
    assert session.preview(2)[session.second].mean() > 0.95
    assert not session.preview(2)[session.first].any()
    assert session.preview(1)[session.first].mean() > 0.95
    assert "portal" in session.text()
    assert "hepatic" in session.text()
    shown = [session.preview(number) for number in (1, 2)]
    session.options.apply.click()
    for name, labels in zip(("portal", "hepatic"), shown):
        assert np.array_equal(session.segment(name), labels)
    session.editor.select("portal")
    session.wait()
    assert (session.points(), session.options.more.value) == (1, 0.5)
    assert session.preview() is None
    session.editor.logic.Undo()  # one step for both
    assert not session.segment("portal").any()
    assert not session.segment("hepatic").any()
    session.options.apply.click()  # the points still stand
    session.wait()
    assert np.array_equal(session.segment("portal"), shown[0])


def test_errors_are_sentences_in_the_options(session):
    session.click((16, 10, 70))
    assert session.text().startswith("No vessel point lies where it may be edited")
    session.click(FIRST)
    assert session.text().splitlines()[1:] == ["Left out, because nothing may be edited there: v1."]
    assert session.preview()[session.first].mean() > 0.95


def test_a_click_during_a_run_ends_it_and_the_last_one_wins(session):
    work, runs = session.live._run._work, []

    def slow(inputs, progress):
        runs.append(len(inputs[0].points["portal"]))
        end = time.monotonic() + 120
        while len(runs) == 1 and time.monotonic() < end:
            if not progress(0.1):
                raise Cancelled
            time.sleep(0.002)
        return work(inputs, progress)

    session.live._run._work = slow
    session.live.click(world_of(session.volume, FIRST))
    while not runs:
        session.slicer.app.processEvents()
    time.sleep(0.4)
    session.click(BESIDE)
    assert runs == [1, 2]
    assert session.preview()[session.first | session.second].mean() > 0.95


def test_closing_the_scene_ends_everything(session):
    session.click(FIRST)
    session.slicer.mrmlScene.Clear(False)
    session.wait()
    assert not session.options.apply.enabled
    session.live.click((0, 0, 0))  # without a segment: nothing happens
    assert not session.slicer.util.getNodesByClass("vtkMRMLMarkupsFiducialNode")


def test_centrelines_hands_the_segment_over(session, open_panel, monkeypatch):
    panel, opened = open_panel("PotentialSkeleton"), []
    monkeypatch.setattr(session.slicer.util, "selectModule", opened.append)
    session.options.centrelines.click()
    assert (opened, session.text()) == (
        [],
        "The segment is empty: place points and press Apply first.",
    )
    session.click(FIRST)
    session.options.apply.click()
    session.options.centrelines.click()
    assert opened == ["PotentialSkeleton"]
    assert panel.parameters.input is session.segmentation
    assert panel.parameters.segment == "portal"


@pytest.fixture
def view(session):
    view = SliceView()
    view.show(session.volume)
    view.node.JumpSliceByCentering(*world_of(session.volume, FIRST))
    session.editor.observe(view)
    yield view
    view.close()


def test_the_mouse_in_a_slice_view(session, view):
    """Click, Ctrl-click, and a press on a point that is there."""
    at = view.pixel_of(world_of(session.volume, FIRST))
    view.click(*at)
    session.wait()
    (node,) = session.live._clicks.nodes.values()
    position = [0.0, 0.0, 0.0]
    node.GetNthControlPointPositionWorld(0, position)
    pixel = np.linalg.norm(np.subtract(*(view_ras(view, x) for x in (0, 1))))
    assert np.linalg.norm(np.subtract(position, world_of(session.volume, FIRST))) < 2 * pixel
    assert session.preview()[session.first].mean() > 0.95
    view.press(at[0] + 2, at[1])
    view.release(at[0] + 2, at[1])
    assert session.points() == 1  # it would be dragged
    view.interactor.SetControlKey(1)
    event = view.interactor.SetEventInformation
    beside = [round(each) for each in view.pixel_of(world_of(session.volume, BESIDE))]
    event(*beside, 1, 0)
    view.interactor.InvokeEvent("LeftButtonPressEvent")
    event(*beside, 0, 0)
    session.wait()
    assert (session.points(), session.points("background")) == (1, 1)
    view.interactor.SetShiftKey(1)
    view.interactor.InvokeEvent("LeftButtonPressEvent")
    assert (session.points(), session.points("background")) == (1, 1)


def view_ras(view, x):
    return view.node.GetXYToRAS().MultiplyPoint((x, 0, 0, 1))[:3]


def test_nothing_of_the_preview_is_saved(session, tmp_path):
    session.click(FIRST)
    path = str(tmp_path / "scene.mrb")
    assert session.slicer.util.saveScene(path, {})
    session.editor.effect.deactivate()
    session.slicer.mrmlScene.Clear(False)
    session.slicer.util.loadScene(path, {})
    nodes = session.slicer.util.getNodesByClass("vtkMRMLSegmentationNode")
    assert [node.GetName() for node in nodes] == ["vessels"]
    (points,) = session.slicer.util.getNodesByClass("vtkMRMLMarkupsFiducialNode")
    assert points.GetNumberOfControlPoints() == 1
