"""What `fuzzy_vessel.headless` leaves out of Slicer's application, for tests without windows.

Files and scenes by `slicer.util`, parameter nodes, and the base classes of scripted modules. With
windows see `emulators.qt`.
"""

import os
import sys
import unittest
from pathlib import Path

from fuzzy_vessel import headless


def use_files():
    """Let `headless.start` make the application of this file; called before anything starts it."""
    headless.Application = Application
    bases = (Module, Widget, Logic, Test)
    headless.SCRIPTED.update(zip(headless.SCRIPTED, bases, strict=True))


class SceneFiles:
    """Stands in for Slicer's qSlicerCoreIOManager: the part of it that `slicer.util` calls."""

    def __init__(self, application):
        self._scene, self._modules = application.scene, application.modules

    def fileWriterFileType(self, node):
        return node.GetClassName()

    def loadNodes(self, fileType, properties, loadedNodes=None, userMessages=None):
        path = str(properties["fileName"])
        name = properties.get("name") or Path(path).name.split(".")[0]
        if fileType == "SceneFile":
            return self._load_scene(path, bool(properties.get("clear", False)), userMessages)
        node = self._load_node(fileType, path, name)
        if node is not None and loadedNodes is not None:
            loadedNodes.AddItem(node)
        return node is not None

    def saveNodes(self, fileType, properties, userMessages=None):
        path = str(properties["fileName"])
        if fileType == "SceneFile":
            return self.saveScene(path, None, userMessages)
        node = self._scene.GetNodeByID(properties["nodeID"])
        if node is None or not node.AddDefaultStorageNode(path):
            return False
        storage = node.GetStorageNode()
        storage.SetFileName(path)
        return bool(storage.WriteData(node))

    def saveScene(self, filename, screenShot=None, userMessages=None):
        path = os.path.abspath(filename)
        if path.lower().endswith(".mrb"):
            return bool(self._scene.WriteToMRB(path, screenShot, userMessages))
        self._scene.SetRootDirectory(os.path.dirname(path))
        return bool(self._scene.Commit(path, userMessages))

    def _load_scene(self, path, clear, userMessages):
        path = os.path.abspath(path)
        if path.lower().endswith(".mrb"):
            return bool(self._scene.ReadFromMRB(path, clear, userMessages))
        self._scene.SetURL(path)
        return bool(self._scene.Connect(userMessages) if clear else self._scene.Import())

    def _load_node(self, fileType, path, name):
        if fileType == "SegmentationFile":
            logic = self._modules["segmentations"].logic()
            return logic.LoadSegmentationFromFile(path, True, name)
        if fileType == "ModelFile":
            return self._modules["models"].logic().AddModel(path)
        return self._modules["volumes"].logic().AddArchetypeVolume(path, name)


class Application(headless.Application):
    """`slicer.app` with files and parameter nodes."""

    applicationName = "Slicer"

    def __init__(self):
        super().__init__()
        import slicer

        from . import parameter_nodes

        sys.modules["slicer.parameterNodeWrapper"] = slicer.parameterNodeWrapper = parameter_nodes
        self._files = SceneFiles(self)

    def coreIOManager(self):
        return self._files

    def translate(self, _context, text):  # for Slicer's own i18n.py
        return text

    def testingEnabled(self):
        return True

    setOverrideCursor = restoreOverrideCursor = headless.Application._nothing


class Module:
    """ScriptedLoadableModule: describes a module; fills `parent`, which the application shows."""

    def __init__(self, parent):
        super().__init__()
        self.parent, self.moduleName = parent, type(self).__name__
        parent.title = parent.helpText = parent.acknowledgementText = ""
        parent.categories, parent.dependencies, parent.contributors = [], [], []


class Widget:
    """ScriptedLoadableModuleWidget: a module's panel, without Slicer's section for developers."""

    def __init__(self, parent=None):
        super().__init__()
        self.moduleName = type(self).__name__.removesuffix("Widget")
        self.parent = parent
        self.layout = parent.layout() if parent else None

    def resourcePath(self, filename):
        import slicer

        folder = os.path.dirname(slicer.util.modulePath(self.moduleName))
        return os.path.join(folder, "Resources", filename)

    def setup(self):
        pass

    def cleanup(self):
        pass

    def onReload(self):
        import slicer

        slicer.util.reloadScriptedModule(self.moduleName)


class Logic:
    """ScriptedLoadableModuleLogic, with one parameter node a scene."""

    def __init__(self, parent=None):
        super().__init__()
        self.moduleName = type(self).__name__.removesuffix("Logic")

    def getParameterNode(self):
        import slicer

        node = slicer.mrmlScene.GetSingletonNode(self.moduleName, "vtkMRMLScriptedModuleNode")
        return node or slicer.mrmlScene.AddNode(self.createParameterNode())

    def createParameterNode(self):
        import slicer

        node = slicer.vtkMRMLScriptedModuleNode()
        node.SetSingletonTag(self.moduleName)
        node.SetModuleName(self.moduleName)
        node.SetAttribute("ModuleName", self.moduleName)
        node.SetName(slicer.mrmlScene.GenerateUniqueName(self.moduleName))
        return node


class Test(unittest.TestCase):
    """ScriptedLoadableModuleTest; `runTest` runs all of it."""

    __test__ = False  # for pytest

    def __init__(self, *args, **kwargs):
        super().__init__("runTest")

    def runTest(self):
        for name in dir(self):
            if "test" in name and callable(getattr(self, name)):
                self.setUp()
                getattr(self, name)()

    def delayDisplay(self, message, requestedDelay=None, msec=None):
        print(message)
