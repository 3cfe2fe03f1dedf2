"""Centrelines of numbered components, one in memory at a time, and their files."""

from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from FuzzyConnectedGPULib.distributed import ComponentTable
from PotentialSkeletonLib import SkeletonOptions
from PotentialSkeletonLib.by_component import skeletonize_components
from PotentialSkeletonMRML.interchange import vtk_module

from ..progress_bar import Stopwatch
from ..writing import formats, nodes
from .placing import Place

UNFINISHED = "centrelines.unfinished"
VTK_FORMATS = {"vmtk", "stl", "ply"}
OPTIONS = ("level", "strength", "charge_distance", "drop_islands", "close_tunnels", "device")


def refuse_missing_vtk(formats: Sequence[str]) -> None:
    """Refuse formats that VTK writes where it is not installed, before anything is computed.

    Raises
    ------
    FuzzyVesselError
    """
    if VTK_FORMATS.intersection(formats):
        vtk_module()


def find_centrelines(
    folder: Path,
    labels: Any,
    table: ComponentTable,
    place: Place,
    options: Namespace,
    limit: int | None,
    watch: Stopwatch,
) -> tuple[Any, dict]:
    """Find the skeleton and write branches, samples and trees, as of a volume in memory.

    Parameters
    ----------
    folder : Path
        Of the results; what a run that is ended has finished is kept there.
    labels : zarr array
        Numbered components.
    table : ComponentTable
    place : Place
    options : Namespace
    limit : int or None
        Bytes.
    watch : Stopwatch

    Returns
    -------
    skeleton : CurveSkeleton
    trees : dict
        What `formats.write_trees` found, and its warnings.

    Raises
    ------
    FuzzyVesselError
    Cancelled
    """
    watch.stage("Finding centrelines")
    chosen: dict[str, Any] = {name: getattr(options, name) for name in OPTIONS}
    skeleton = skeletonize_components(
        labels, *table, place.spacing, options=SkeletonOptions(**chosen),
        folder=folder / UNFINISHED, memory_limit=limit, progress=watch.progress,
    )  # fmt: skip
    watch.stage("Writing centrelines")
    skeleton.to_csv(folder / nodes.BRANCHES)
    text = skeleton.to_swc(voxel_to_world=place.ijk_to_ras)
    text = "# x y z: right, anterior, superior (RAS), as Slicer shows them\n" + text
    (folder / nodes.SWC).write_text(text, encoding="utf-8", newline="\n")
    trees, warnings = formats.write_trees(
        folder, skeleton, None, place.ijk_to_ras, options.formats, options.root
    )
    return skeleton, trees | {"warnings": warnings}
