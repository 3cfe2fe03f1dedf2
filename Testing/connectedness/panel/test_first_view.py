"""What a person meets: the first view, the advice, keys, views that follow, and words."""

import sys
import types

import numpy as np
import pytest
from numba.core import event

from support.mrml_cases import add_seeds, add_volume, array, world_of
from support.panel_cases import point_at, press, settle, table, vessel
from support.places import ROOT

VIEW = (420, 850)  # pixels that Slicer leaves for a module in a window of 1600 x 1000


# --- the first view


def test_the_first_view_needs_no_scrolling_and_opens_at_the_top(done):
    import qt

    area = qt.QScrollArea()
    area.setWidgetResizable(True)
    area.setWidget(done.window)
    area.resize(*VIEW)
    area.show()
    done.process_events()
    ui = done.ui
    assert ui.advancedCollapsibleButton.collapsed
    assert area.verticalScrollBar().maximum == area.horizontalScrollBar().maximum == 0
    rows = (ui.adviceLabel, ui.inputSelector, ui.placeSeedsButton, ui.placeBackgroundButton,
            ui.applyButton, ui.thresholdSlider, ui.advancedCollapsibleButton)  # fmt: skip
    places = [each.mapTo(done.window, each.rect.topLeft()).y() for each in rows]
    assert places == sorted(places)
    ui.advancedCollapsibleButton.collapsed = False
    done.process_events()
    area.verticalScrollBar().value = 500
    done.window.exit()
    done.window.enter()
    assert area.verticalScrollBar().value == 0
    done.area = area  # until the panel is closed


@pytest.mark.parametrize("when", ["before", "after"])
def test_the_volume_in_the_slices_is_chosen(slicer_scene, panel, when):
    """Also one that is loaded later; but no other one in the place of one that was removed."""
    composite = slicer_scene.AddNewNodeByClass("vtkMRMLSliceCompositeNode")
    if when == "before":
        panel.window.exit()
    add_volume(vessel())
    shown = add_volume(vessel())
    composite.SetBackgroundVolumeID(shown.GetID())
    if when == "before":
        panel.window.enter()
    panel.process_events()
    assert panel.parameters.inputVolume is shown
    slicer_scene.RemoveNode(shown)
    composite.SetBackgroundVolumeID(slicer_scene.GetFirstNodeByName("scan").GetID())
    panel.process_events()
    assert panel.parameters.inputVolume is None


def test_every_control_has_a_tooltip(panel):
    import qt
    import slicer

    kinds = (qt.QPushButton, qt.QCheckBox, qt.QComboBox, qt.QSpinBox, qt.QDoubleSpinBox)
    kinds += (slicer.qMRMLNodeComboBox,)
    named = [each for each in vars(panel.ui).values() if isinstance(each, kinds)]
    assert len(named) > 30
    assert [each.name for each in named if not each.toolTip] == []


# --- what to do next


def test_the_advice_goes_from_step_to_step():
    from FuzzyConnectedGPUPanel.wording import Situation, advice

    def says(**situation):
        return advice(Situation(**situation))

    assert "Sample Data" in says()
    assert "key <b>A</b>" in says(has_volume=True)
    assert says(has_volume=True, why_not="Colours.") == "Colours."
    ready = dict(has_volume=True, points=1)
    assert says(**ready).startswith("Press <b>Apply</b>")
    assert says(**ready, running=True).startswith("Segmenting")
    assert says(**ready, millilitres=5.0).endswith("press <b>Apply</b>.")
    there = dict(ready, current=True)
    assert says(**there, millilitres=0.0).startswith("Nothing was found")
    assert "<b>Not vessel</b>" in says(**there, millilitres=5.0)
    assert says(**there, millilitres=5.0, share=0.5).startswith("It leaks: the result fills 50%")
    leaks = says(**there, millilitres=805.0, excess=7)
    assert leaks.startswith("It seems to leak: 805 ml; the automatic choice gives 115 ml.")
    assert says(**there, millilitres=5.0, problem=True).endswith("result of the previous run.")
    assert "before" not in says(**there, problem=True)
    assert says(**there, millilitres=5.0, odd_point="P is unlike.") == "P is unlike."


def test_a_point_that_disagrees_is_named_and_shown(slicer_scene, chosen):
    slice_node = slicer_scene.AddNewNodeByClass("vtkMRMLSliceNode")
    slice_node.SetOrientationToAxial()
    volume, seeds = chosen.parameters.inputVolume, chosen.parameters.seeds
    seeds.AddControlPointWorld(world_of(volume, (7, 8, 9)), "third")
    chosen.process_events()
    assert "unlike" not in chosen.ui.adviceLabel.text
    seeds.AddControlPointWorld(world_of(volume, (2, 2, 2)), "in the liver")
    chosen.process_events()
    assert "in the liver" in chosen.ui.adviceLabel.text
    chosen.ui.adviceLabel.linkActivated.emit("point")
    assert chosen.ui.seedsTable.currentRow() == 3
    matrix = slice_node.GetSliceToRAS()
    center = [matrix.GetElement(row, 3) for row in range(3)]
    assert center == pytest.approx(world_of(volume, (2, 2, 2)))
    seeds.SetNthControlPointPositionWorld(3, (900, 900, 900))
    chosen.process_events()
    assert "outside the volume" in chosen.ui.adviceLabel.text


