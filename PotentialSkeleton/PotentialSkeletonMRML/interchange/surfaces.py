"""Surfaces as .stl and .ply: of the object, and of the tubes that its centrelines describe.

Coordinates are LPS millimetres, and the files say so, as Slicer's own do.
"""

from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from FuzzyVesselCoreLib.errors import InputError
from FuzzyVesselCoreLib.translation import tr as _
from PotentialSkeletonLib.interchange import LPS, LineSet, whole_file, world_matrix

from .vtp import poly_data, vtk_module

if TYPE_CHECKING:
    from vtkmodules.vtkCommonDataModel import vtkPolyData

HEADER = "SPACE=LPS"
SIDES = 16  # of a tube
SMOOTHING, PASS_BAND = 15, 0.1  # passes of the windowed sinc filter (Taubin et al. 1996)


def object_surface(
    mask: np.ndarray, ijk_to_ras: ArrayLike | None, spacing: Sequence[float]
) -> "vtkPolyData":
    """Closed surface of the voxels that are not 0, smoothed, in LPS mm.

    Parameters
    ----------
    mask : ndarray, (K, J, I)
    ijk_to_ras : array_like, (4, 4), optional
        By default I, J, K times the spacing.
    spacing : 3 floats
        K, J, I in mm.

    Raises
    ------
    InputError
        If the mask is empty, or the matrix does not fit.

    Examples
    --------
    >>> surface = object_surface(np.ones((4, 4, 4)), None, (1, 1, 1))
    >>> surface.GetNumberOfPolys() > 0
    True
    """
    vtk = vtk_module()
    from vtk.util.numpy_support import numpy_to_vtk

    solid = np.argwhere(mask)
    if not len(solid):
        raise InputError(_("The object is empty: it has no surface."))
    first, last = solid.min(axis=0), solid.max(axis=0) + 1
    box = np.pad(mask[tuple(map(slice, first, last))] != 0, 1).astype(np.uint8)
    image = vtk.vtkImageData()
    image.SetDimensions(*box.shape[::-1])
    image.SetOrigin(*(float(start) - 1 for start in first[::-1]))
    image.GetPointData().SetScalars(numpy_to_vtk(box.ravel(), deep=True))
    contour = vtk.vtkFlyingEdges3D()
    contour.SetInputData(image)
    contour.SetValue(0, 0.5)
    contour.ComputeNormalsOff()
    contour.ComputeScalarsOff()
    smooth = vtk.vtkWindowedSincPolyDataFilter()
    smooth.SetInputConnection(contour.GetOutputPort())
    smooth.SetNumberOfIterations(SMOOTHING)
    smooth.SetPassBand(PASS_BAND)
    smooth.NormalizeCoordinatesOn()
    matrix = np.diag([-1.0, -1, 1, 1]) @ world_matrix(spacing, ijk_to_ras)
    return _moved(smooth, matrix)


def tube_surface(lines: LineSet) -> "vtkPolyData":
    """Surface of tubes round lines (their array Radius), triangles with caps, in LPS mm."""
    vtk = vtk_module()
    tube = vtk.vtkTubeFilter()
    tube.SetInputData(poly_data(lines.in_space(LPS)))
    tube.SetVaryRadiusToVaryRadiusByAbsoluteScalar()
    tube.SetNumberOfSides(SIDES)
    tube.CappingOn()
    triangles = vtk.vtkTriangleFilter()
    triangles.SetInputConnection(tube.GetOutputPort())
    triangles.Update()
    return triangles.GetOutput()


def write_surface(surface: "vtkPolyData", path: str | PathLike) -> None:
    """Write a surface in LPS as binary .stl or .ply, after the path's ending.

    Raises
    ------
    InputError
        If the ending is another, or the surface has no triangle.
    OSError
        If the file cannot be written; nothing of it is left.
    """
    vtk = vtk_module()
    writers = {".stl": vtk.vtkSTLWriter, ".ply": vtk.vtkPLYWriter}
    ending = Path(path).suffix.lower()
    if ending not in writers:
        raise InputError(_("{path}: surfaces are written as .stl or .ply.").format(path=path))
    if not surface.GetNumberOfPolys():
        raise InputError(
            _("{path}: the surface has no triangle; there is nothing to write.").format(path=path)
        )
    writer = writers[ending]()
    writer.SetInputData(surface)
    writer.SetFileTypeToBinary()
    if ending == ".stl":
        writer.SetHeader(HEADER)
    else:
        writer.AddComment(HEADER)
    with whole_file(path) as partial:
        writer.SetFileName(str(partial))
        if not writer.Write() or not partial.is_file() or not partial.stat().st_size:
            raise OSError(_("{path} could not be written").format(path=path))


def _moved(source: Any, matrix: Any) -> Any:
    vtk = vtk_module()
    transform = vtk.vtkTransform()
    transform.SetMatrix([float(value) for value in matrix.ravel()])
    moved = vtk.vtkTransformPolyDataFilter()
    moved.SetTransform(transform)
    moved.SetInputConnection(source.GetOutputPort())
    turned = vtk.vtkReverseSense()  # a mirroring matrix turns triangles inside out
    turned.SetReverseCells(bool(np.linalg.det(matrix) < 0))
    turned.ReverseNormalsOff()
    turned.SetInputConnection(moved.GetOutputPort())
    turned.Update()
    return turned.GetOutput()
