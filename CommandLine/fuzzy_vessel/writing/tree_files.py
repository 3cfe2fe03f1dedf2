"""The skeleton's files for other programs: which formats, from which roots."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from FuzzyVesselCoreLib.errors import InputError

if TYPE_CHECKING:
    import numpy as np

ROOTED, SPLIT, NETWORK = "centrelines-rooted.vtp", "centrelines-split.vtp", "network.vtp"
GRAPHML, NODES, EDGES = "network.graphml", "network-nodes.csv", "network-edges.csv"
PATHS = "simvascular-paths"
FORMATS = ("vmtk", "graphml", "csv", "simvascular", "stl", "ply")
DEFAULT_FORMATS = ("vmtk", "graphml", "csv", "simvascular")


def check_roots(voxels: Iterable[tuple[int, int, int]], size: Sequence[int]) -> None:
    """Refuse a root outside a labelmap.

    Parameters
    ----------
    voxels : iterable of (I, J, K)
    size : sequence of int
        I, J, K.

    Raises
    ------
    InputError
    """
    for voxel in voxels:
        if not all(0 <= at < count for at, count in zip(voxel, size)):
            given, whole = (",".join(str(at) for at in each) for each in (voxel, size))
            raise InputError(f"--root {given} lies outside the labelmap of {whole} voxels.")


def write(
    folder: Path,
    skeleton: Any,
    labels: "np.ndarray",
    ijk_to_ras: "np.ndarray",
    formats: Sequence[str],
    root_voxels: Sequence[tuple[int, int, int]],
) -> tuple[dict, list[str]]:
    """Write the chosen formats into a folder.

    Parameters
    ----------
    folder : Path
    skeleton : CurveSkeleton
    labels : ndarray of bool, (K, J, I)
        The object.
    ijk_to_ras : ndarray, (4, 4)
    formats : iterable of str
        Of `FORMATS`.
    root_voxels : list of (int, int, int)
        I, J, K; each chooses the nearest end as the root of its tree.

    Returns
    -------
    details : dict
        For the report: the formats, the roots (nodes) and the branches that the trees leave out.
    warnings : list of str
    """
    import numpy as np

    from PotentialSkeletonLib import interchange
    from PotentialSkeletonLib.tree import rooted_forest
    from PotentialSkeletonMRML import interchange as vtk_files

    near = np.array(root_voxels)[:, ::-1] if root_voxels else None
    forest = rooted_forest(skeleton, near=near)
    details = {
        "formats": list(formats),
        "roots": [int(root) for root in forest.roots],
        "branches_cut_in_trees": forest.cut,
    }
    if "graphml" in formats:
        interchange.write_graphml(
            skeleton, folder / GRAPHML, ijk_to_ras=ijk_to_ras, roots=forest.roots
        )
    if "csv" in formats:
        interchange.write_csv_pair(
            skeleton, folder / NODES, folder / EDGES, ijk_to_ras=ijk_to_ras, roots=forest.roots
        )
    for ending in set(formats) & {"stl", "ply"}:
        surface = vtk_files.object_surface(labels, ijk_to_ras, skeleton.spacing)
        vtk_files.write_surface(surface, folder / f"surface.{ending}")
    if not skeleton.branches:  # nothing that a line could follow
        return details, []
    _write_lines(folder, forest, ijk_to_ras, formats)
    return details, _write_trees(folder, forest, ijk_to_ras, formats)


def _write_lines(folder, forest, ijk_to_ras, formats):
    """What has each branch once."""
    from PotentialSkeletonLib import interchange
    from PotentialSkeletonMRML import interchange as vtk_files

    network = interchange.network(forest.skeleton, ijk_to_ras)
    if "vmtk" in formats:
        vtk_files.write_vtp(network, folder / NETWORK)
    for ending in set(formats) & {"stl", "ply"}:
        vtk_files.write_surface(vtk_files.tube_surface(network), folder / f"tubes.{ending}")


def _write_trees(folder, forest, ijk_to_ras, formats):
    """What goes from the root to each endpoint; warnings."""
    from PotentialSkeletonLib import interchange
    from PotentialSkeletonMRML import interchange as vtk_files

    if not {"vmtk", "simvascular"} & set(formats):
        return []
    try:
        rooted = interchange.rooted_centrelines(forest, ijk_to_ras)
    except InputError as reason:  # too many endpoints: the other files are good
        return [f"The files of trees were left out. {reason}"]
    if "vmtk" in formats:
        vtk_files.write_vtp(rooted, folder / ROOTED)
        vtk_files.write_vtp(interchange.split_centrelines(forest, ijk_to_ras), folder / SPLIT)
    if "simvascular" in formats:
        interchange.write_simvascular(forest, folder / PATHS, ijk_to_ras=ijk_to_ras)
    return [_loops_text(forest.cut)] if forest.cut else []


def _loops_text(cut):
    what = "1 branch closes a loop" if len(cut) == 1 else f"{len(cut)} branches close loops"
    numbers = ", ".join(str(number) for number in cut[:10]) + (", ..." if len(cut) > 10 else "")
    return (
        f"{what} (the thinnest of each: {numbers}); the files of trees leave them out, the network "
        "keeps them."
    )
