"""The effect on a stand-in for the Segment Editor, whose own logic writes, masks and undoes."""

import sys
import time
import types

import numpy as np
import pytest

from support.mrml_cases import (
    OBLIQUE_LEFT_HANDED,
    add_volume,
    linear_transform,
    rotation_about,
    warp_transform,
    world_of,
)
from support.places import ROOT

pytest.importorskip("slicer", reason="slicer-core is not installed")
from support.slice_view import SliceView

NAME, MODULE = "Vessel from clicks", "SegmentEditorVesselFromClicks"
SHAPE = (32, 40, 40)
FIRST, OTHER, BESIDE = (16, 10, 5), (16, 10, 34), (16, 28, 20)
MIDDLE = (20, 20, 16)  # I, J, K
STRAIGHT = np.diag([-1.0, -1.0, 1.0, 1.0])


@pytest.fixture(scope="module", autouse=True)
def registered():
    """The effect, registered by the hidden module as Slicer starts."""
    pytest.importorskip("PySide6", reason="PySide6-Essentials is not installed")
    from emulators.qt import application

    application.install()
    import slicer

    application.started.clear()
    parent = types.SimpleNamespace(path=str(ROOT / MODULE / f"{MODULE}.py"))
    getattr(__import__(MODULE), MODULE)(parent)
    (start,) = application.started
    start()
    assert parent.hidden
    yield slicer.qSlicerSegmentEditorEffectFactory.instance()
    sys.modules.pop(f"{MODULE}Lib")


class Session:
    """An editor with the effect, on two tubes and a segmentation of two segments."""

    def __init__(self, slicer, ijk_to_ras=STRAIGHT, transform=None):
        from emulators.qt.segment_editor import Editor

        self.slicer = slicer
        k, j, _i = np.indices(SHAPE)
        self.first, self.second = ((k - 16) ** 2 + (j - c) ** 2 <= 5 for c in (10, 28))
        noise = np.random.default_rng(3).normal(0, 6, SHAPE)
        voxels = (100 + 80.0 * (self.first | self.second) + noise).astype(np.float32)
        self.volume = add_volume(voxels, ijk_to_ras, transform)
        self.segmentation = slicer.mrmlScene.AddNewNodeByClass("vtkMRMLSegmentationNode", "vessels")
        self.segmentation.CreateDefaultDisplayNodes()
        self.segmentation.SetReferenceImageGeometryParameterFromVolumeNode(self.volume)
        self.inner = self.segmentation.GetSegmentation()
        for name in ("portal", "hepatic"):
            self.inner.AddEmptySegment(name, name)
        self.editor = Editor(NAME, self.segmentation, self.volume)
        self.editor.select("portal")
        self.editor.effect.activate()
        self.panel = self.editor.effect.self().panel
        self.ui = self.panel.ui

    def click(self, voxel, background=False):
        self.panel.click(world_of(self.volume, voxel), background)
        self.wait()

    def click_and_begin(self, voxel):
        """Click, and return while the vessel is computed."""
        self.panel.click(world_of(self.volume, voxel))
        while not self.panel.run.working:
            self.slicer.app.processEvents()

    def choose(self, segment_id):
        self.editor.select(segment_id)
        self.wait()

    def want(self, more):
        self.ui.moreSlider.value = more
        self.wait()

    def apply(self):
        self.ui.applyButton.click()
        self.wait()

    def undo(self):
        self.editor.logic.Undo()
        self.wait()

    def redo(self):
        self.editor.logic.Redo()
        self.wait()

    def wait(self):
        """Let timers and runs end."""
        end = time.monotonic() + 60
        self.slicer.app.processEvents()
        while self.panel.run.pending:
            assert time.monotonic() < end
            self.slicer.app.processEvents()

    def segment(self, segment_id):
        """Labels of a segment on the volume."""
        if self.inner.GetSegment(segment_id).GetRepresentation("Binary labelmap").IsEmpty():
            return np.zeros(SHAPE, bool)
        array = self.slicer.util.arrayFromSegmentBinaryLabelmap(
            self.segmentation, segment_id, self.volume
        )
        return array > 0

    def put(self, segment_id, mask):
        self.slicer.util.updateSegmentBinaryLabelmapFromArray(
            mask.astype(np.uint8), self.segmentation, segment_id, self.volume
        )
        self.wait()

    def preview(self, number=None):
        """Where the preview shows a vessel (of a number); None without a preview."""
        if self.panel._preview._node is None:
            return None
        found = self.slicer.util.arrayFromVolume(self.panel._preview._node)
        return found > 0 if number is None else found == number

    def text(self):
        return self.panel.ui.sentenceLabel.text

    def points(self, kind="vessel"):
        return len(self.panel.clicks.points(kind).labels)


