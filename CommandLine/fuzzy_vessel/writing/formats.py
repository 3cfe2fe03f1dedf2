"""Labels and trees in the formats of other programs."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from FuzzyVesselCoreLib.errors import InputError

LABEL_FORMATS = ("nii.gz", "ome-zarr")
# Those of `PotentialSkeletonMRML.interchange`, which takes long to import.
TREE_FORMATS = ("vmtk", "graphml", "csv", "simvascular", "stl", "ply")
DEFAULT_TREE_FORMATS = ("vmtk", "graphml", "csv", "simvascular")
OME_VERSION = "0.4"
CHUNK = 128
SQUARE = 1e-4  # an axis that is turned by less is none that is turned


def check_label_formats(formats: Sequence[str]) -> None:
    """Refuse a format whose package is not installed, before anything is computed."""
    if "ome-zarr" in formats:
        try:
            import zarr  # noqa: F401
        except ImportError as error:
            raise InputError(
                f"--label-formats ome-zarr needs the package zarr, which is not installed ({error})"
                "; install it with: pip install 'fuzzy-vessel-gpu[zarr]'"
            ) from error


def write_labels(folder: Path, stem: str, node: Any, formats: Sequence[str]) -> list[str]:
    """Write a labelmap node in formats of `LABEL_FORMATS`; returns warnings."""
    from .nodes import write_nodes

    if "nii.gz" in formats:
        write_nodes(folder, {f"{stem}.nii.gz": node})
    if "ome-zarr" not in formats:
        return []
    import numpy as np
    import slicer
    import zarr

    from FuzzyVesselCoreLib.mrml.reading import ijk_to_ras

    matrix, labels = np.diag([-1, -1, 1]) @ ijk_to_ras(node)[:3], slicer.util.arrayFromVolume(node)
    steps, origin = np.linalg.norm(matrix[:, :3], axis=0), matrix[:, 3]
    scale = {"type": "scale", "scale": steps[::-1].tolist()}
    translation = {"type": "translation", "translation": origin[::-1].tolist()}
    multiscale: Any = {
        "version": OME_VERSION,
        "name": stem,
        "axes": [{"name": name, "type": "space", "unit": "millimeter"} for name in "zyx"],
        "datasets": [{"path": "0", "coordinateTransformations": [scale, translation]}],
    }
    group = zarr.open_group(str(folder / f"{stem}.ome.zarr"), mode="w", zarr_format=2)
    group.create_array(
        "0",
        data=np.ascontiguousarray(labels),
        chunks=tuple(min(size, CHUNK) for size in labels.shape),
        chunk_key_encoding={"name": "v2", "separator": "/"},
    )
    group.attrs.update({"multiscales": [multiscale], "image-label": {"version": OME_VERSION}})
    if np.abs(matrix[:, :3] / steps - np.eye(3)).max() < SQUARE:
        return []
    return [
        f"{stem}.ome.zarr holds no directions (OME-Zarr has none): its voxels are those of the "
        "volume, its axes are not; take the .nii.gz or .nrrd for those."
    ]


def check_roots(voxels: Iterable[tuple[int, int, int]], size: Sequence[int]) -> None:
    """Refuse a root (I, J, K) outside a labelmap of this size (I, J, K)."""
    for voxel in voxels:
        if not all(0 <= at < count for at, count in zip(voxel, size)):
            given, whole = (",".join(str(at) for at in each) for each in (voxel, size))
            raise InputError(f"--root {given} lies outside the labelmap of {whole} voxels.")


def write_trees(
    folder: Path,
    skeleton: Any,
    labels: Any,
    ijk_to_ras: Any,
    formats: Sequence[str],
    root_voxels: Sequence[tuple[int, int, int]],
) -> tuple[dict, list[str]]:
    """Write a skeleton as rooted trees and networks; returns details for the report, and warnings.

    Each root (I, J, K) chooses the nearest end of its tree. Without labels (the object, K, J, I)
    .stl and .ply have the tubes only.
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
