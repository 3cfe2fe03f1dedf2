"""Loads `.ui` files as Qt's own loader does, with stand-ins for Slicer's widgets.

`<connections>` are made here, as MRML scenes and nodes cannot travel through PySide6's signals by
their C++ types: what a file does not connect stays unconnected, as in Slicer.
"""

import functools
import xml.etree.ElementTree as ElementTree

from PySide6 import QtCore, QtUiTools, QtWidgets

from . import table


@functools.cache
def _loader_of_stand_ins():
    """A loader that knows the stand-ins, and their names; it takes longer to make than a panel."""
    from .stand_ins import WIDGETS

    loader = QtUiTools.QUiLoader()
    for cls in WIDGETS:
        loader.registerCustomWidget(cls)
    return loader, {cls.__name__ for cls in WIDGETS}


class UiLoader(QtUiTools.QUiLoader):
    """`qt.QUiLoader`."""

    def load(self, device, parent=None):
        root = ElementTree.fromstring(bytes(device.readAll()))
        unknown = {each.text for each in root.iterfind("customwidgets/customwidget/class")}
        loader, known = _loader_of_stand_ins()
        unknown -= known
        if unknown:
            raise RuntimeError(f"there is no stand-in for {', '.join(sorted(unknown))}")
        connections = [
            [connection.findtext(tag) for tag in ("sender", "signal", "receiver", "slot")]
            for connection in root.iterfind("connections/connection")
        ]
        for part in root.findall("connections"):
            root.remove(part)
        buffer = QtCore.QBuffer()
        buffer.setData(ElementTree.tostring(root))
        buffer.open(QtCore.QIODevice.OpenModeFlag.ReadOnly)
        widget = loader.load(buffer, parent)
        widgets = {each.objectName: each for each in widget.findChildren(QtWidgets.QWidget)}
        widgets[widget.objectName] = widget
        for sender, signal, receiver, slot in connections:
            self._check(widgets[receiver], slot)
            widgets[sender].connect(signal, widgets[receiver], slot)
        return widget

    @staticmethod
    def _check(receiver, slot):
        known = [
            method
            for name in table.bases_of(type(receiver).__name__)
            for method in table.widgets()[name]["methods"]
        ]
        if slot not in known and type(receiver).staticMetaObject.indexOfSlot(slot) < 0:
            raise RuntimeError(f"{receiver.objectName} has no slot {slot}")
