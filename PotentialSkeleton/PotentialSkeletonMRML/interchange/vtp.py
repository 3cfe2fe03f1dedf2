"""Line sets as VTK poly data, and as .vtp files."""

from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np

from FuzzyVesselCoreLib.errors import FuzzyVesselError
from FuzzyVesselCoreLib.translation import tr as _
from PotentialSkeletonLib.interchange import LPS, LineSet, whole_file

if TYPE_CHECKING:
    from vtkmodules.vtkCommonDataModel import vtkPolyData

SPACE = "SPACE"  # field array by which Slicer knows a model file's axes


def poly_data(lines: LineSet) -> "vtkPolyData":
    """A `vtkPolyData` of polylines, with Radius as its active scalars.

    Raises
    ------
    FuzzyVesselError
        If VTK is not installed.

    Examples
    --------
    >>> from PotentialSkeletonLib.interchange import LineSet
    >>> lines = LineSet(np.zeros((2, 3)), np.array([2]), {"Radius": np.ones(2)})
    >>> poly_data(lines).GetNumberOfLines()
    1
    """
    vtk = vtk_module()
    points = vtk.vtkPoints()
    points.SetData(_array(np.ascontiguousarray(lines.points, float)))
    ends = np.concatenate([[0], np.cumsum(lines.sizes)]).astype(np.int64)
    cells = vtk.vtkCellArray()
    cells.SetData(_array(ends), _array(np.arange(ends[-1])))
    data = vtk.vtkPolyData()
    data.SetPoints(points)
    data.SetLines(cells)
    for group, arrays in (
        (data.GetPointData(), lines.point_arrays),
        (data.GetCellData(), lines.cell_arrays),
    ):
        for name, values in arrays.items():
            group.AddArray(_array(values, name))
    if "Radius" in lines.point_arrays:
        data.GetPointData().SetActiveScalars("Radius")
    return data


def write_vtp(lines: LineSet, path: str | PathLike) -> None:
    """Write lines as a .vtp file in LPS, as Slicer writes models; the file says so.

    Parameters
    ----------
    lines : LineSet
    path : str or Path

    Raises
    ------
    FuzzyVesselError
        If VTK is not installed.
    OSError
        If the file cannot be written; nothing of it is left.

    Notes
    -----
    Slicer takes poly data without the field array SPACE for LPS, too. VMTK does not know axes: a
    surface that it works on together with the lines must be in LPS as well.
    """
    vtk = vtk_module()
    data = poly_data(lines.in_space(LPS))
    space = vtk.vtkStringArray()
    space.SetName(SPACE)
    space.InsertNextValue(LPS)
    data.GetFieldData().AddArray(space)
    writer = vtk.vtkXMLPolyDataWriter()
    writer.SetInputData(data)
    with whole_file(path) as partial:
        writer.SetFileName(str(partial))
        if not writer.Write() or not partial.read_bytes()[-64:].rstrip().endswith(b"</VTKFile>"):
            raise OSError(_("{path} could not be written").format(path=path))


def vtk_module() -> Any:
    """VTK; `FuzzyVesselError` where it is missing."""
    try:
        import vtk
    except ModuleNotFoundError as error:
        raise FuzzyVesselError(
            _("This needs VTK, which is not installed: pip install vtk (Slicer has it).")
        ) from error
    return vtk


def _array(values: Any, name: str | None = None) -> Any:
    from vtk.util.numpy_support import numpy_to_vtk

    if values.dtype == object:
        array = vtk_module().vtkStringArray()
        for value in values:
            array.InsertNextValue(value)
    else:
        kind = vtk_module().VTK_ID_TYPE if values.dtype == np.int64 else None
        array = numpy_to_vtk(np.ascontiguousarray(values), deep=True, array_type=kind)
    if name:
        array.SetName(name)
    return array
