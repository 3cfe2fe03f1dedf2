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
import contextlib
import os
import re
import shutil
import tempfile
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from FuzzyVesselCoreLib.errors import InputError

from .scene_files import SceneFiles

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
# VTK begins a message with where it comes from, and names the object by its address.
NOISE = re.compile(
    r"^(ERROR|Warning|Generic Warning): In \S+, line \d+\s*"
    r"|^\w+ \((0x)?[0-9a-fA-F]+\): | \((0x)?[0-9a-fA-F]{8,}\)",
    re.MULTILINE,
)

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
        slicer.app = _application = Application()
        slicer.mrmlScene = _application.scene
        slicer.modules = types.SimpleNamespace(**_application.modules)
    return _application


@contextlib.contextmanager
def vtk_messages() -> Iterator[list[str]]:
    """Keep VTK's messages off the console in the block, and yield a list that collects them.

    What other native libraries write to the process's standard error goes there at once, so that
    their last words are not lost when one of them ends the process.
    """
    import vtk

    messages: list[str] = []

    @vtk.calldata_type(vtk.VTK_STRING)
    def collect(_caller, _event, text):
        messages.append(NOISE.sub("", text.strip()).strip())

    window = vtk.vtkOutputWindow.GetInstance()
    tags = [window.AddObserver(event, collect) for event in ("ErrorEvent", "WarningEvent")]
    verbosity, mode = vtk.vtkLogger.GetCurrentVerbosityCutoff(), window.GetDisplayMode()
    vtk.vtkLogger.SetStderrVerbosity(vtk.vtkLogger.VERBOSITY_OFF)
    window.SetDisplayModeToNever()
    try:
        yield messages
    finally:
        window.SetDisplayMode(mode)
        vtk.vtkLogger.SetStderrVerbosity(verbosity)
        for tag in tags:
            window.RemoveObserver(tag)


class Module:
    """What `slicer.modules.<name>` offers without a user interface."""

    def __init__(self, name, logic):
        self.name, self.path, self.logic = name, "", lambda: logic


class Application:
    """Stands in for `slicer.app`: what `slicer.util` and the modules' logics ask of it.

    Its `scene`; `modules`, by the names that `slicer.modules` uses; and `temporaryPath`, a folder
    that goes away with the process.
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
