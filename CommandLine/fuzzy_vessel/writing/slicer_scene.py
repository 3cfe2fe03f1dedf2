"""The whole scene in one file (.mrb)."""

import shutil
import zipfile
from pathlib import Path
from typing import Any

from ..slicer_host.vtk_messages import vtk_messages
from .completeness import is_whole, not_written
from .nodes import SLICER_SCENE


def write_slicer_scene(folder: Path, volume: Any, focus: Any) -> None:
    """Write the whole scene as `scene.mrb`; Slicer opens it with the volume in the slice views.

    Parameters
    ----------
    folder : Path
    volume : vtkMRMLScalarVolumeNode
        The background of the slice views; a labelmap is laid over an empty background.
    focus : sequence of 3 float
        The point (RAS) through which the slices go.

    Raises
    ------
    OSError
        If the file could not be written, or is not whole.
    """
    import slicer

    path = folder / SLICER_SCENE
    _arrange_slice_views(volume, focus)
    # The scene's parts are written here first, on the disk that has to hold the result anyway.
    parts = folder / "parts"
    (parts / "scene").mkdir(parents=True)
    try:
        with vtk_messages():
            written = slicer.mrmlScene.SaveSceneToSlicerDataBundleDirectory(str(parts / "scene"))
        if not written:
            raise not_written(path)
        # The volumes are packed already: packing them once more would only take time.
        with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED, strict_timestamps=False) as bundle:
            for part in sorted(parts.rglob("*")):
                bundle.write(part, part.relative_to(parts))
    finally:
        shutil.rmtree(parts, ignore_errors=True)
        _remove_slice_views()
    if not is_whole(path):
        raise not_written(path)


def _arrange_slice_views(volume, focus):
    """Let the slice views that Slicer will open show the volume, at the focus, in full."""
    import slicer

    _remove_slice_views()
    for name, orientation in (("Red", "Axial"), ("Green", "Coronal"), ("Yellow", "Sagittal")):
        logic = slicer.vtkMRMLSliceLogic()
        logic.SetMRMLApplicationLogic(slicer.app.applicationLogic())
        logic.SetMRMLScene(slicer.mrmlScene)
        node = logic.AddSliceNode(name)
        node.SetOrientation(orientation)
        views = logic.GetSliceCompositeNode()
        if volume.IsA("vtkMRMLLabelMapVolumeNode"):
            views.SetLabelVolumeID(volume.GetID())
        else:
            views.SetBackgroundVolumeID(volume.GetID())
        logic.FitSliceToAll()
        node.JumpSliceByCentering(*focus)


def _remove_slice_views():
    """Views are singletons: without this the next bundle of this process would inherit them."""
    import slicer

    for kind in ("vtkMRMLSliceNode", "vtkMRMLSliceCompositeNode"):
        for node in slicer.util.getNodesByClass(kind):
            slicer.mrmlScene.RemoveNode(node)
