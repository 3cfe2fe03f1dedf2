"""The labels in the formats of other programs: NIfTI and OME-Zarr."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from FuzzyVesselCoreLib.errors import InputError

LABEL_FORMATS = ("nii.gz", "ome-zarr")
OME_VERSION = "0.4"
CHUNK = 128
SQUARE = 1e-4  # an axis that is turned by less is none that is turned


def check_label_formats(formats: Sequence[str]) -> None:
    """Refuse a format whose package is not installed, before anything is computed.

    Raises
    ------
    InputError
    """
    if "ome-zarr" in formats:
        try:
            import zarr  # noqa: F401
        except ImportError as error:
            raise InputError(
                f"--label-formats ome-zarr needs the package zarr, which is not installed ({error})"
                "; install it with: pip install 'fuzzy-vessel-gpu[zarr]'"
            ) from error


def write_labels(folder: Path, stem: str, node: Any, formats: Sequence[str]) -> list[str]:
    """Write a labelmap in the chosen formats.

    Parameters
    ----------
    folder : Path
    stem : str
        Of the files' names.
    node : vtkMRMLLabelMapVolumeNode
    formats : sequence of str
        Of `LABEL_FORMATS`.

    Returns
    -------
    list of str
        Warnings.

    Raises
    ------
    OSError
        A file could not be written, or is not whole.
    """
    from .nodes import write_nodes

    if "nii.gz" in formats:
        write_nodes(folder, {f"{stem}.nii.gz": node})
    if "ome-zarr" not in formats:
        return []
    import numpy as np
    import slicer

    from FuzzyVesselCoreLib.mrml.reading import ijk_to_ras

    matrix = ijk_to_ras(node)
    _write_ome_zarr(folder / f"{stem}.ome.zarr", slicer.util.arrayFromVolume(node), matrix)
    steps = np.linalg.norm(matrix[:3, :3], axis=0)
    if np.abs(matrix[:3, :3] / steps - np.diag([-1, -1, 1])).max() < SQUARE:
        return []
    return [
        f"{stem}.ome.zarr holds no directions (OME-Zarr has none): its voxels are those of the "
        "volume, its axes are not; take the .nii.gz or .nrrd for those."
    ]


def _write_ome_zarr(path, labels, matrix):
    """An OME-Zarr label image of one resolution."""
    import numpy as np
    import zarr

    spacing = np.linalg.norm(matrix[:3, :3], axis=0)[::-1]
    origin = (np.diag([-1, -1, 1]) @ matrix[:3, 3])[::-1]
    placed = [
        {"type": "scale", "scale": [float(mm) for mm in spacing]},
        {"type": "translation", "translation": [float(mm) for mm in origin]},
    ]
    multiscale = {
        "version": OME_VERSION,
        "name": path.name.split(".")[0],
        "axes": [{"name": name, "type": "space", "unit": "millimeter"} for name in "zyx"],
        "datasets": [{"path": "0", "coordinateTransformations": placed}],
    }
    group = zarr.open_group(str(path), mode="w", zarr_format=2)
    group.create_array(
        "0",
        data=np.ascontiguousarray(labels),
        chunks=tuple(min(size, CHUNK) for size in labels.shape),
        chunk_key_encoding={"name": "v2", "separator": "/"},
    )
    group.attrs.update({"multiscales": [multiscale], "image-label": {"version": OME_VERSION}})