def test_texts_go_with_what_they_speak_of(chosen):
    parameters = chosen.parameters
    parameters.backgroundSeeds = add_seeds(parameters.inputVolume, [(7, 8, 3)], "background")
    chosen.process_events()
    chosen.click("applyButton")
    assert "at the same place" in chosen.ui.statusLabel.text
    assert chosen.ui.adviceLabel.text.startswith("The last run failed")
    parameters.backgroundSeeds.SetNthControlPointPositionWorld(
        0, world_of(parameters.inputVolume, (2, 2, 2))
    )
    chosen.process_events()
    assert chosen.ui.statusLabel.text == ""
    chosen.click("applyButton")
    assert chosen.ui.statusLabel.text.startswith("Done")
    assert chosen.ui.statusLabel.styleSheet == ""
    parameters.inputVolume = add_volume(vessel())
    chosen.process_events()
    assert chosen.ui.statusLabel.text == ""


# --- points without Place


def test_keys_add_points_where_the_mouse_is(panel):
    panel.parameters.inputVolume = volume = add_volume(vessel())
    point_at(volume, (7, 8, 3))
    press(panel, "A")
    seeds = panel.parameters.seeds
    assert seeds.GetNthControlPointPositionWorld(0) == pytest.approx(world_of(volume, (7, 8, 3)))
    assert not seeds.GetDisplayNode().GetPointLabelsVisibility()  # they would cover the vessel
    point_at(volume, (2, 2, 2))
    press(panel, "N")
    assert panel.parameters.backgroundSeeds.GetNumberOfControlPoints() == 1
    press(panel, "A")
    assert seeds.GetNumberOfControlPoints() == 2
    press(panel, "Z")
    assert seeds.GetNumberOfControlPoints() == 1
    point_at(volume, None)
    press(panel, "A")
    assert seeds.GetNumberOfControlPoints() == 1
    assert "slice" in panel.ui.statusLabel.text


# --- views that follow


def test_the_first_result_is_fitted_into_the_views_and_later_ones_are_not(slicer_scene, chosen):
    slice_node = slicer_scene.AddNewNodeByClass("vtkMRMLSliceNode")
    slice_node.SetOrientationToAxial()
    slice_node.SetFieldOfView(500, 500, 1)
    zoomed = slicer_scene.AddNewNodeByClass("vtkMRMLSliceNode")
    zoomed.SetFieldOfView(8, 8, 1)
    camera = slicer_scene.AddNewNodeByClass("vtkMRMLCameraNode")
    camera.SetPosition(0, 1000, 0)
    chosen.click("applyButton")
    settle(chosen)  # and when its surface has come
    bounds = np.zeros(6)
    chosen.parameters.labelmap.GetRASBounds(bounds)
    center = (bounds[::2] + bounds[1::2]) / 2
    assert np.linalg.norm(np.array(camera.GetFocalPoint()) - center) < 10
    assert slice_node.GetFieldOfView()[0] < 110
    assert zoomed.GetFieldOfView()[0] == 8  # a person has zoomed
    offset = slice_node.GetSliceToRAS().GetElement(2, 3)
    seed = chosen.parameters.seeds.GetNthControlPointPositionWorld(0)
    assert offset == pytest.approx(seed[2])
    camera.SetFocalPoint(1, 2, 3)
    slice_node.SetFieldOfView(300, 300, 1)
    chosen.parameters.border = type(chosen.parameters.border).HALF
    chosen.click("applyButton")
    assert camera.GetFocalPoint() == pytest.approx((1, 2, 3))
    assert slice_node.GetFieldOfView()[0] == pytest.approx(300)


# --- the panel's life


def test_reload_goes_on_where_it_was(done):
    threshold = done.parameters.threshold
    done.widget.onReload()
    done.process_events()
    assert done.parameters.threshold == threshold
    assert len(table(done)) == 2
    listener = event.RecordingListener()
    with event.install_listener("numba:compile", listener):
        done.click("applyButton")
    assert not listener.buffer  # what was compiled outlives a reload
    assert array(done.parameters.labelmap)[7, 8, 3] == 1


def test_the_module_s_own_test_works_the_panel(panel, monkeypatch):
    import slicer

    monkeypatch.setattr(slicer.util, "getModuleWidget", lambda _name: panel.widget)
    test, said = panel.module.FuzzyConnectedGPUTest(), []
    test.delayDisplay = said.append
    test.runTest()
    assert said.count("Test passed") == 3


# --- the phantom in the module Sample Data, on a stand-in for its logic


def test_the_phantom_is_registered_at_the_start_and_made_with_its_seeds(
    open_panel, logic, monkeypatch
):
    import slicer

    from emulators.qt import application

    sources, shown = [], []
    sample_logic = types.SimpleNamespace(
        registerCustomSampleDataCategory=lambda category, title: None,
        registerCustomSampleDataSource=lambda **source: sources.append(source),
    )
    module = types.SimpleNamespace(SampleDataLogic=lambda: sample_logic)
    monkeypatch.setitem(sys.modules, "SampleData", module)
    monkeypatch.setattr(application, "started", [])
    module = open_panel("FuzzyConnectedGPU").module
    (slot,) = application.started
    slot()
    (source,) = sources
    assert source["sampleName"] == "LiverPhantom"
    assert (ROOT / source["thumbnailFileName"]).is_file()
    monkeypatch.setattr(slicer.util, "setSliceViewerLayers", lambda **layers: shown.append(layers))
    monkeypatch.setattr(module, "PHANTOM_SIZE", 48)
    (volume,) = source["customDownloader"](None)
    assert volume.GetImageData().GetDimensions() == (48, 48, 48)
    assert shown[0]["background"] is volume
    assert logic.segment(volume, slicer.util.getFirstNodeByName("Vessels")).volumeMl > 0
