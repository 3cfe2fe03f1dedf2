"""Centrelines for other programs: what needs VTK (.vtp, .stl, .ply), and all formats of a tree.

Cross-section analysis of SlicerVMTK takes a curve (measurement Radius) or a model (point array
Radius); Centreline disassembly and the curve tree take the rooted model; Branch clipper the split
one. Coordinates in files are LPS millimetres, and the files say so, as Slicer's own do.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from FuzzyVesselCoreLib.errors import InputError
from FuzzyVesselCoreLib.mrml.surfaces import SurfaceInput
from FuzzyVesselCoreLib.translation import tr as _
from FuzzyVesselCoreLib.voxels.masks import bounding_box
from PotentialSkeletonLib import interchange
from PotentialSkeletonLib.interchange import LPS, LineSet, whole_file, world_matrix
from PotentialSkeletonLib.tree import Forest

from .lines import RADIUS, polylines, tubes, vtk_array

FORMATS = ("vmtk", "graphml", "csv", "simvascular", "stl", "ply")
HEADER = "SPACE=LPS"
SPACE = "SPACE"  # field array by which Slicer knows a model file's axes
SMOOTHING = 0.25  # of Slicer's factor for surfaces
VIEWS: dict[str, Callable] = {
    "rooted": interchange.rooted_centrelines,
    "split": interchange.split_centrelines,
    "network": lambda forest, *rest: interchange.network(forest.skeleton, *rest),
}


def poly_data(lines: LineSet) -> Any:
    """A vtkPolyData of polylines, with Radius as its active scalars."""
    data = polylines(lines.points, lines.sizes)
    for name, values in lines.point_arrays.items():
        data.GetPointData().AddArray(vtk_array(values, name))
    for name, values in lines.cell_arrays.items():
        data.GetCellData().AddArray(vtk_array(values, name))
    data.GetPointData().SetActiveScalars(RADIUS)
    return data


def write_vtp(lines: LineSet, path: str | PathLike) -> None:
    """Write lines as a .vtp file in LPS, as Slicer writes models.

    `OSError` where the file cannot be written; nothing of it is left. VMTK does not know axes: a
    surface that it works on together with the lines must be in LPS as well.
    """
    import vtk

    data = poly_data(lines.in_space(LPS))
    data.GetFieldData().AddArray(vtk_array(np.array([LPS], object), SPACE))
    _write(vtk.vtkXMLPolyDataWriter(), data, path)


def object_surface(mask: np.ndarray, ijk_to_ras: ArrayLike | None, spacing: Sequence[float]) -> Any:
    """Closed surface (vtkPolyData) of the voxels (K, J, I) that are not 0, smoothed, in LPS mm.

    Without a matrix I, J, K count times the spacing. `InputError` where the mask is empty.
    """
    box = bounding_box(np.asarray(mask) != 0)
    if box is None:
        raise InputError(_("The object is empty: it has no surface."))
    matrix = np.diag([-1.0, -1, 1, 1]) @ world_matrix(spacing, ijk_to_ras)
    matrix[:3, 3] += matrix[:3, :3] @ [side.start for side in box[::-1]]
    return SurfaceInput(mask[box] != 0, matrix, SMOOTHING).surface()


def write_surface(surface: Any, path: str | PathLike) -> None:
    """Write the triangles of a surface in LPS as binary .stl, or .ply for any other ending.

    `OSError` where the file cannot be written; nothing of it is left.
    """
    import vtk

    triangles = vtk.vtkTriangleFilter()
    triangles.SetInputData(surface)
    triangles.Update()
    if Path(path).suffix == ".stl":
        writer = vtk.vtkSTLWriter()
        writer.SetHeader(HEADER)
    else:
        writer = vtk.vtkPLYWriter()
        writer.AddComment(HEADER)
    writer.SetFileTypeToBinary()
    _write(writer, triangles.GetOutput(), path)


def _write(writer: Any, data: Any, path: str | PathLike) -> None:
    """Let a writer of VTK write a whole file, or none."""
    writer.SetInputData(data)
    with whole_file(path) as partial:
        writer.SetFileName(str(partial))
        written = writer.Write() and not writer.GetErrorCode() and partial.is_file()
        if not written or not partial.stat().st_size:
            raise OSError(_("{path} could not be written").format(path=path))


def write_tree_files(
    folder: Path,
    forest: Forest,
    ijk_to_ras: np.ndarray | None,
    formats: Collection[str],
    mask: np.ndarray | None = None,
    names: Mapping[int, str] | None = None,
) -> list[str]:
    """Write the chosen formats (of `FORMATS`) of a skeleton's forest into a folder that is there.

    `ijk_to_ras` leads from voxels I, J, K to RAS millimetres; None: I, J, K times the spacing. With
    `mask` (K, J, I), the object, its surface is written, too. Returns what was left out, and of
    which loops; `InputError` where a name of a branch cannot be written.
    """
    skeleton = forest.skeleton
    options: dict[str, Any] = dict(ijk_to_ras=ijk_to_ras, names=names, roots=forest.roots)
    if "graphml" in formats:
        interchange.write_graphml(skeleton, folder / "network.graphml", **options)
    if "csv" in formats:
        pair = folder / "network-nodes.csv", folder / "network-edges.csv"
        interchange.write_csv_pair(skeleton, *pair, **options)
    surfaces = [ending for ending in ("stl", "ply") if ending in formats]
    if mask is not None:
        for ending in surfaces:
            surface = object_surface(mask, ijk_to_ras, skeleton.spacing)
            write_surface(surface, folder / f"surface.{ending}")
    if not skeleton.branches:  # nothing that a line could follow
        return []
    network = interchange.network(skeleton, ijk_to_ras, names)
    if "vmtk" in formats:
        write_vtp(network, folder / "network.vtp")
    for ending in surfaces:
        write_surface(tubes(poly_data(network.in_space(LPS))), folder / f"tubes.{ending}")
    if not {"vmtk", "simvascular"} & set(formats):
        return []
    try:
        rooted = interchange.rooted_centrelines(forest, ijk_to_ras, names)
    except InputError as reason:  # too many endpoints: the other files are good
        return [_("The files of trees were left out. {reason}").format(reason=reason)]
    if "vmtk" in formats:
        write_vtp(rooted, folder / "centrelines-rooted.vtp")
        split = interchange.split_centrelines(forest, ijk_to_ras, names)
        write_vtp(split, folder / "centrelines-split.vtp")
    if "simvascular" in formats:
        paths = folder / "simvascular-paths"
        interchange.write_simvascular(forest, paths, ijk_to_ras=ijk_to_ras, names=names)
    cut = forest.cut
    numbers = ", ".join(str(number) for number in cut[:10]) + (", ..." if len(cut) > 10 else "")
    text = _(
        "Branches that close a loop (the thinnest of each: {numbers}) are left out of the files of "
        "trees; the network keeps them."
    )
    return [text.format(numbers=numbers)] if cut else []
