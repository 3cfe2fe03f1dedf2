"""The plain panel on widgets that only remember; the real ones exist in Slicer alone."""

import contextlib
import sys
import types

import numpy as np
import pytest

from mrml_cases import add_seeds, add_volume


class Widget:
    """Takes the properties that it is made for, and remembers what is called."""

    properties = ()

    def __init__(self, text=""):
        self.__dict__.update(text=text, enabled=True, slots={}, children=[])

    def __setattr__(self, name, value):
        assert name in (*self.properties, "text", "enabled"), f"{type(self).__name__}.{name}"
        self.__dict__[name] = value

    def connect(self, signal, slot):
        self.slots[signal] = slot

    def add(self, *arguments):
        self.children.append(arguments)

    addRow = addLayout = addStretch = setMRMLScene = add


def widget_class(name, *properties):
    return type(name, (Widget,), {"properties": properties})


@pytest.fixture
def panel(slicer_scene, monkeypatch):
    """The panel after setup(), on stand-ins for Qt, CTK and Slicer's widgets."""
    import slicer

    import FuzzyConnectedGPU as module

    qt = types.ModuleType("qt")
    qt.QFormLayout = widget_class("QFormLayout")
    qt.QCheckBox = widget_class("QCheckBox", "checked")
    qt.QPushButton = widget_class("QPushButton")
    qt.QLabel = widget_class("QLabel", "wordWrap")
    ctk = types.ModuleType("ctk")
    ctk.ctkSliderWidget = widget_class("ctkSliderWidget", "maximum", "decimals", "singleStep")
    combo = widget_class("qMRMLNodeComboBox", "nodeTypes", "addEnabled", "noneEnabled")
    monkeypatch.setitem(sys.modules, "qt", qt)
    monkeypatch.setitem(sys.modules, "ctk", ctk)
    monkeypatch.setattr(slicer, "qMRMLNodeComboBox", combo, raising=False)
    monkeypatch.setattr(slicer.util, "tryWithErrorDisplay", shown_errors)
    monkeypatch.setattr(slicer.util, "setSliceViewerLayers", lambda **layers: None)
    wrapper = module.FuzzyConnectedGPUParameterNode
    monkeypatch.setattr(wrapper, "connectParametersToGui", connected, raising=False)
    monkeypatch.setattr(wrapper, "disconnectGui", lambda self, tag: None, raising=False)
    parent = types.SimpleNamespace(isEntered=True, layout=Widget)
    widget = module.FuzzyConnectedGPUWidget(parent)
    widget.setup()
    yield widget
    widget.cleanup()


def connected(choices, mapping):
    assert set(mapping) <= set(choices.allParameters)
    return 1


errors = []


@contextlib.contextmanager
def shown_errors(message, waitCursor=False):
    """As in Slicer: an error is shown and ends there."""
    errors.clear()
    try:
        yield
    except Exception as error:
        errors.append(str(error))


@pytest.fixture
def choices(panel):
    """The panel's choices with a volume and seeds."""
    rng = np.random.default_rng(0)
    array = rng.normal(50, 5, (12, 12, 12)).astype(np.float32)
    array[5:8, 5:8] += 100
    choices = panel.logic.getParameterNode()
    choices.inputVolume = add_volume(array)
    choices.seeds = add_seeds(choices.inputVolume, [(6, 6, 6)])
    return choices


def test_apply_needs_a_volume_and_seeds(panel, choices):
    assert panel.applyButton.enabled
    choices.seeds = None
    assert not panel.applyButton.enabled


def test_the_slider_rests_while_the_threshold_is_automatic(panel, choices):
    assert not panel.thresholdSlider.enabled
    choices.automaticThreshold = False
    assert panel.thresholdSlider.enabled


def test_apply_segments_and_fills_the_same_nodes_again(slicer_scene, panel, choices):
    panel.applyButton.slots["clicked(bool)"](True)
    assert errors == []
    assert " ml at threshold " in panel.resultLabel.text
    assert panel.applyButton.text == "Apply"
    nodes = slicer_scene.GetNumberOfNodes()
    panel.onApply()
    assert slicer_scene.GetNumberOfNodes() == nodes
    assert choices.labelmap.GetName() == "scan vessels"


def test_a_click_during_the_run_cancels_it(slicer_scene, panel, choices, monkeypatch):
    import slicer

    before = slicer_scene.GetNumberOfNodes()
    monkeypatch.setattr(slicer.app, "processEvents", panel.onApply, raising=False)
    panel.onApply()
    assert panel.resultLabel.text == "Cancelled."
    assert slicer_scene.GetNumberOfNodes() == before
    assert panel.applyButton.text == "Apply"


def test_errors_are_shown(panel, choices):
    choices.seeds.RemoveAllControlPoints()
    panel.onApply()
    assert "place at least one seed" in errors[0]
    assert panel.applyButton.text == "Apply"


def test_closing_the_scene_during_the_run_ends_it(slicer_scene, panel, choices, monkeypatch):
    import slicer

    def close():
        if slicer_scene.GetNumberOfNodesByClass("vtkMRMLVolumeNode"):
            slicer_scene.Clear(False)

    monkeypatch.setattr(slicer.app, "processEvents", close, raising=False)
    panel.onApply()
    assert errors == []
    assert panel.resultLabel.text == "Cancelled."
    assert slicer_scene.GetNumberOfNodesByClass("vtkMRMLVolumeNode") == 0
    assert panel.logic.getParameterNode().inputVolume is None
