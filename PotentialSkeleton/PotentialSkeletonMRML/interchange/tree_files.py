"""All formats of a tree in a folder, with the names of its branches."""

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from FuzzyVesselCoreLib.errors import InputError
from FuzzyVesselCoreLib.translation import tr as _
from PotentialSkeletonLib import interchange

from .surfaces import object_surface, tube_surface, write_surface
from .vtp import write_vtp

if TYPE_CHECKING:
    import numpy as np

    from PotentialSkeletonLib.tree import Forest

ROOTED, SPLIT, NETWORK = "centrelines-rooted.vtp", "centrelines-split.vtp", "network.vtp"
GRAPHML, NODES, EDGES = "network.graphml", "network-nodes.csv", "network-edges.csv"
PATHS = "simvascular-paths"
FORMATS = ("vmtk", "graphml", "csv", "simvascular", "stl", "ply")


def write_tree_files(
    folder: Path,
    forest: "Forest",
    ijk_to_ras: "np.ndarray | None",
    formats: Collection[str],
    mask: "np.ndarray | None" = None,
    names: Mapping[int, str] | None = None,
) -> list[str]:
    """Write the chosen formats into a folder.

    Parameters
    ----------
    folder : Path
        It is there.
    forest : Forest
        Of the skeleton, with the roots.
    ijk_to_ras : ndarray, (4, 4), or None
        From voxels I, J, K to RAS millimetres; None: I, J, K times the spacing.
    formats : collection of str
        Of `FORMATS`.
    mask : ndarray, (K, J, I), optional
        The object; without it .stl and .ply have the tubes only.
    names : mapping of int to str, optional
        Of branches.

    Returns
    -------
    list of str
        What was left out, and of which loops.

    Raises
    ------
    InputError
        If a name cannot be written.
    OSError
        If a file cannot be written.
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
    return _write_trees(folder, forest, ijk_to_ras, formats, names)


def _write_trees(folder, forest, ijk_to_ras, formats, names):
    """What goes from the root to each endpoint; warnings."""
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
    return [_loops_text(forest.cut)] if forest.cut else []


def _loops_text(cut):
    what = (
        _("1 branch closes a loop")
        if len(cut) == 1
        else _("{count} branches close loops").format(count=len(cut))
    )
    numbers = ", ".join(str(number) for number in cut[:10]) + (", ..." if len(cut) > 10 else "")
    return _(
        "{what} (the thinnest of each: {numbers}); the files of trees leave them out, the network "
        "keeps them."
    ).format(what=what, numbers=numbers)
