"""Arrays as VTK images and back."""

import numpy as np


def image_from_array(array, image=None):
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
    from vtk.util.numpy_support import numpy_to_vtk

    image = vtk.vtkImageData() if image is None else image
    image.SetDimensions(array.shape[2::-1])
    values = np.ascontiguousarray(array).reshape(-1, *array.shape[3:])
    image.GetPointData().SetScalars(numpy_to_vtk(values, deep=True))
    return image


def array_from_image(image):
    """The voxels of a vtkImageData: ndarray, shape (K, J, I); a view, not a copy."""
    from vtk.util.numpy_support import vtk_to_numpy

    return vtk_to_numpy(image.GetPointData().GetScalars()).reshape(image.GetDimensions()[::-1])
