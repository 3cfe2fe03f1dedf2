"""Reading and writing of files for `slicer.util`, on Slicer's own storage nodes."""

import os
from pathlib import Path
from typing import Any

from ..reading.bundles import checked_bundle
from .file_types import NODE_CLASSES, file_type

# Bits of vtkSlicerVolumesLogic::LoadingOptions.
VOLUME_OPTIONS = {
    "labelmap": 1,
    "center": 2,
    "singleFile": 4,
    "autoWindowLevel": 8,
    "discardOrientation": 16,
}


class SceneFiles:
    """Stands in for Slicer's qSlicerCoreIOManager: the part of it that `slicer.util` calls.

    Parameters
    ----------
    application : fuzzy_vessel.slicer_host.headless.Application
    """

    def __init__(self, application):
        self._scene = application.scene
        self._logics = application.logics

    def fileType(self, filename: str) -> str:
        """Return the name of the reader for a file; what is not known is tried as a volume."""
        return file_type(str(filename))

    def fileWriterFileType(self, node: Any) -> str:
        """Return a name for the way a node is written; here its class."""
        return node.GetClassName()

    def loadNodes(
        self, fileType: str, properties: dict, loadedNodes: Any = None, userMessages: Any = None
    ) -> bool:
        """Read a file; new nodes are appended to the vtkCollection. Returns True on success."""
        path = str(properties["fileName"])
        name = properties.get("name") or Path(path).name.split(".")[0]
        if fileType == "SceneFile":
            return self._load_scene(path, bool(properties.get("clear", False)), userMessages)
        node = self._load_node(fileType, path, name, properties)
        if node is None:
            return False
        if loadedNodes is not None:
            loadedNodes.AddItem(node)
        return True

    def saveNodes(self, fileType: str, properties: dict, userMessages: Any = None) -> bool:
        """Write the node `nodeID`, or the whole scene, to `fileName`. Returns True on success."""
        path = str(properties["fileName"])
        if fileType == "SceneFile":
            return self.saveScene(path, None, userMessages)
        node = self._scene.GetNodeByID(properties["nodeID"])
        if node is None or not node.AddDefaultStorageNode(path):
            return False
        storage = node.GetStorageNode()
        storage.SetFileName(path)
        if "useCompression" in properties:
            storage.SetUseCompression(int(properties["useCompression"]))
        written = bool(storage.WriteData(node))
        if userMessages is not None:
            userMessages.AddMessages(storage.GetUserMessages())
        return written

    def saveScene(self, filename: str, screenShot: Any = None, userMessages: Any = None) -> bool:
        """Write the scene as `.mrb` (everything in one file), `.mrml` (no data) or a folder."""
        path = os.path.abspath(filename)
        if path.lower().endswith(".mrb"):
            return bool(self._scene.WriteToMRB(path, screenShot, userMessages))
        if path.lower().endswith(".mrml"):
            self._scene.SetRootDirectory(os.path.dirname(path))
            return bool(self._scene.Commit(path, userMessages))
        os.makedirs(path, exist_ok=True)
        return bool(
            self._scene.SaveSceneToSlicerDataBundleDirectory(path, screenShot, userMessages)
        )

    def _load_scene(self, path, clear, userMessages):
        path = os.path.abspath(path)
        if path.lower().endswith(".mrb"):
            return self._load_bundle(path, clear, userMessages)
        self._scene.SetURL(path)
        return bool(self._scene.Connect(userMessages) if clear else self._scene.Import())

    def _load_bundle(self, path, clear, userMessages):
        with checked_bundle(path) as copy:
            read = bool(self._scene.ReadFromMRB(str(copy), clear, userMessages))
        # As if the file itself had been read: its neighbours are where the scene is saved next.
        folder, name = os.path.split(os.path.splitext(path)[0])
        self._scene.SetURL(os.path.join(folder, f"{name}.mrml"))
        self._scene.SetRootDirectory(folder)
        return read

    def _load_node(self, fileType, path, name, properties):
        if fileType == "VolumeFile":
            return self._load_volume(path, name, properties)
        if fileType == "SegmentationFile":
            return self._logics["segmentations"].LoadSegmentationFromFile(path, True, name)
        if fileType == "MarkupsFile":
            node_id = self._logics["markups"].LoadMarkups(path, name)
            return self._scene.GetNodeByID(node_id) if node_id else None
        if fileType == "TransformFile":
            return self._logics["transforms"].AddTransform(path, self._scene)
        if fileType in NODE_CLASSES:
            return self._load_by_storage(NODE_CLASSES[fileType], path, name)
        return None

    def _load_volume(self, path, name, properties):
        import vtk

        options = sum(bit for option, bit in VOLUME_OPTIONS.items() if properties.get(option))
        file_list = None
        if properties.get("fileNames"):
            file_list = vtk.vtkStringArray()
            for filename in properties["fileNames"]:
                file_list.InsertNextValue(str(filename))
        node = self._logics["volumes"].AddArchetypeVolume(path, name, options, file_list)
        if node is not None and properties.get("colorNodeID"):
            node.GetDisplayNode().SetAndObserveColorNodeID(properties["colorNodeID"])
        return node

    def _load_by_storage(self, class_name, path, name):
        node = self._scene.AddNewNodeByClass(class_name, name)
        read = False
        if node.AddDefaultStorageNode(path):
            storage = node.GetStorageNode()
            storage.SetFileName(path)
            read = bool(storage.ReadData(node))
        if not read:
            self._scene.RemoveNode(node)
            return None
        if hasattr(node, "CreateDefaultDisplayNodes"):
            node.CreateDefaultDisplayNodes()
        return node