@pytest.fixture
def make(slicer_scene, monkeypatch):
    """A function that makes a session."""
    import slicer

    errors, made = [], []
    monkeypatch.setattr(sys, "excepthook", lambda _kind, error, _trace: errors.append(error))
    monkeypatch.setattr(slicer.app, "mouseButtons", lambda: 0)

    def make(*arguments):
        made.append(Session(slicer, *arguments))
        return made[-1]

    yield make
    for session in made:
        session.editor.close()
    assert not errors, f"an error in a slot or an observer: {errors[0]!r}"


@pytest.fixture
def session(make):
    return make()


def block(k, j, i):
    """A mask of some voxels, as a brush paints it."""
    mask = np.zeros(SHAPE, bool)
    mask[slice(*k), slice(*j), slice(*i)] = True
    return mask


def test_the_self_test_works_the_effect(registered):
    from segment_editor.EffectSelfTest import EffectSelfTest

    sys.modules[MODULE].SegmentEditorVesselFromClicksTest().runTest()
    test = EffectSelfTest()
    said = []
    test.delayDisplay = said.append
    test.runTest()
    assert said == ["Test passed"]


def test_the_effect_is_registered_once_and_found_by_its_name(registered):
    (effect,) = registered.registeredEffects()
    assert (effect.name, effect.perSegment, effect.requireSegments) == (NAME, True, True)
    assert effect.self().panel is None
    assert not effect.self().icon().isNull()
    assert "Ctrl-click" in effect.self().helpText()
    clone = effect.self().clone()
    assert clone is not effect
    assert clone.pythonSource() == effect.pythonSource()


def test_click_preview_apply(session):
    assert session.preview() is None
    assert not session.ui.applyButton.enabled
    session.click(FIRST)
    shown = session.preview()
    assert shown[session.first].mean() > 0.95
    assert not shown[session.second].any()
    assert not session.segment("portal").any()
    assert session.text().startswith("Preview: ")
    session.apply()
    assert np.array_equal(session.segment("portal"), shown)
    assert session.preview() is None
    assert session.points() == 1
    session.inner.CopySegmentFromSegmentation(session.inner, "portal")
    copy = session.inner.GetNthSegmentID(2)
    session.choose(copy)
    session.click(BESIDE)
    session.apply()
    assert session.segment(copy)[shown].all()  # nothing in a copy is Apply's


def test_apply_replaces_what_it_wrote_keeps_all_else_and_is_one_step_of_undo(session):
    painted = block((14, 19), (8, 13), (2, 4))  # some of it within the vessel
    later = block((25, 28), (25, 28), (25, 28))
    session.put("portal", painted)
    session.click(FIRST)
    shown = session.preview()
    assert (painted & shown).any()
    session.apply()
    assert np.array_equal(session.segment("portal"), shown | painted)
    session.put("portal", shown | painted | later)
    session.want(-0.5)
    less = session.preview()
    assert (shown & ~less & ~painted).any()
    session.apply()
    assert np.array_equal(session.segment("portal"), less | painted | later)
    session.undo()
    assert np.array_equal(session.segment("portal"), shown | painted | later)
    session.redo()
    assert np.array_equal(session.segment("portal"), less | painted | later)


