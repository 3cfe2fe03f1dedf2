"""Widgets that only remember, for the tests of the panels; the real ones exist in Slicer alone."""

import contextlib
import sys
import types


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


def connected(choices, mapping):
    """In the place of `connectParametersToGui`: every parameter must be one of the choices."""
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


def made_panel(module, monkeypatch):
    """A module's panel after setup(), on stand-ins for Qt, CTK and Slicer's widgets."""
    import slicer

    qt = types.ModuleType("qt")
    qt.QFormLayout = widget_class("QFormLayout")
    qt.QCheckBox = widget_class("QCheckBox", "checked")
    qt.QLineEdit = widget_class("QLineEdit")
    qt.QSpinBox = widget_class("QSpinBox", "value")
    qt.QDoubleSpinBox = widget_class("QDoubleSpinBox", "value", "decimals", "singleStep")
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
    wrapper = getattr(module, f"{module.__name__}ParameterNode")
    monkeypatch.setattr(wrapper, "connectParametersToGui", connected, raising=False)
    monkeypatch.setattr(wrapper, "disconnectGui", lambda self, tag: None, raising=False)
    parent = types.SimpleNamespace(isEntered=True, layout=Widget)
    widget = getattr(module, f"{module.__name__}Widget")(parent)
    widget.setup()
    return widget
