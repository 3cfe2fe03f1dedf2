"""Centrelines for other programs: what needs VTK (.vtp, .stl, .ply), all formats of a tree, and
models and curves of the scene as SlicerVMTK takes them.

Cross-section analysis takes one of the curves (measurement Radius) or a model (point array Radius);
Centreline disassembly and the curve tree take the rooted model; Branch clipper the split one.
Coordinates in files are LPS millimetres, and the files say so, as Slicer's own do.
"""

import shutil
import tempfile
from collections.abc import Callable, Collection, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from FuzzyVesselCoreLib.errors import FuzzyVesselError, InputError
from FuzzyVesselCoreLib.geometry import transform_points
from FuzzyVesselCoreLib.mrml.changes import all_or_nothing
from FuzzyVesselCoreLib.mrml.surfaces import SurfaceInput
from FuzzyVesselCoreLib.translation import tr as _
from FuzzyVesselCoreLib.voxels.masks import bounding_box
from PotentialSkeletonLib import CurveSkeleton, interchange
from PotentialSkeletonLib.interchange import (
    LPS,
    LineSet,
    whole_file,
    world_matrix,
)
from PotentialSkeletonLib.tree import Forest, rooted_forest

from .lines import fill_model, names_of, polylines, show_model, stored_skeleton, vtk_array
from .run_nodes import SkeletonResult

ROOTED, SPLIT, NETWORK = "centrelines-rooted.vtp", "centrelines-split.vtp", "network.vtp"
GRAPHML, NODES, EDGES = "network.graphml", "network-nodes.csv", "network-edges.csv"
PATHS = "simvascular-paths"
FORMATS = ("vmtk", "graphml", "csv", "simvascular", "stl", "ply")
HEADER = "SPACE=LPS"
SPACE = "SPACE"  # field array by which Slicer knows a model file's axes
SIDES = 16  # of a tube
SMOOTHING = 0.25  # of Slicer's factor for surfaces
LETTERS = 40  # of a folder's name in that of what is half written
VIEWS: dict[str, Callable] = {
    "rooted": interchange.rooted_centrelines,
    "split": interchange.split_centrelines,
    "network": lambda forest, *rest: interchange.network(forest.skeleton, *rest),
}


def vtk_module() -> Any:
    """VTK; `FuzzyVesselError` where it is missing."""
    try:
        import vtk
    except ModuleNotFoundError as error:
        raise FuzzyVesselError(
            _("This needs VTK, which is not installed: pip install vtk (Slicer has it).")
        ) from error
    return vtk


def poly_data(lines: LineSet) -> Any:
    """A vtkPolyData of polylines, with Radius as its active scalars.

    Examples
    --------
    >>> lines = LineSet(np.zeros((2, 3)), np.array([2]), {"Radius": np.ones(2)})
    >>> poly_data(lines).GetNumberOfLines()
    1
    """
    vtk_module()
    data = polylines(lines.points, lines.sizes)
    for group, arrays in (
        (data.GetPointData(), lines.point_arrays),
        (data.GetCellData(), lines.cell_arrays),
    ):
        for name, values in arrays.items():
            group.AddArray(vtk_array(values, name))
    if "Radius" in lines.point_arrays:
        data.GetPointData().SetActiveScalars("Radius")
    return data


def write_vtp(lines: LineSet, path: str | PathLike) -> None:
    """Write lines as a .vtp file in LPS, as Slicer writes models.

    `OSError` where the file cannot be written; nothing of it is left. VMTK does not know axes: a
    surface that it works on together with the lines must be in LPS as well.
    """
    data = poly_data(lines.in_space(LPS))
    data.GetFieldData().AddArray(vtk_array(np.array([LPS], object), SPACE))
    writer = vtk_module().vtkXMLPolyDataWriter()
    writer.SetInputData(data)
    with whole_file(path) as partial:
        writer.SetFileName(str(partial))
        if not writer.Write() or not partial.read_bytes()[-64:].rstrip().endswith(b"</VTKFile>"):
            raise OSError(_("{path} could not be written").format(path=path))


