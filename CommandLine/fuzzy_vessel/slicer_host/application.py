"""Stand-in for `slicer.app`: the scene, and the logics of Slicer's modules."""

import atexit
import os
import shutil
from typing import Any

from .headless_files import SceneFiles
from .scene import new_application_logic, new_scene, new_temporary_folder

# slicer.modules.<key> -> (name of the module in Slicer, class of its logic)
LOGICS = {
    "cameras": ("Cameras", "vtkSlicerCamerasModuleLogic"),
    "cropvolume": ("CropVolume", "vtkSlicerCropVolumeLogic"),
    "data": ("Data", "vtkSlicerDataModuleLogic"),
    "markups": ("Markups", "vtkSlicerMarkupsLogic"),
    "models": ("Models", "vtkSlicerModelsLogic"),
    "plots": ("Plots", "vtkSlicerPlotsLogic"),
    "sceneviews": ("SceneViews", "vtkSlicerSceneViewsModuleLogic"),
    "segmentations": ("Segmentations", "vtkSlicerSegmentationsModuleLogic"),
    "sequences": ("Sequences", "vtkSlicerSequencesLogic"),
    "subjecthierarchy": ("SubjectHierarchy", "vtkSlicerSubjectHierarchyModuleLogic"),
    "tables": ("Tables", "vtkSlicerTablesLogic"),
    "texts": ("Texts", "vtkSlicerTextsLogic"),
    "transforms": ("Transforms", "vtkSlicerTransformLogic"),
    "units": ("Units", "vtkSlicerUnitsLogic"),
    "volumerendering": ("VolumeRendering", "vtkSlicerVolumeRenderingLogic"),
    "volumes": ("Volumes", "vtkSlicerVolumesLogic"),
}


class Module:
    """What `slicer.modules.<name>` offers without a user interface."""

    def __init__(self, name, logic):
        self.name = name
        self.path = ""
        self._logic = logic

    def logic(self) -> Any:
        return self._logic


class Application:
    """Stands in for `slicer.app`: what `slicer.util` and the modules' logics ask of it.

    Attributes
    ----------
    scene : vtkMRMLScene
    logics : dict of str to vtkMRMLAbstractLogic
        By the names that `slicer.modules` uses.
    temporaryPath : str
        Folder for intermediate files; it goes away with the process.
    """

    applicationName = "Slicer"

    def __init__(self):
        self.temporaryPath = new_temporary_folder()
        atexit.register(shutil.rmtree, self.temporaryPath, ignore_errors=True)
        self.scene = new_scene(self.temporaryPath)
        self._logic = new_application_logic(self.scene, self.temporaryPath)
        self.logics = {"colors": self._logic.GetColorLogic()}
        self.modules = {"colors": Module("Colors", self.logics["colors"])}
        for key, (name, class_name) in LOGICS.items():
            self.logics[key] = self._new_logic(name, class_name)
            self.modules[key] = Module(name, self.logics[key])
        self._files = SceneFiles(self)

    def clear(self) -> None:
        """Remove every node but the singletons and defaults that the scene cannot be without."""
        self.scene.Clear(False)

    def _new_logic(self, name, class_name):
        import slicer

        logic = getattr(slicer, class_name)()
        if hasattr(logic, "SetModuleShareDirectory"):
            logic.SetModuleShareDirectory(self.temporaryPath)
        logic.SetMRMLApplicationLogic(self._logic)
        logic.SetMRMLScene(self.scene)
        self._logic.SetModuleLogic(name, logic)
        return logic

    def applicationLogic(self) -> Any:
        return self._logic

    def coreIOManager(self) -> SceneFiles:
        return self._files

    ioManager = coreIOManager

    def mrmlScene(self) -> Any:
        return self.scene

    def startupEnvironment(self) -> dict[str, str]:
        return dict(os.environ)

    def translate(self, _context: str, text: str) -> str:
        return text

    # There is no user interface: nothing to ask, show or wait for.
    def testingEnabled(self) -> bool:
        return True

    def layoutManager(self) -> None:
        return None

    def mainWindow(self) -> None:
        return None

    def topLevelWidgets(self) -> list:
        return []

    def processEvents(self, *_flags: Any) -> None:
        pass

    def pauseRender(self) -> None:
        pass

    def resumeRender(self) -> None:
        pass

    def setOverrideCursor(self, *_cursor: Any) -> None:
        pass

    def restoreOverrideCursor(self) -> None:
        pass
