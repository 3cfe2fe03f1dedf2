"""A module's panel as Slicer makes it, for tests."""

import importlib
import sys
import types

from PySide6.QtWidgets import QWidget

from support.places import ROOT

WIDTH = 420  # pixels, about that of Slicer's module panel
ARROW = 16  # pixels of a sorted column's arrow


class Panel:
    """A panel that is open, made as `qSlicerScriptedLoadableModuleWidget` makes it.

    Attributes
    ----------
    window : qSlicerScriptedLoadableModuleWidget
        What Slicer puts the panel into.
    widget : ScriptedLoadableModuleWidget
        The module's own object; after Reload another one.
    module : module
        The module's file.
    errors : list of BaseException
        What was raised in slots, observers and events since the last look; a test that expects
        some takes them by `take_errors`, any others fail it at its end.
    """

    def __init__(self, name, errors):
        import slicer

        self.name, self.errors = name, errors
        path = ROOT / name / f"{name}.py"
        representation = types.SimpleNamespace(
            name=name, path=str(path), widgetRepresentation=lambda: self.window
        )
        representation.parent = representation
        setattr(slicer.modules, name.lower(), representation)
        getattr(self.module, name)(types.SimpleNamespace(path=str(path)))
        self.window = slicer.qSlicerScriptedLoadableModuleWidget()
        self.window._make = self._make
        self.window.setMRMLScene(slicer.mrmlScene)
        self.window.resize(WIDTH, 900)
        self.window.reload()
        self.window.enter()
        self.window.show()
        self.process_events()

    def _make(self, parent):
        import slicer

        wrapper = self._wrapper()
        if not hasattr(wrapper, "connectGui"):
            from .parameter_gui import give_gui

            give_gui(wrapper)
        widget = getattr(self.module, f"{self.name}Widget")(parent)
        setattr(slicer.modules, f"{self.name}Widget", widget)
        return widget

    def _wrapper(self):
        """The class of the module's parameters, in its own file or in a package."""
        name = f"{self.name}ParameterNode"
        if hasattr(self.module, name):
            return getattr(self.module, name)
        return getattr(importlib.import_module(f"{self.name}MRML.parameters"), name)

    @property
    def module(self):
        return sys.modules.get(self.name) or importlib.import_module(self.name)

    @property
    def widget(self):
        return self.window.self()

    @property
    def ui(self):
        """The widgets of the `.ui` file by their names."""
        return self.widget.ui

    @property
    def parameters(self):
        """The module's parameter node, wrapped."""
        return self.widget.logic.getParameterNode()

    def click(self, name):
        """Press and release a button of the `.ui` file, as the mouse does; it must be enabled."""
        button = getattr(self.ui, name)
        assert button.isEnabled(), f"{name} is disabled: {button.toolTip}"
        button.click()
        self.process_events()

    def process_events(self):
        import slicer

        slicer.app.processEvents()

    def take_errors(self):
        """Texts of the errors since the last look."""
        texts = [str(error) for error in self.errors]
        self.errors.clear()
        return texts

    def grab(self, path=None, width=WIDTH):
        """A picture of the panel at its natural height, as QImage; written to `path` if given."""
        self.window.resize(width, 10)
        self.process_events()
        self.window.resize(width, self.window.sizeHint.height())
        self.process_events()
        picture = self.window.grab()
        if path is not None:
            assert picture.save(str(path)), path
        return picture.toImage()

    def close(self):
        """As when Slicer ends."""
        import slicer

        self.window.exit()
        self.widget.cleanup()
        self.window.hide()
        for child in self.window.findChildren(QWidget):
            if hasattr(child, "setMRMLScene"):
                child.setMRMLScene(None)  # else it would go on following the scene
        self.window.deleteLater()
        self.process_events()
        delattr(slicer.modules, self.name.lower())
        delattr(slicer.modules, f"{self.name}Widget")

    def clipped(self):
        """Names of visible widgets and columns whose text needs more room than they have."""
        import qt

        found = []
        for kind in (qt.QLabel, qt.QPushButton, qt.QCheckBox):
            for each in self.window.findChildren(kind):
                pictured = kind is qt.QLabel and not each.pixmap.isNull()
                fits = each.sizeHint.width() <= each.width
                if kind is qt.QLabel and each.wordWrap and each.text:
                    fits = each.heightForWidth(each.width) <= each.height
                if each.isVisible() and not fits and not pictured:
                    found.append(each.name)
        for table in self.window.findChildren(qt.QTableWidget):
            for column in range(table.columnCount if table.isVisible() else 0):
                lines = table.horizontalHeaderItem(column).text().split("\n")
                metrics = table.horizontalHeader().fontMetrics()
                needed = max(metrics.horizontalAdvance(line) for line in lines) + ARROW
                if table.isColumnHidden(column):
                    continue
                if needed > table.columnWidth(column):
                    found.append(f"{table.name} column {column}")
        return found