def object_surface(mask: np.ndarray, ijk_to_ras: ArrayLike | None, spacing: Sequence[float]) -> Any:
    """Closed surface (vtkPolyData) of the voxels that are not 0, smoothed, in LPS mm.

    Parameters
    ----------
    mask : ndarray, (K, J, I)
        `InputError` where it is empty.
    ijk_to_ras : array_like, (4, 4), optional
        By default I, J, K times the spacing.
    spacing : 3 floats
        K, J, I in mm.

    Examples
    --------
    >>> surface = object_surface(np.ones((4, 4, 4)), None, (1, 1, 1))
    >>> surface.GetNumberOfPolys() > 0
    True
    """
    vtk_module()
    box = bounding_box(np.asarray(mask) != 0)
    if box is None:
        raise InputError(_("The object is empty: it has no surface."))
    matrix = np.diag([-1.0, -1, 1, 1]) @ world_matrix(spacing, ijk_to_ras)
    matrix[:3, 3] += matrix[:3, :3] @ [side.start for side in box[::-1]]
    return SurfaceInput(mask[box] != 0, matrix, SMOOTHING).surface()


def tube_surface(lines: LineSet) -> Any:
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


def write_surface(surface: Any, path: str | PathLike) -> None:
    """Write a surface in LPS as binary .stl or .ply, after the path's ending.

    `InputError` where the ending is another, or the surface has no triangle; `OSError` where the
    file cannot be written; nothing of it is left.
    """
    vtk, ending = vtk_module(), Path(path).suffix.lower()
    writers = {".stl": vtk.vtkSTLWriter, ".ply": vtk.vtkPLYWriter}
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


# --- a tree as files


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
        interchange.write_graphml(skeleton, folder / GRAPHML, **options)
    if "csv" in formats:
        interchange.write_csv_pair(skeleton, folder / NODES, folder / EDGES, **options)
    surfaces = [ending for ending in ("stl", "ply") if ending in formats]
    if mask is not None:
        for ending in surfaces:
            surface = object_surface(mask, ijk_to_ras, skeleton.spacing)
            write_surface(surface, folder / f"surface.{ending}")
    if not skeleton.branches:  # nothing that a line could follow
        return []
    network = interchange.network(skeleton, ijk_to_ras, names)
    if "vmtk" in formats:
        write_vtp(network, folder / NETWORK)
    for ending in surfaces:
        write_surface(tube_surface(network), folder / f"tubes.{ending}")
    if not {"vmtk", "simvascular"} & set(formats):
        return []
    try:
        rooted = interchange.rooted_centrelines(forest, ijk_to_ras, names)
    except InputError as reason:  # too many endpoints: the other files are good
        return [_("The files of trees were left out. {reason}").format(reason=reason)]
    if "vmtk" in formats:
        write_vtp(rooted, folder / ROOTED)
        write_vtp(interchange.split_centrelines(forest, ijk_to_ras, names), folder / SPLIT)
    if "simvascular" in formats:
        interchange.write_simvascular(forest, folder / PATHS, ijk_to_ras=ijk_to_ras, names=names)
    cut = forest.cut
    if not cut:
        return []
    what = (
        _("1 branch closes a loop")
        if len(cut) == 1
        else _("{count} branches close loops").format(count=len(cut))
    )
    numbers = ", ".join(str(number) for number in cut[:10]) + (", ..." if len(cut) > 10 else "")
    return [
        _(
            "{what} (the thinnest of each: {numbers}); the files of trees leave them out, the "
            "network keeps them."
        ).format(what=what, numbers=numbers)
    ]


def save_tree(model: Any, path: str | PathLike) -> None:
    """Write a tree of the scene in world coordinates, with its names: .swc, .graphml or .vtp (LPS).

    `InputError` for another ending, or a name that cannot be written; `OSError` where the file
    cannot be written: nothing of it is left.
    """
    ending, skeleton, names = Path(path).suffix.lower(), _in_world(model), names_of(model)
    if ending == ".swc":
        said = "".join(f"# branch {number}: {name}\n" for number, name in sorted(names.items()))
        with whole_file(path) as partial:
            partial.write_text(said + skeleton.to_swc(), encoding="utf-8", newline="\n")
    elif ending == ".graphml":
        interchange.write_graphml(skeleton, path, names=names)
    elif ending == ".vtp":
        write_vtp(interchange.network(skeleton, names=names), path)
    else:
        raise InputError(
            _("{path}: trees are written as {endings}.").format(
                path=path, endings=".swc, .graphml, .vtp"
            )
        )