@pytest.mark.parametrize("active", [True, False])
def test_what_is_painted_by_hand_after_undo_took_it_away_stays(session, active):
    session.click(FIRST)
    session.apply()
    first = session.segment("portal")
    session.click(BESIDE)
    session.apply()
    both = session.segment("portal")
    hand = session.second & block((0, 32), (0, 40), (10, 14)) & both
    assert hand.any()
    if not active:
        session.editor.effect.deactivate()
    session.undo()
    session.put("portal", first | hand)
    session.editor.effect.activate()
    session.ui.lastButton.click()
    session.wait()
    shown = session.preview()
    assert not (shown & hand).any()
    session.apply()
    assert np.array_equal(session.segment("portal"), shown | hand)


def test_after_undo_and_redo_apply_replaces_what_it_wrote(session):
    session.click(FIRST)
    first = session.preview()
    session.apply()
    session.click(BESIDE)
    session.apply()
    session.undo()
    session.redo()
    session.ui.lastButton.click()
    session.wait()
    session.apply()  # the leak of the redone Apply is taken away
    assert np.array_equal(session.segment("portal"), first)
    session.want(-0.5)
    less = session.preview()
    session.apply()
    session.undo()
    assert np.array_equal(session.segment("portal"), first)
    session.apply()  # what the undone Apply had taken away is Apply's, too
    assert np.array_equal(session.segment("portal"), less)


def test_other_segments_keep_their_previews_when_one_is_cleared_or_deleted(session):
    session.click(FIRST)
    alone = session.preview()
    session.choose("hepatic")
    session.click(BESIDE)
    session.ui.clearButton.click()
    session.wait()
    assert np.array_equal(session.preview(), alone)
    session.click_and_begin(BESIDE)
    session.inner.RemoveSegment("portal")
    session.panel.follow()
    session.wait()
    assert "portal" not in session.text()
    assert not (session.preview() & alone).any()
    session.inner.RemoveSegment("hepatic")
    session.wait()
    assert session.preview() is None
    assert session.text() == ""


def test_apply_is_remembered_when_another_segment_is_chosen_before_it_is_done(session):
    session.click_and_begin(FIRST)
    session.panel.click(world_of(session.volume, BESIDE))  # it waits for the run of this one
    session.ui.applyButton.click()
    session.choose("hepatic")
    assert session.segment("portal")[session.first | session.second].mean() > 0.95
    assert not session.segment("hepatic").any()


def test_a_preview_returns_with_the_effect_and_replaces_what_was_applied_before(session):
    session.click(FIRST)
    session.apply()
    session.want(-0.5)
    less = session.preview()
    session.editor.effect.deactivate()
    assert session.preview() is None
    assert not session.ui.centrelinesButton.enabled
    session.editor.effect.activate()
    session.wait()
    assert np.array_equal(session.preview(), less)
    session.apply()
    assert np.array_equal(session.segment("portal"), less)


@pytest.mark.parametrize("change", ["voxels", "volume", "geometry", "transform"])
def test_with_other_voxels_the_preview_is_made_again_and_apply_adds(session, change):
    session.click(FIRST)
    session.apply()
    first = session.segment("portal")
    session.click_and_begin(BESIDE)
    voxels = session.slicer.util.arrayFromVolume(session.volume).copy()
    voxels[:, :, 20:] = 100
    if change == "volume":
        session.editor.node.SetAndObserveSourceVolumeNode(add_volume(voxels, STRAIGHT))
    if change == "voxels":
        session.slicer.util.updateVolumeFromArray(session.volume, voxels)
    if change == "geometry":
        set_geometry(session, STRAIGHT, (0, 39, 0, 39, 0, 30))
        session.editor.effect.self().referenceGeometryChanged()
    if change == "transform":
        moved = linear_transform(0, (1, 1, 1), (2, 0, 0))
        session.volume.SetAndObserveTransformNodeID(moved.GetID())
    session.panel.follow()
    session.apply()
    if change == "transform":
        session.volume.SetAndObserveTransformNodeID(None)
    found = session.segment("portal")
    assert not (first & ~found).any()
    assert found[session.second].any()
    if change in ("voxels", "volume"):
        assert not found[session.second & (np.indices(SHAPE)[2] > 22)].any()


