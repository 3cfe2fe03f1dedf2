"""A MRML scene and Slicer's application logic, with the helpers that they rely on."""

import tempfile
from typing import Any


def new_scene(temporary_path: str) -> Any:
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


def new_application_logic(scene: Any, temporary_path: str) -> Any:
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


def new_temporary_folder() -> str:
    """Return a new folder for MRML's intermediate files."""
    return tempfile.mkdtemp(prefix="fuzzy-vessel-")