def save_formats(
    model: Any,
    folder: str | PathLike,
    formats: Collection[str] = FORMATS,
    root_places: Any = None,
) -> list[str]:
    """Write a tree in world coordinates, with its names, as a new folder of files.

    `formats` are of `FORMATS` ("stl" and "ply": the tubes); the ends nearest to `root_places` (n,
    3; R, A, S in the world) are roots. Returns what was left out, and of which loops. `InputError`
    where the folder holds something or the one above it is missing, or a format, root or name does
    not fit; `OSError` where a file cannot be written: nothing of the folder is left.
    """
    folder = Path(folder)
    unknown = sorted(set(formats) - set(FORMATS))
    if unknown:
        raise InputError(
            _("{name!r} is no format: use {formats}.").format(
                name=unknown[0], formats=", ".join(FORMATS)
            )
        )
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise InputError(
            _("{folder} is there already: choose another folder.").format(folder=folder)
        )
    near = None if root_places is None else checked_places(root_places)[:, ::-1]
    forest = rooted_forest(_in_world(model), near=near)
    if not folder.parent.is_dir():
        raise InputError(
            _("{folder} cannot be made: there is no folder {parent}.").format(
                folder=folder, parent=folder.parent
            )
        )
    try:
        made = tempfile.mkdtemp(prefix=f".{folder.name[:LETTERS]}-", dir=folder.parent)
    except OSError as error:  # it names the folder that was asked for
        raise OSError(error.errno, error.strerror, str(folder)) from error
    partial = Path(made)
    try:
        partial.chmod(0o755)  # not for its owner alone, as temporary folders are
        said = write_tree_files(partial, forest, None, formats, names=names_of(model))
        partial.replace(folder)
    finally:
        shutil.rmtree(partial, ignore_errors=True)
    return said


def _in_world(model: Any) -> CurveSkeleton:
    skeleton = stored_skeleton(model, in_world=True)
    assert skeleton is not None  # a `Tree` has lines
    return skeleton


def checked_places(places: Any) -> np.ndarray:
    """Places as an array (n, 3) of R, A, S in mm, at least one; `InputError` for anything else."""
    try:
        found = np.asarray(places, float)
    except (TypeError, ValueError):
        found = np.empty(0)
    if found.ndim != 2 or found.shape[1] != 3 or not np.isfinite(found).all() or not len(found):
        raise InputError(
            _(
                "The places of the roots are {places!r}: give a list of finite R, A, S in mm."
            ).format(places=places)
        )
    return found


# --- models and curves for SlicerVMTK


def addCentrelineModel(
    result: SkeletonResult,
    name: str,
    view: str = "rooted",
    rootPoints: ArrayLike | None = None,
    transformNodeID: str | None = None,
    names: Mapping[int, str] | None = None,
) -> Any:
    """Add a vtkMRMLModelNode of a skeleton's centrelines with VMTK's arrays.

    Parameters
    ----------
    result : SkeletonResult
        With skeleton and ijkToRAS.
    name : str
        Of the node.
    view : str
        "rooted", "split" or "network": see `PotentialSkeletonLib.interchange`.
    rootPoints : array_like, (n, 3), optional
        In RAS below the parent transform; each makes the nearest end the root of its tree.
    transformNodeID : str, optional
        Of the parent transform.
    names : mapping of int to str, optional
        Of branches; they become the cell array Name.

    `InputError` where the view, a root or a name does not fit, or there is no branch.
    """
    if view not in VIEWS:
        raise InputError(
            _("The view {view!r} is unknown: use {views}.").format(
                view=view, views=", ".join(VIEWS)
            )
        )
    data = poly_data(VIEWS[view](_forest_of(result, rootPoints), result.ijkToRAS, names))
    with all_or_nothing() as add:
        node = add("vtkMRMLModelNode", name)
        fill_model(node, data, transformNodeID)
        show_model(node, lines=True)
    return node


def _forest_of(result: SkeletonResult, rootPoints: ArrayLike | None) -> Forest:
    near = None
    if rootPoints is not None:
        near = transform_points(np.linalg.inv(np.asarray(result.ijkToRAS)), rootPoints)[:, ::-1]
    return rooted_forest(result.skeleton, near=near)
