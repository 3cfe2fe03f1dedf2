"""Volumes that cannot be segmented, or hardly: the panel says why, and nothing is raised."""

import numpy as np
import pytest

from support.mrml_cases import add_seeds, add_volume

pytest.importorskip("PySide6", reason="PySide6-Essentials is not installed")
pytest.importorskip("slicer", reason="slicer-core is not installed")

SHAPE = (14, 16, 18)
SEEDS = [(7, 8, 3), (7, 8, 14)]


def vessel(scale=1.0):
    rng = np.random.default_rng(4)
    k, j, _ = np.indices(SHAPE)
    tube = (k - 7) ** 2 + (j - 8) ** 2 <= 9
    return ((np.where(tube, 200, 90) + rng.normal(0, 9, SHAPE)) * scale).astype(np.float64)


@pytest.fixture
def panel(open_panel):
    return open_panel("FuzzyConnectedGPU")


def choose(panel, volume):
    panel.parameters.inputVolume = volume
    panel.parameters.seeds = add_seeds(volume, SEEDS)
    panel.process_events()


def array(node):
    import slicer

    return slicer.util.arrayFromVolume(node)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("automatic", [True, False])
def test_a_volume_without_a_finite_voxel(panel, value, automatic):
    """An uncaught InputError in an observer, today."""
    panel.parameters.automaticAffinity = automatic
    choose(panel, add_volume(np.full(SHAPE, value, np.float32)))
    assert panel.take_errors() == []
    panel.ui.applyButton.click()
    assert "finite" in panel.ui.statusLabel.text + panel.ui.applyButton.toolTip
    panel.take_errors()
    choose(panel, add_volume(vessel()))
    panel.click("applyButton")
    assert array(panel.parameters.labelmap)[7, 8, 3] == 1


@pytest.mark.parametrize("scale", [1e9, 1e30, 1e-9])
def test_intensities_of_any_size(panel, scale):
    """`ValueError: Value must be within range`, and then a run with mean 0."""
    choose(panel, add_volume(vessel(scale)))
    assert panel.take_errors() == []
    panel.click("applyButton")
    labels = array(panel.parameters.labelmap)
    assert labels[7, 8, 3] == 1
    assert labels[2, 2, 2] == 0


@pytest.mark.parametrize("scale", [1e9, 1e30])
def test_intensities_that_the_affinity_cannot_take(panel, scale):
    panel.parameters.model = type(panel.parameters.model).AFFINITY
    choose(panel, add_volume(vessel(scale)))
    assert panel.take_errors() == []
    assert not panel.ui.applyButton.enabled
    assert "scale the volume" in panel.ui.applyButton.toolTip


@pytest.mark.parametrize("image", [None, "empty"])
def test_a_volume_without_voxels(slicer_scene, panel, image):
    """`GetDimensions` of None."""
    import vtk

    choose(panel, add_volume(vessel()))
    panel.click("applyButton")
    hollow = slicer_scene.AddNewNodeByClass("vtkMRMLScalarVolumeNode", "hollow")
    if image:
        hollow.SetAndObserveImageData(vtk.vtkImageData())
    panel.parameters.inputVolume = hollow
    panel.process_events()
    assert not panel.ui.applyButton.enabled
    panel.parameters.sceneVolume = hollow
    panel.parameters.roi = slicer_scene.AddNewNodeByClass("vtkMRMLMarkupsROINode")
    panel.parameters.firstResult = panel.parameters.labelmap
    panel.ui.thresholdSlider.value = 0.3
    panel.process_events()
    assert panel.take_errors() == []


@pytest.mark.parametrize("name", ["inputVolume", "sceneVolume", "labelmap", "all"])
def test_nodes_that_lose_their_voxels(panel, name):
    parameters = panel.parameters
    choose(panel, add_volume(vessel()))
    panel.click("applyButton")
    names = ("inputVolume", "sceneVolume", "labelmap") if name == "all" else (name,)
    for each in names:
        getattr(parameters, each).SetAndObserveImageData(None)
    panel.process_events()
    panel.ui.thresholdSlider.value = 0.3
    panel.process_events()
    assert panel.take_errors() == []
    assert panel.ui.applyButton.enabled == ("inputVolume" not in names)


def test_the_logic_refuses_a_volume_without_voxels_by_name(slicer_scene, panel):
    from FuzzyVesselCoreLib.errors import InputError

    choose(panel, add_volume(vessel()))
    panel.click("applyButton")
    logic, seeds = panel.widget.logic, panel.parameters.seeds
    hollow = slicer_scene.AddNewNodeByClass("vtkMRMLScalarVolumeNode", "hollow")
    wider = logic.thresholdScene(panel.parameters.sceneVolume, 0.1).labelmapNode
    for ask in (
        lambda: logic.estimateAffinity(hollow, seeds),
        lambda: logic.memoryNeed(hollow),
        lambda: logic.seedRows(hollow, seeds),
        lambda: logic.difference(panel.parameters.labelmap, wider, hollow),
    ):
        with pytest.raises(InputError, match="'hollow' holds no voxels"):
            ask()


@pytest.mark.parametrize("moment", ["first", "later"])
def test_a_scene_that_is_closed_in_the_middle_of_a_run(slicer_scene, panel, monkeypatch, moment):
    """VTK said errors of nodes that were gone."""
    import slicer

    import FuzzyVesselCoreLib.widgets.run as run
    from fuzzy_vessel.slicer_host.headless import vtk_messages

    choose(panel, add_volume(vessel()))
    panel.parameters.backgroundSeeds = add_seeds(panel.parameters.inputVolume, [(2, 2, 9)], "b")
    monkeypatch.setattr(run, "ROUND", 0.0)
    if moment == "later":
        panel.click("applyButton")
        panel.parameters.cut = 0.01
    handle, calls = slicer.app.processEvents, []

    def process_events(*flags):
        handle(*flags)
        calls.append(1)
        if len(calls) == 2:
            slicer_scene.Clear(False)

    monkeypatch.setattr(slicer.app, "processEvents", process_events)
    with vtk_messages() as said:
        panel.ui.applyButton.click()
        handle()
    assert len(calls) > 1
    assert panel.take_errors() == []
    assert [each for each in said if "propagateSizeHints" not in each] == []
    assert panel.parameters.inputVolume is None
    assert not panel.widget.panel.running.active
