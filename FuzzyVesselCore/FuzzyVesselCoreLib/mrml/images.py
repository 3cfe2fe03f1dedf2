"""Arrays as VTK images and back, and volume nodes that are filled with them."""

from typing import Any

import numpy as np

# Red over orange to yellow, in every Slicer and in slicer-core: readable over a grey image.
SCENE_COLORS = "vtkMRMLColorTableNodeIron"
SCENE_VISIBLE_FROM = 0.05  # lower connectedness is not drawn, so that the image stays visible


def image_from_array(array: np.ndarray, image: Any = None, taken: bool = False) -> Any:
    """An array (K, J, I) or (K, J, I, components) as vtkImageData, by default a new one.

    If it is `taken`, the image uses the array's own memory (if that is in C order): nobody writes
    into the array any more. By default the image has a copy.
    """
    import vtk
    from vtk.util.numpy_support import numpy_to_vtk

    image = vtk.vtkImageData() if image is None else image
    image.SetDimensions(array.shape[2::-1])
    values = np.ascontiguousarray(array).reshape(-1, *array.shape[3:])
    image.GetPointData().SetScalars(numpy_to_vtk(values, deep=not taken))
    return image


def array_from_image(image: Any) -> np.ndarray:
    """The voxels of a vtkImageData: ndarray, shape (K, J, I); a view, not a copy."""
    from vtk.util.numpy_support import vtk_to_numpy

    return vtk_to_numpy(image.GetPointData().GetScalars()).reshape(image.GetDimensions()[::-1])


def fill_volume(node: Any, image: Any, volume_node: Any) -> None:
    """Give a volume node an image on another volume's grid, under its parent transform.

    A labelmap knows that volume, and is shown as labels.
    """
    import slicer

    labels = node.IsA("vtkMRMLLabelMapVolumeNode")
    with slicer.util.NodeModify(node):
        node.SetAndObserveTransformNodeID(volume_node.GetTransformNodeID())
        node.CopyOrientation(volume_node)
        node.SetAndObserveImageData(image)
        if labels:
            node.SetNodeReferenceID("AssociatedNodeID", volume_node.GetID())
    if labels and node.GetDisplayNode() is None:
        node.CreateDefaultDisplayNodes()


def show_as_overlay(scene_node: Any) -> None:
    """Give a fuzzy scene a display, if it has none; before it is filled.

    With an image Slicer would first count a histogram for the window and level that are set here.
    """
    if scene_node.GetDisplayNode() is not None:
        return
    scene_node.CreateDefaultDisplayNodes()
    display = scene_node.GetDisplayNode()
    display.SetAndObserveColorNodeID(SCENE_COLORS)
    display.AutoWindowLevelOff()
    display.SetWindowLevelMinMax(0.0, 1.0)
    display.InterpolateOff()
    display.AutoThresholdOff()
    display.SetThreshold(SCENE_VISIBLE_FROM, 1.0)
    display.ApplyThresholdOn()
