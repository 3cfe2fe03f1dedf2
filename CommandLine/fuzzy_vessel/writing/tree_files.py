"""The skeleton's files for other programs: which formats, from which roots."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from FuzzyVesselCoreLib.errors import InputError

if TYPE_CHECKING:
    import numpy as np

# Those of `PotentialSkeletonMRML.interchange`, which takes long to import.
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
    labels: "np.ndarray | None",
    ijk_to_ras: "np.ndarray",
    formats: Sequence[str],
    root_voxels: Sequence[tuple[int, int, int]],
) -> tuple[dict, list[str]]:
    """Write the chosen formats into a folder.

    Parameters
    ----------
    folder : Path
    skeleton : CurveSkeleton
    labels : ndarray of bool, (K, J, I), or None
        The object; without it .stl and .ply have the tubes only.
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

    from PotentialSkeletonLib.tree import rooted_forest
    from PotentialSkeletonMRML.interchange import write_tree_files

    near = np.array(root_voxels)[:, ::-1] if root_voxels else None
    forest = rooted_forest(skeleton, near=near)
    details = {
        "formats": list(formats),
        "roots": [int(root) for root in forest.roots],
        "branches_cut_in_trees": forest.cut,
    }
    return details, write_tree_files(folder, forest, ijk_to_ras, formats, labels)
