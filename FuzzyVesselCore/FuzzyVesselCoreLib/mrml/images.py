"""Arrays as VTK images and back, and volume nodes that are filled with them."""

from typing import Any

import numpy as np

from ..threads import in_parts

# Red over orange to yellow, in every Slicer and in slicer-core: readable over a grey image.
SCENE_COLORS = "vtkMRMLColorTableNodeIron"
# Connectedness below it is not drawn, so that the image stays visible around the vessels.
SCENE_VISIBLE_FROM = 0.05


def image_from_array(array: np.ndarray, image: Any = None) -> Any:
    """A copy of an array as VTK image.

    Parameters
    ----------
    array : ndarray, shape (K, J, I) or (K, J, I, components)
    image : vtkImageData, optional
        Filled; by default a new one is made.

    Returns
    -------
    vtkImageData
    """
    import vtk

    image = vtk.vtkImageData() if image is None else image
    image.SetDimensions(array.shape[2::-1])
    values = np.ascontiguousarray(array).reshape(-1, *array.shape[3:])
    image.GetPointData().SetScalars(_copied(values))
    return image


def _copied(values: np.ndarray) -> Any:
    """A vtkDataArray with the values (n,) or (n, components), copied by threads."""
    from vtk.util import numpy_support

    made = numpy_support.create_vtk_array(numpy_support.get_vtk_array_type(values.dtype))
    made.SetNumberOfComponents(values.shape[1] if values.ndim > 1 else 1)
    made.SetNumberOfTuples(len(values))
    view = numpy_support.vtk_to_numpy(made)
    in_parts(
        lambda first, last: np.copyto(view[first:last], values[first:last]),
        len(values),
        values.size,
    )
    return made


def array_from_image(image: Any) -> np.ndarray:
    """The voxels of a vtkImageData: ndarray, shape (K, J, I); a view, not a copy."""
    from vtk.util.numpy_support import vtk_to_numpy

    return vtk_to_numpy(image.GetPointData().GetScalars()).reshape(image.GetDimensions()[::-1])


def fill_labelmap(labelmap_node: Any, labels: np.ndarray, volume_node: Any) -> None:
    """Put labels (K, J, I; uint8) of a volume into a labelmap node, with its display."""
    fill_volume(labelmap_node, image_from_array(labels), volume_node)
    associate(labelmap_node, volume_node)


def associate(labelmap_node: Any, volume_node: Any) -> None:
    """Let a labelmap know its volume, and show it as labels."""
    labelmap_node.SetNodeReferenceID("AssociatedNodeID", volume_node.GetID())
    if labelmap_node.GetDisplayNode() is None:
        labelmap_node.CreateDefaultDisplayNodes()


def fill_volume(node: Any, image: Any, volume_node: Any) -> None:
    import slicer

    with slicer.util.NodeModify(node):
        node.SetAndObserveTransformNodeID(volume_node.GetTransformNodeID())
        node.CopyOrientation(volume_node)
        node.SetAndObserveImageData(image)


def show_as_overlay(display: Any) -> None:
    display.SetAndObserveColorNodeID(SCENE_COLORS)
    display.AutoWindowLevelOff()
    display.SetWindowLevelMinMax(0.0, 1.0)
    display.InterpolateOff()
    display.AutoThresholdOff()
    display.SetThreshold(SCENE_VISIBLE_FROM, 1.0)
    display.ApplyThresholdOn()