@pytest.mark.parametrize("mode", ["OverwriteAllSegments", "OverwriteNone"])
def test_the_editor_s_overwrite_rule_decides_on_other_segments(session, mode):
    session.editor.node.SetOverwriteMode(getattr(session.editor.node, mode))
    other = session.first & (np.indices(SHAPE)[2] > 20)
    session.put("hepatic", other)
    session.click(FIRST)
    shown = session.preview()
    session.apply()
    assert np.array_equal(session.segment("portal"), shown)
    left = other if mode == "OverwriteNone" else other & ~shown
    assert np.array_equal(session.segment("hepatic"), left)


def test_each_segment_keeps_its_points_and_its_threshold(session):
    """The preview of another segment that was not applied stays, and Apply writes both."""
    session.click(FIRST)
    session.want(0.5)
    portal = session.preview(1)
    session.choose("hepatic")
    assert (session.points(), session.ui.moreSlider.value) == (0, 0)
    assert np.array_equal(session.preview(1), portal)
    session.click(BESIDE)
    assert session.preview(2)[session.second].mean() > 0.95
    assert not session.preview(2)[session.first].any()
    assert session.preview(1)[session.first].mean() > 0.95
    assert "portal" in session.text()
    assert "hepatic" in session.text()
    shown = [session.preview(number) for number in (1, 2)]
    session.apply()
    for name, labels in zip(("portal", "hepatic"), shown):
        assert np.array_equal(session.segment(name), labels)
    session.choose("portal")
    assert (session.points(), session.ui.moreSlider.value) == (1, 0.5)
    assert session.preview() is None
    session.undo()  # one step for both
    assert not session.segment("portal").any()
    assert not session.segment("hepatic").any()
    session.apply()  # the points still stand
    assert np.array_equal(session.segment("portal"), shown[0])
    session.editor.select("hepatic")
    session.click(BESIDE)  # before anything else has followed the selection
    assert session.points() == 2


def test_errors_are_sentences_in_the_options(session):
    session.click((16, 10, 70))
    assert session.text().startswith("No vessel point lies where it may be edited")
    session.click(FIRST)
    assert session.text().splitlines()[1:] == ["Left out, because nothing may be edited there: v1."]
    assert session.preview()[session.first].mean() > 0.95


def test_closing_the_scene_ends_everything(session):
    session.click(FIRST)
    session.slicer.mrmlScene.Clear(False)
    session.wait()
    assert not session.ui.applyButton.enabled
    session.panel.click((0, 0, 0))  # without a segment: nothing happens
    assert not session.slicer.util.getNodesByClass("vtkMRMLMarkupsFiducialNode")


def test_centrelines_hands_the_segment_over(session, open_panel, monkeypatch):
    panel, opened = open_panel("PotentialSkeleton"), []
    monkeypatch.setattr(session.slicer.util, "selectModule", opened.append)
    session.choose("hepatic")
    session.click(FIRST)
    for empty in ("hepatic", "portal"):  # without any image; beside a segment that has voxels
        session.choose(empty)
        session.ui.centrelinesButton.click()
        assert session.text() == "The segment is empty: place points and press Apply first."
        session.choose("hepatic")
        assert empty == "hepatic" or session.text() == ""
        session.apply()
    assert not opened
    session.ui.centrelinesButton.click()
    assert opened == ["PotentialSkeleton"]
    assert panel.parameters.input is session.segmentation
    assert panel.parameters.segment == "hepatic"


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
    (node,) = session.panel.clicks.nodes.values()
    position = [0.0, 0.0, 0.0]
    node.GetNthControlPointPositionWorld(0, position)
    pixel = np.linalg.norm([view.node.GetXYToRAS().GetElement(row, 0) for row in range(3)])
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


