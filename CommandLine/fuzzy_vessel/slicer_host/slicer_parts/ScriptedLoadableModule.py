"""Stand-in for Slicer's base classes of scripted modules, for use with the wheel `slicer-core`.

It is found as `slicer.ScriptedLoadableModule` after `slicer_host.headless.start()`. It holds only
what works without a user interface; inside Slicer its own file is used.
"""

import os
import unittest
from typing import Any

import slicer

__all__ = [
    "ScriptedLoadableModule",
    "ScriptedLoadableModuleLogic",
    "ScriptedLoadableModuleTest",
    "ScriptedLoadableModuleWidget",
]


class ScriptedLoadableModule:
    """Describes a module; fills the object `parent` that the application shows."""

    def __init__(self, parent):
        super().__init__()
        self.parent, self.moduleName = parent, type(self).__name__
        parent.title = parent.helpText = parent.acknowledgementText = ""
        parent.categories, parent.dependencies, parent.contributors = [], [], []

    def resourcePath(self, filename: str) -> str:
        return os.path.join(os.path.dirname(self.parent.path), "Resources", filename)

    def getDefaultModuleDocumentationLink(self, docPage: str | None = None) -> str:
        return f"<p>See the documentation of {docPage or self.moduleName}.</p>"


class ScriptedLoadableModuleWidget:
    """Base class of a module's panel, without Slicer's section for developers."""

    def __init__(self, parent=None):
        super().__init__()
        self.moduleName = type(self).__name__.removesuffix("Widget")
        self.parent = parent
        self.layout = parent.layout() if parent else None

    def resourcePath(self, filename: str) -> str:
        folder = os.path.dirname(slicer.util.modulePath(self.moduleName))
        return os.path.join(folder, "Resources", filename)

    def setup(self) -> None:
        pass

    def cleanup(self) -> None:
        pass

    def onReload(self) -> None:
        slicer.util.reloadScriptedModule(self.moduleName)


class ScriptedLoadableModuleLogic:
    """Base class of a module's logic, with one parameter node a scene."""

    def __init__(self, parent=None):
        super().__init__()
        self.moduleName = type(self).__name__.removesuffix("Logic")

    def getParameterNode(self) -> Any:
        node = slicer.mrmlScene.GetSingletonNode(self.moduleName, "vtkMRMLScriptedModuleNode")
        return node or slicer.mrmlScene.AddNode(self.createParameterNode())

    def createParameterNode(self) -> Any:
        node = slicer.vtkMRMLScriptedModuleNode()
        node.SetSingletonTag(self.moduleName)
        node.SetModuleName(self.moduleName)
        node.SetAttribute("ModuleName", self.moduleName)
        node.SetName(slicer.mrmlScene.GenerateUniqueName(self.moduleName))
        return node


class ScriptedLoadableModuleTest(unittest.TestCase):
    """Base class of a module's self test; `runTest` runs all of it."""

    def __init__(self, *args, **kwargs):
        super().__init__("runTest")

    def delayDisplay(self, message: str, requestedDelay: Any = None, msec: Any = None) -> None:
        print(message)

    def runTest(self) -> None:
        pass
