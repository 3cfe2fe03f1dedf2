"""The part of Slicer's parameter-node wrapper that binds parameters to widgets.

The stand-in for the wrapper (`emulators.parameter_nodes`) knows no widgets; with Slicer's own
wrapper (see `application`) this file is not used.
"""

import typing

import ctk
import qt
import slicer
import vtk

NUMBERS = (qt.QSpinBox, qt.QDoubleSpinBox, ctk.ctkSliderWidget)


def _node_classes(field):
    """The classes of nodes that a parameter may name."""
    kinds = typing.get_args(field.type) or (field.type,)
    return [each for each in kinds if issubclass(each, slicer.vtkMRMLNode)]


def _plain(widget, signal, name):
    return (
        getattr(widget, signal),
        lambda: getattr(widget, name),
        lambda value: setattr(widget, name, value),
    )


def _combo_box(widget, field):
    """A combo box is filled with the labels of an enumeration, or with choices."""
    kind = field.type
    values = list(kind) if hasattr(kind, "__members__") else list(field.checks[0].choices)
    labels = [value.label() if hasattr(value, "label") else getattr(value, "name", value)
              for value in values]  # fmt: skip
    widget.clear()
    widget.addItems([str(label) for label in labels])
    return (
        widget.currentIndexChanged,
        lambda: values[widget.currentIndex],
        lambda value: widget.setCurrentIndex(values.index(value)),
    )


def _number(widget, field):
    for bounds in (each for each in field.checks if hasattr(each, "minimum")):
        widget.minimum, widget.maximum = bounds.minimum, bounds.maximum
    signal, read, write = _plain(widget, "valueChanged", "value")
    return signal, lambda: field.type(read()), lambda value: write(field.type(value))


def _connector(widget, field):
    """Signal, function that reads, function that writes; as Slicer's connectors do it."""
    kind = type(widget)
    if kind in NUMBERS and field.type in (int, float):
        return _number(widget, field)
    if kind is qt.QComboBox:
        return _combo_box(widget, field)
    if kind is qt.QCheckBox and field.type is bool:
        return _plain(widget, "stateChanged", "checked")
    if kind is slicer.qMRMLNodeComboBox and _node_classes(field):
        widget.nodeTypes = [each().GetClassName() for each in _node_classes(field)]
        return widget.currentNodeChanged, widget.currentNode, widget.setCurrentNode
    raise RuntimeError(f"no connector for {field.type} and a {kind.__name__}")


def give_gui(wrapper):
    """Give a class made by the stand-in's `parameterNodeWrapper` the methods for widgets."""

    def connectGui(self, widget):
        named = {
            each.property("SlicerParameterName"): each for each in widget.findChildren(qt.QWidget)
        }
        return _Binding(
            self,
            [
                (name, *_connector(each, self.allParameters[name]))
                for name, each in named.items()
                if name
            ],
        )

    wrapper.connectGui = connectGui
    wrapper.disconnectGui = lambda self, binding: binding.end()


class _Binding:
    """Widgets that show parameters, and parameters that follow widgets."""

    def __init__(self, parameters, connected):
        self._parameters, self._connected = parameters, connected
        self._showing, self._slots = False, []
        self._show()
        for name, signal, read, _write in connected:
            slot = self._follower(name, read)
            signal.connect(slot)
            self._slots.append((signal, slot))
        modified = vtk.vtkCommand.ModifiedEvent
        self._tag = parameters.AddObserver(modified, lambda *_: self._show())

    def _follower(self, name, read):
        def follow(*_values):
            if not self._showing:
                setattr(self._parameters, name, read())

        return follow

    def _show(self):
        if self._showing:
            return
        self._showing = True
        try:
            for name, _signal, _read, write in self._connected:
                write(getattr(self._parameters, name))
        finally:
            self._showing = False

    def end(self):
        for signal, slot in self._slots:
            signal.disconnect(slot)
        self._parameters.RemoveObserver(self._tag)