def test_points_and_threshold_are_saved_with_the_scene_and_the_preview_is_not(session, tmp_path):
    from SegmentEditorVesselFromClicksPanel.editor_run import Clicks

    session.choose("hepatic")
    session.click(FIRST)
    session.click(BESIDE, background=True)
    session.want(-0.35)
    places = [world_of(session.volume, voxel) for voxel in (FIRST, BESIDE)]
    path = str(tmp_path / "scene.mrb")
    assert session.slicer.util.saveScene(path, {})
    session.editor.effect.deactivate()
    session.slicer.mrmlScene.Clear(False)
    session.slicer.util.loadScene(path, {})
    (loaded,) = session.slicer.util.getNodesByClass("vtkMRMLSegmentationNode")
    assert loaded.GetName() == "vessels"
    assert session.slicer.util.getNodesByClass("vtkMRMLLabelMapVolumeNode") == []
    again = Clicks(loaded, "hepatic")
    found = [again.points(kind).world for kind in ("vessel", "background")]
    np.testing.assert_allclose(np.concatenate(found), places, atol=1e-4)
    assert again.more == -0.35
    again.remove_last()
    assert again.points("background").labels == []
    assert Clicks(loaded, "portal").nodes == {}


# --- which voxels the vessel has


def test_it_is_what_the_module_segments(session):
    """On the volume's own voxels, with nothing masked, the effect and the module agree."""
    from FuzzyConnectedGPULib import segment

    leak = (16, 28, 6)
    session.click(FIRST)
    session.click(BESIDE)
    session.click(leak, background=True)
    assert not session.preview()[leak]
    voxels = session.slicer.util.arrayFromVolume(session.volume)
    spacing = session.volume.GetSpacing()[::-1]
    found = segment(voxels, [FIRST, BESIDE], background_seeds=[leak], spacing=spacing, device="cpu")
    assert np.array_equal(session.preview(), found.labels)


@pytest.mark.parametrize("transforms", ["none", "volume", "segmentation", "both", "bent"])
@pytest.mark.parametrize("geometry", ["own", "cropped", "turned"])
def test_any_transform_and_any_geometry(make, transforms, geometry):
    """The same vessel, wherever volume and segmentation hang and whatever voxels are edited."""
    from FuzzyVesselCoreLib.mrml.reading import mask_of

    of_volume = linear_transform() if transforms in ("volume", "both") else None
    of_volume = warp_transform(2.0) if transforms == "bent" else of_volume
    session = make(OBLIQUE_LEFT_HANDED, of_volume)
    if transforms in ("segmentation", "both"):
        turned = linear_transform(-40, (0.9, 1.2, 1.0), (-4, 3, 8))
        session.segmentation.SetAndObserveTransformNodeID(turned.GetID())
    session.segmentation.SetReferenceImageGeometryParameterFromVolumeNode(session.volume)
    if geometry == "cropped":
        set_geometry(session, frame_of(session), (3, 36, 2, 33, 5, 27))
    if geometry == "turned":
        middle = np.eye(4)
        middle[:3, 3] = MIDDLE
        turn = middle @ rotation_about((1, 2, 3), 30) @ np.linalg.inv(middle)
        set_geometry(session, frame_of(session) @ turn, (0, 39, 0, 39, 0, 31))
    session.click(FIRST)
    session.click(OTHER)
    assert session.text().startswith("Preview: ")
    assert "\n" not in session.text()  # no point is left out
    found = mask_of(session.panel._preview._node, session.volume, SHAPE)
    inner = np.zeros(SHAPE, bool)
    inner[8:24, 6:34, 12:28] = True  # in all of the geometries
    k, j, _i = np.indices(SHAPE)
    near_first = (k - 16) ** 2 + (j - 10) ** 2 <= 16
    assert found[session.first & inner].mean() > 0.9
    assert not found[~near_first & inner].any()


