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
import types
from pathlib import Path

from FuzzyVesselCoreLib.errors import InputError

from .headless_files import SceneFiles, new_temporary_folder
from .vtk_messages import vtk_messages

__all__ = ["Application", "start", "vtk_messages"]

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

_application = None


def start():
    """Return the process's application; the first call makes it and fills the module `slicer`.

    Returns
    -------
    Application
        Its `scene` is `slicer.mrmlScene`, and it is `slicer.app`.

    Raises
    ------
    InputError
        slicer-core is not installed, or another package named `slicer` hides it.
    """
    global _application
    if _application is None:
        slicer = _import_slicer()
        # Base classes of scripted modules, which the wheel leaves out; see slicer_parts.
        slicer.__path__.append(str(Path(__file__).parent / "slicer_parts"))
        _application = Application()
        slicer.app = _application
        slicer.mrmlScene = _application.scene
        slicer.modules = types.SimpleNamespace(**_application.modules)
    return _application


def _import_slicer():
    way_out = "install it with: pip install 'fuzzy-vessel-gpu[mrml]'"
    try:
        import slicer
    except ImportError as error:
        raise InputError(f"The MRML scene needs slicer-core ({error}); {way_out}") from error
    if not hasattr(slicer, "vtkMRMLScene"):
        raise InputError(
            f"The package 'slicer' at {getattr(slicer, '__file__', 'an unknown place')} is not "
            f"3D Slicer's: remove it (pip uninstall slicer), then reinstall slicer-core; {way_out}"
        )
    return slicer


class Module:
    """What `slicer.modules.<name>` offers without a user interface."""

    def __init__(self, name, logic):
        self.name = name
        self.path = ""
        self._logic = logic

    def logic(self):
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
        self.scene = _new_scene(self.temporaryPath)
        self._logic = _new_application_logic(self.scene, self.temporaryPath)
        self.logics = {"colors": self._logic.GetColorLogic()}
        self.modules = {"colors": Module("Colors", self.logics["colors"])}
        for key, (name, class_name) in LOGICS.items():
            self.logics[key] = self._new_logic(name, class_name)
            self.modules[key] = Module(name, self.logics[key])
        self._files = SceneFiles(self)

    def clear(self):
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

    def applicationLogic(self):
        return self._logic

    def coreIOManager(self):
        return self._files

    ioManager = coreIOManager

    def mrmlScene(self):
        return self.scene

    def startupEnvironment(self):
        return dict(os.environ)

    def translate(self, _context, text):
        return text

    # There is no user interface: nothing to ask, show or wait for.
    def testingEnabled(self):
        return True

    def layoutManager(self):
        return None

    def mainWindow(self):
        return None

    def topLevelWidgets(self):
        return []

    def processEvents(self, *_flags):
        pass

    def pauseRender(self):
        pass

    def resumeRender(self):
        pass

    def setOverrideCursor(self, *_cursor):
        pass

    def restoreOverrideCursor(self):
        pass


def _new_scene(temporary_path):
    """Return a scene with the helpers that its storage and slice nodes rely on."""
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
    """Return Slicer's application logic, known to the scene and to the views' factories."""
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
