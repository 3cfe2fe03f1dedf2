"""A host for the wheel `slicer-core`: a MRML scene and Slicer's logics without the application.

The wheel holds Slicer's C++ libraries and `slicer.util`, but no application; `slicer.util` asks for
`slicer.mrmlScene`, `slicer.app` and `slicer.modules`. `start()` makes these, so that

>>> from fuzzy_vessel.slicer_host import headless
>>> application = headless.start()
>>> import slicer
>>> volume = slicer.util.loadVolume("ct.nrrd", {})
>>> slicer.modules.volumes.logic().CreateAndAddLabelVolume(volume, "vessels")

work as in Slicer's Python console. `slicer.util` keeps the properties of one call for the next
(a default argument that it writes to): hand it `{}` each time.
"""

import atexit
import os
import shutil
import tempfile
import types
from pathlib import Path
from typing import Any

from FuzzyVesselCoreLib.errors import InputError

from .scene_files import SceneFiles
from .vtk_messages import vtk_messages

__all__ = ["Application", "start", "vtk_messages"]

# slicer.modules.<lower case> and the class of its logic, which also registers the module's nodes.
LOGICS = {
    "Cameras": "vtkSlicerCamerasModuleLogic",
    "CropVolume": "vtkSlicerCropVolumeLogic",
    "Data": "vtkSlicerDataModuleLogic",
    "Markups": "vtkSlicerMarkupsLogic",
    "Models": "vtkSlicerModelsLogic",
    "Plots": "vtkSlicerPlotsLogic",
    "SceneViews": "vtkSlicerSceneViewsModuleLogic",
    "Segmentations": "vtkSlicerSegmentationsModuleLogic",
    "Sequences": "vtkSlicerSequencesLogic",
    "SubjectHierarchy": "vtkSlicerSubjectHierarchyModuleLogic",
    "Tables": "vtkSlicerTablesLogic",
    "Texts": "vtkSlicerTextsLogic",
    "Transforms": "vtkSlicerTransformLogic",
    "Units": "vtkSlicerUnitsLogic",
    "VolumeRendering": "vtkSlicerVolumeRenderingLogic",
    "Volumes": "vtkSlicerVolumesLogic",
}
WAY_OUT = "install it with: pip install 'fuzzy-vessel-gpu[mrml]'"

_application: "Application | None" = None


def start() -> "Application":
    """Return the process's application; the first call makes it and fills the module `slicer`.

    Raises
    ------
    InputError
        slicer-core is not installed, or another package named `slicer` hides it.
    """
    global _application
    if _application is None:
        try:
            import slicer
        except ImportError as error:
            raise InputError(f"The MRML scene needs slicer-core ({error}); {WAY_OUT}") from error
        if not hasattr(slicer, "vtkMRMLScene"):
            raise InputError(
                f"The package 'slicer' at {getattr(slicer, '__file__', 'an unknown place')} is not "
                "3D Slicer's: remove it (pip uninstall slicer), then reinstall slicer-core; "
                f"{WAY_OUT}"
            )
        # Base classes of scripted modules, which the wheel leaves out.
        slicer.__path__.append(str(Path(__file__).parent / "slicer_parts"))
        _application = Application()
        slicer.app = _application
        slicer.mrmlScene = _application.scene
        slicer.modules = types.SimpleNamespace(**_application.modules)
    return _application


class Module:
    """What `slicer.modules.<name>` offers without a user interface."""

    def __init__(self, name, logic):
        self.name, self.path, self._logic = name, "", logic

    def logic(self) -> Any:
        return self._logic


class Application:
    """Stands in for `slicer.app`: what `slicer.util` and the modules' logics ask of it.

    Attributes
    ----------
    scene : vtkMRMLScene
    modules : dict of str to Module
        By the names that `slicer.modules` uses.
    temporaryPath : str
        Folder for intermediate files, its owner's alone; it goes away with the process.
    """

    applicationName = "Slicer"

    def __init__(self):
        import slicer

        self.temporaryPath = tempfile.mkdtemp(prefix="fuzzy-vessel-")
        atexit.register(shutil.rmtree, self.temporaryPath, ignore_errors=True)
        self.scene = _new_scene(self.temporaryPath)
        self._logic = _new_application_logic(self.scene, self.temporaryPath)
        self.modules = {"colors": Module("Colors", self._logic.GetColorLogic())}
        for name, class_name in LOGICS.items():
            logic = getattr(slicer, class_name)()
            if hasattr(logic, "SetModuleShareDirectory"):
                logic.SetModuleShareDirectory(self.temporaryPath)
            logic.SetMRMLApplicationLogic(self._logic)
            logic.SetMRMLScene(self.scene)
            self._logic.SetModuleLogic(name, logic)
            self.modules[name.lower()] = Module(name, logic)
        self._files = SceneFiles(self)

    def clear(self) -> None:
        """Remove every node but the singletons and defaults that the scene cannot be without."""
        self.scene.Clear(False)

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

    def topLevelWidgets(self) -> list:
        return []

    def _nothing(self, *_arguments: Any) -> None:
        pass

    layoutManager = mainWindow = processEvents = pauseRender = resumeRender = _nothing
    setOverrideCursor = restoreOverrideCursor = _nothing


def _new_scene(temporary_path):
    """A scene with the helpers that its storage and slice nodes rely on."""
    import slicer

    scene = slicer.vtkMRMLScene()
    cache = slicer.vtkCacheManager()
    cache.SetRemoteCacheDirectory(temporary_path)
    cache.SetMRMLScene(scene)
    scene.SetCacheManager(cache)
    data_io = slicer.vtkDataIOManager()
    data_io.SetCacheManager(cache)
    scene.SetDataIOManager(data_io)
    crosshair = slicer.vtkMRMLCrosshairNode()
    crosshair.SetCrosshairName("default")
    scene.AddNode(crosshair)
    slicer.vtkMRMLSliceNode.AddDefaultSliceOrientationPresets(scene, True)
    return scene


def _new_application_logic(scene, temporary_path):
    """Slicer's application logic, known to the scene and to the views' factories."""
    import slicer
    import vtk

    logic = slicer.vtkSlicerApplicationLogic()
    logic.SetMRMLScene(scene)
    logic.SetTemporaryPath(temporary_path)
    logic.GetColorLogic().SetMRMLScene(scene)
    logic.GetColorLogic().AddDefaultColorNodes()
    logic.SetModuleLogic("Colors", logic.GetColorLogic())
    logic.SetSliceLogics(vtk.vtkCollection())
    logic.SetViewLogics(vtk.vtkCollection())
    for factory in (
        slicer.vtkMRMLThreeDViewDisplayableManagerFactory,
        slicer.vtkMRMLSliceViewDisplayableManagerFactory,
    ):
        factory.GetInstance().SetMRMLApplicationLogic(logic)
    return logic