def set_geometry(session, ijk_to_segmentation, extent):
    """Let the segmentation have a geometry of its own."""
    from FuzzyVesselCoreLib.mrml.reading import matrix_from_array

    convert, image = session.slicer.vtkSegmentationConverter, session.slicer.vtkOrientedImageData()
    image.SetExtent(extent)
    image.SetGeometryFromImageToWorldMatrix(matrix_from_array(ijk_to_segmentation))
    session.inner.SetConversionParameter(
        convert.GetReferenceImageGeometryParameterName(), convert.SerializeImageGeometry(image)
    )


def frame_of(session):
    """I, J, K of the volume to the segmentation's frame, at the volume's middle."""
    from FuzzyVesselCoreLib.mrml.reading import ijk_to_ras, transform_between, transformed

    transform = transform_between(session.volume, session.segmentation)

    def place(ijk):
        return transformed(transform, (ijk_to_ras(session.volume) @ [*ijk, 1])[:3])[0]

    middle, matrix = np.array(MIDDLE), np.eye(4)
    for axis in range(3):
        step = np.eye(3)[axis]
        matrix[:3, axis] = (place(middle + step) - place(middle - step)) / 2
    matrix[:3, 3] = place(middle) - matrix[:3, :3] @ middle
    return matrix


def test_paths_stay_inside_the_editable_area(session):
    """A gap in the area ends the vessel: what lies behind it is not reached and then kept."""
    area = np.ones(SHAPE, bool)
    area[:, :, 20:22] = False
    session.inner.AddEmptySegment("liver", "liver")
    session.put("liver", area)
    node, inside = session.editor.node, session.slicer.vtkMRMLSegmentationNode
    node.SetMaskMode(inside.EditAllowedInsideSingleSegment)
    node.SetMaskSegmentID("liver")
    session.click(FIRST)
    labels = session.preview()
    assert labels[:, :, :20][session.first[:, :, :20]].mean() > 0.9
    assert not labels[:, :, 20:].any()
    session.click((16, 10, 21))
    assert "nothing may be edited there: v2" in session.text()


def test_an_intensity_range_of_vessels_alone_keeps_their_contrast(session):
    """The range bounds the paths; tissue and noise are still those of the whole area."""
    session.click(FIRST)
    whole = session.preview()
    session.editor.node.SourceVolumeIntensityMaskOn()
    session.editor.node.SetSourceVolumeIntensityMaskRange(150, 300)
    session.wait()
    labels, voxels = session.preview(), session.slicer.util.arrayFromVolume(session.volume)
    assert not (labels & (voxels < 150)).any()
    both = np.count_nonzero(labels & whole & (voxels >= 150))
    assert 2 * both / (labels.sum() + (whole & (voxels >= 150)).sum()) > 0.95


def test_vessels_that_touch_are_divided_among_the_segments_with_points(session):
    from support.crossing_vessels import crossing

    session.slicer.util.updateVolumeFromArray(session.volume, crossing().astype(np.float32))
    session.segmentation.SetReferenceImageGeometryParameterFromVolumeNode(session.volume)
    session.panel.follow()
    session.click((6, 6, 2))
    together = session.preview()
    session.choose("hepatic")
    session.click((6, 15, 38))
    portal, hepatic = session.preview(1), session.preview(2)
    assert portal[6, 6, 2]
    assert hepatic[6, 15, 38]
    assert together[6, 15, 38]  # alone, the first has both
    assert (portal | hepatic).sum() > 0.7 * together.sum()
    session.click((6, 15, 20))
    session.choose("portal")
    session.click((6, 15, 20), background=True)  # a point of the other one is not background
    assert session.preview(1)[6, 6, 2]
