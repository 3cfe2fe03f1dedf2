"""Reading and writing of files for `slicer.util`, on Slicer's own storage nodes."""

import os
from pathlib import Path
from typing import Any

from ..reading.points import checked_bundle

# Reader of a file by the end of its name; what is not known is tried as a volume.
FILE_TYPES = {
    ".seg.nrrd": "SegmentationFile",
    **dict.fromkeys((".mrk.json", ".fcsv"), "MarkupsFile"),
    **dict.fromkeys((".mrb", ".mrml"), "SceneFile"),
    **dict.fromkeys((".vtp", ".vtk", ".stl", ".ply", ".obj"), "ModelFile"),
}
# Bits of vtkSlicerVolumesLogic::LoadingOptions.
VOLUME_OPTIONS = {
    "labelmap": 1, "center": 2, "singleFile": 4, "autoWindowLevel": 8, "discardOrientation": 16,
}  # fmt: skip


class SceneFiles:
    """Stands in for Slicer's qSlicerCoreIOManager: the part of it that `slicer.util` calls."""

    def __init__(self, application):
        self._scene, self._modules = application.scene, application.modules

    def fileType(self, filename: str) -> str:
        """Return the name of the reader for a file."""
        name = str(filename).lower()
        found = (kind for suffix, kind in FILE_TYPES.items() if name.endswith(suffix))
        return next(found, "VolumeFile")

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
        if node is not None and loadedNodes is not None:
            loadedNodes.AddItem(node)
        return node is not None

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
        return bool(storage.WriteData(node))

    def saveScene(self, filename: str, screenShot: Any = None, userMessages: Any = None) -> bool:
        """Write the scene as `.mrb` (everything in one file), or as `.mrml` (no data)."""
        path = os.path.abspath(filename)
        if path.lower().endswith(".mrb"):
            return bool(self._scene.WriteToMRB(path, screenShot, userMessages))
        self._scene.SetRootDirectory(os.path.dirname(path))
        return bool(self._scene.Commit(path, userMessages))

    def _load_scene(self, path, clear, userMessages):
        path = os.path.abspath(path)
        if not path.lower().endswith(".mrb"):
            self._scene.SetURL(path)
            return bool(self._scene.Connect(userMessages) if clear else self._scene.Import())
        with checked_bundle(path) as copy:
            read = bool(self._scene.ReadFromMRB(str(copy), clear, userMessages))
        # As if the file itself had been read: its neighbours are where the scene is saved next.
        self._scene.SetURL(os.path.splitext(path)[0] + ".mrml")
        self._scene.SetRootDirectory(os.path.dirname(path))
        return read

    def _load_node(self, fileType, path, name, properties):
        if fileType == "SegmentationFile":
            logic = self._modules["segmentations"].logic()
            return logic.LoadSegmentationFromFile(path, True, name)
        if fileType == "MarkupsFile":
            node_id = self._modules["markups"].logic().LoadMarkups(path, name)
            return self._scene.GetNodeByID(node_id) if node_id else None
        if fileType == "ModelFile":
            return self._modules["models"].logic().AddModel(path)
        options = sum(bit for option, bit in VOLUME_OPTIONS.items() if properties.get(option))
        return self._modules["volumes"].logic().AddArchetypeVolume(path, name, options)
