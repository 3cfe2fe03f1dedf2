"""A host for the wheel `slicer-core`: a MRML scene and Slicer's logics without the application.

The wheel holds Slicer's C++ libraries and `slicer.util`, but no application; `slicer.util` asks for
`slicer.mrmlScene`, `slicer.app` and `slicer.modules`, and modules for `slicer.i18n` and the classes
of `slicer.ScriptedLoadableModule`. `start()` makes these, so that

>>> from fuzzy_vessel import headless
>>> headless.start()
>>> import slicer
>>> volume = slicer.util.addVolumeFromArray(voxels)
>>> slicer.modules.volumes.logic().CreateAndAddLabelVolume(volume, "vessels")

work as in Slicer's Python console. Files are read and written by storage nodes and logics.
"""

import atexit
import contextlib
import shutil
import sys
import tempfile
import types
from collections.abc import Iterator
from typing import Any

from FuzzyVesselCoreLib.errors import InputError

# slicer.modules.<lower case> and the class of its logic, which also registers the module's nodes.
LOGICS = {
    **{
        name: f"vtkSlicer{name}Logic"
        for name in (
            "CropVolume", "Markups", "Models", "Plots", "Sequences", "Tables", "Texts", "Units",
            "VolumeRendering", "Volumes",
        )
    },
    **{
        name: f"vtkSlicer{name}ModuleLogic"
        for name in ("Cameras", "Data", "SceneViews", "Segmentations", "SubjectHierarchy")
    },
    "Transforms": "vtkSlicerTransformLogic",
}  # fmt: skip
WAY_OUT = "install it with: pip install 'fuzzy-vessel-gpu[mrml]'"

_application: "Application | None" = None


class ScriptedBase:
    """Base class of a module's logic, and of its classes that do nothing without windows."""

    def __init__(self, parent: Any = None) -> None:
        super().__init__()
        self.parent = parent


SCRIPTED = {
    f"ScriptedLoadableModule{part}": type(f"ScriptedLoadableModule{part}", (ScriptedBase,), {})
    for part in ("", "Widget", "Logic", "Test")
}


def start() -> "Application":
    """Return the process's application; the first call makes it and fills the module `slicer`.

    `InputError` where slicer-core is not installed, or another package named `slicer` hides it.
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
        _add_module("i18n", tr=str, translate=lambda _context, text: text, getContext=str)
        _add_module("ScriptedLoadableModule", **SCRIPTED)
        slicer.app = _application = Application()
        slicer.mrmlScene = _application.scene
        slicer.modules = types.SimpleNamespace(**_application.modules)
    return _application


@contextlib.contextmanager
def without_messages() -> Iterator[None]:
    """Keep VTK's messages off the console in the block."""
    import vtk

    verbosity = vtk.vtkLogger.GetCurrentVerbosityCutoff()
    vtk.vtkLogger.SetStderrVerbosity(vtk.vtkLogger.VERBOSITY_OFF)
    vtk.vtkObject.GlobalWarningDisplayOff()
    try:
        yield
    finally:
        vtk.vtkObject.GlobalWarningDisplayOn()
        vtk.vtkLogger.SetStderrVerbosity(verbosity)


def _add_module(name, **content):
    """Put `slicer.<name>`, which the wheel leaves out, where it is imported from."""
    import slicer

    module = types.ModuleType(f"slicer.{name}")
    vars(module).update(content)
    sys.modules[module.__name__] = module
    setattr(slicer, name, module)


class Application:
    """Stands in for `slicer.app`: what `slicer.util` and the modules' logics ask of it.

    Its `scene`; `modules`, by the names that `slicer.modules` uses; and `temporaryPath`, a folder
    that goes away with the process.
    """

    def __init__(self):
        import slicer

        self.temporaryPath = tempfile.mkdtemp(prefix="fuzzy-vessel-")
        atexit.register(shutil.rmtree, self.temporaryPath, ignore_errors=True)
        self.scene = _new_scene(self.temporaryPath)
        self._logic = _new_application_logic(self.scene, self.temporaryPath)
        self.modules = {"colors": _module("Colors", self._logic.GetColorLogic())}
        for name, class_name in LOGICS.items():
            logic = getattr(slicer, class_name)()
            if hasattr(logic, "SetModuleShareDirectory"):
                logic.SetModuleShareDirectory(self.temporaryPath)
            logic.SetMRMLApplicationLogic(self._logic)
            logic.SetMRMLScene(self.scene)
            self._logic.SetModuleLogic(name, logic)
            self.modules[name.lower()] = _module(name, logic)

    def clear(self) -> None:
        """Remove every node but the singletons and defaults that the scene cannot be without."""
        self.scene.Clear(False)

    def applicationLogic(self) -> Any:
        return self._logic

    def _nothing(self, *_arguments: Any) -> None:
        """There is no user interface: nothing to show or wait for."""

    layoutManager = processEvents = pauseRender = resumeRender = _nothing


def _module(name, logic):
    """What `slicer.modules.<name>` offers without a user interface."""
    return types.SimpleNamespace(name=name, path="", logic=lambda: logic)


def _new_scene(temporary_path):
    """A scene with the helpers that its storage and slice nodes rely on."""
    import slicer

    scene, cache = slicer.vtkMRMLScene(), slicer.vtkCacheManager()
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
    for view in ("ThreeD", "Slice"):
        factory = getattr(slicer, f"vtkMRML{view}ViewDisplayableManagerFactory")
        factory.GetInstance().SetMRMLApplicationLogic(logic)
    return logic
