"""The target of labels: an OME-Zarr label image (OME-NGFF 0.5) where its name says so."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ... import stores

SUFFIX, VERSION = ".ome.zarr", "0.5"


def create(
    path: Path,
    shape: tuple[int, ...],
    voxel_type: Any,
    block: tuple[int, ...],
    spacing: Sequence[float] | None = None,
    origin: Sequence[float] | None = None,
) -> None:
    """Create labels of zeros at a path: of one resolution, ``0``, if that ends in .ome.zarr.

    Parameters
    ----------
    path, shape, voxel_type, block
        As of `stores.create`.
    spacing, origin : sequence of 3 float, optional
        Of the voxels, and place of the first one, along K, J, I in mm.
    """
    if not path.name.endswith(SUFFIX):
        stores.create(path, shape, voxel_type, block, {})
        return
    zarr = stores.import_zarr(str(path))
    group = zarr.create_group(str(path))
    stores.create(path / "0", shape, voxel_type, block, {})
    scale = [float(mm) for mm in spacing or (1, 1, 1)]
    at = [float(mm) for mm in origin or (0, 0, 0)]
    placed = [{"type": "scale", "scale": scale}, {"type": "translation", "translation": at}]
    multiscale = {
        "name": path.name.removesuffix(SUFFIX),
        "axes": [{"name": name, "type": "space", "unit": "millimeter"} for name in "zyx"],
        "datasets": [{"path": "0", "coordinateTransformations": placed}],
    }
    group.attrs["ome"] = {"version": VERSION, "multiscales": [multiscale], "image-label": {}}
