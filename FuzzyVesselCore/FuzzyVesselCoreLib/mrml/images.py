"""Arrays as VTK images and back, and volume nodes that are filled with them."""

from typing import Any

import numpy as np

from ..threads import in_parts
from ..voxels.huge_pages import ask_for_huge_pages

# Red over orange to yellow, in every Slicer and in slicer-core: readable over a grey image.
SCENE_COLORS = "vtkMRMLColorTableNodeIron"
# Connectedness below it is not drawn, so that the image stays visible around the vessels.
SCENE_VISIBLE_FROM = 0.05


def voxel_memory(shape: tuple[int, ...], dtype: Any) -> np.ndarray:
    """An array without values, in memory of VTK's, which can become an image without a copy."""
    made = _data_array(np.dtype(dtype), int(np.prod(shape)), 1)
    return numpy_support().vtk_to_numpy(made).reshape(shape)


def image_from_array(array: np.ndarray, image: Any = None, taken: bool = False) -> Any:
    """An array as VTK image, which has a copy of it.

    Parameters
    ----------
    array : ndarray, shape (K, J, I) or (K, J, I, components)
    image : vtkImageData, optional
        Filled; by default a new one is made.
    taken : bool
        The array is the image's from now on: one of `voxel_memory` is not copied.

    Returns
    -------
    vtkImageData
    """
    import vtk

    image = vtk.vtkImageData() if image is None else image
    image.SetDimensions(array.shape[2::-1])
    scalars = _memory_of(array) if taken else None
    if scalars is None:
        scalars = _copied(np.ascontiguousarray(array).reshape(-1, *array.shape[3:]))
    image.GetPointData().SetScalars(scalars)
    return image


def image_around(array: np.ndarray, image: Any) -> Any:
    """An array as VTK image, without a copy: nobody may write into it any more.

    Parameters
    ----------
    array : ndarray, shape (K, J, I), C order
        Lives as long as the image needs it.
    image : vtkImageData
        Filled.

    Returns
    -------
    vtkImageData
    """
    image.SetDimensions(array.shape[::-1])
    image.GetPointData().SetScalars(numpy_support().numpy_to_vtk(array.reshape(-1)))
    return image


def numpy_support() -> Any:
    """VTK's functions for arrays of NumPy."""
    from vtk.util import numpy_support

    return numpy_support


def _data_array(dtype: np.dtype, count: int, components: int) -> Any:
    """A vtkDataArray without values."""
    support = numpy_support()
    made = support.create_vtk_array(support.get_vtk_array_type(dtype))
    made.SetNumberOfComponents(components)
    made.SetNumberOfTuples(count)
    ask_for_huge_pages(support.vtk_to_numpy(made))
    return made


def _memory_of(array: np.ndarray) -> Any:
    """The vtkDataArray of whose memory an array is the whole, in its order; None for others."""
    owner: Any = array
    while isinstance(owner, np.ndarray):
        owner = owner.base
    owner = owner.obj if isinstance(owner, memoryview) else owner
    if not hasattr(owner, "IsA") or not owner.IsA("vtkDataArray"):
        return None
    values = numpy_support().vtk_to_numpy(owner)
    same = array.ctypes.data == values.ctypes.data and array.size == values.size
    return owner if same and array.dtype == values.dtype and array.flags.c_contiguous else None


def _copied(values: np.ndarray) -> Any:
    """A vtkDataArray with the values (n,) or (n, components), copied by threads."""
    made = _data_array(values.dtype, len(values), values.shape[1] if values.ndim > 1 else 1)
    copy_by_threads(numpy_support().vtk_to_numpy(made), values)
    return made


def copy_by_threads(view: np.ndarray, values: np.ndarray) -> None:
    """Copy values into an array of the same shape."""
    in_parts(
        lambda first, last: np.copyto(view[first:last], values[first:last]),
        len(values),
        values.size,
    )


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


def show_as_overlay(scene_node: Any) -> None:
    """Let a connectedness map have a display, if it has none.

    That is to be before it has its image: else Slicer counts a histogram of it first (0.3 s for
    512 x 512 x 129 voxels), for the window and level that are set here.
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
