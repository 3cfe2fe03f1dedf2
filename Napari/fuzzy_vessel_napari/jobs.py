"""Both jobs on layers, from arrays (K, J, I) to layers in the same place.

Each takes layers in the main thread and returns ``job(progress) -> (layers, text)``, which runs in
another one; a layer is napari's tuple of data, keyword arguments and kind.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from napari.utils.colormaps import ensure_colormap

from FuzzyConnectedGPULib import segment
from FuzzyVesselCoreLib.errors import InputError
from PotentialSkeletonLib import skeletonize

Progress = Callable[[float], bool]
Job = Callable[[Progress], tuple[list[tuple], str]]


def vessels_job(
    image: Any,
    points: Any,
    background: Any = None,
    mask: Any = None,
    automatic: bool = True,
    threshold: float = 0.5,
    device: str = "auto",
) -> Job:
    """The segmentation of the vessels that points lie in; `InputError` names a layer that does not
    fit. The threshold (0 to 1) counts where it is not the automatic one."""
    if image is None:
        raise InputError("Choose the image with the vessels: open one first.")
    volume, place, name = voxels_of(image), place_of(image), image.name
    seeds = points_in(points, image)
    if seeds is None:
        raise InputError("Add a points layer, and place a point in a vessel.")
    others, spacing, flat = points_in(background, image), spacing_of(image), image.ndim == 2
    inside = None if mask is None else voxels_of(mask)

    def run(progress: Progress) -> tuple[list[tuple], str]:
        found = segment(
            volume, seeds, spacing=spacing, background_seeds=others, mask=inside,
            threshold=None if automatic else threshold, device=device, progress=progress,
        )  # fmt: skip
        labels = found.labels[0] if flat else found.labels
        text = f"{np.count_nonzero(labels):,} voxels from strength {float(found.threshold):.3g} on"
        return [(labels, {"name": f"{name} vessels", **place}, "labels")], text

    return run


def centrelines_job(vessels: Any, number: int = 0, level: int = 2, device: str = "auto") -> Job:
    """The centrelines of a label of a labels layer (0: of all), a path a branch with its measures
    as features; `InputError` if there is none."""
    if vessels is None:
        raise InputError("Choose the labels with the vessels: find them first.")
    labels, place, name = voxels_of(vessels), place_of(vessels), vessels.name
    mask = labels != 0 if number == 0 else labels == number
    if not mask.any():
        missing = "is empty" if number == 0 else f"has no label {number}"
        raise InputError(f"The layer '{name}' {missing}.")
    spacing, flat = spacing_of(vessels), vessels.ndim == 2

    def run(progress: Progress) -> tuple[list[tuple], str]:
        skeleton = skeletonize(mask, spacing, level=level, device=device, progress=progress)
        if not skeleton.branches:
            raise InputError(f"The object in '{name}' has no branch: it is a single spot.")
        table = skeleton.to_table()
        hues = 0.618034 * np.array(table["generation"]) % 1.0  # the golden ratio sets them apart
        paths = [branch.points[:, 1:] if flat else branch.points for branch in skeleton.branches]
        options = {
            "name": f"{name} centrelines",
            "shape_type": "path",
            "features": table,
            "edge_width": 0.6,  # voxels
            "edge_color": 0.35 + 0.65 * ensure_colormap("hsv").map(hues),  # pale
            "face_color": "transparent",
            "blending": "translucent_no_depth",  # seen inside the labels, too
            "opacity": 1.0,
            **place,
        }
        total = sum(table["length_mm"])
        return [(paths, options, "shapes")], f"{len(paths):,} branches, {total:.4g} long"

    return run


# Where a layer lies: what a result has in common with its source.
PLACE = ("scale", "translate", "rotate", "shear", "affine", "units")


def voxels_of(layer: Any) -> np.ndarray:
    """The voxels of an image or labels layer; of several resolutions the finest."""
    data = layer.data[0] if getattr(layer, "multiscale", False) else layer.data
    if getattr(layer, "rgb", False):
        raise InputError(f"The layer '{layer.name}' has colours: split its channels first.")
    if data.ndim not in (2, 3):
        raise InputError(
            f"The layer '{layer.name}' has {data.ndim} dimensions: one stack of slices is needed. "
            "Split its channels or time points first (right click, Split Stack)."
        )
    voxels = np.asarray(data)
    return voxels[np.newaxis] if voxels.ndim == 2 else voxels


def spacing_of(layer: Any) -> tuple[float, ...]:
    """Lengths of a voxel along K, J, I in the layer's units."""
    lengths = tuple(abs(float(step)) for step in layer.scale)
    return (1.0,) * (3 - len(lengths)) + lengths


def points_in(points: Any, image: Any) -> np.ndarray | None:
    """The points of a layer as voxels (n, 3; K, J, I) of an image layer; None without points."""
    if points is None or len(points.data) == 0:
        return None
    if points.ndim < image.ndim:
        raise InputError(
            f"The points '{points.name}' have {points.ndim} dimensions, '{image.name}' has "
            f"{image.ndim}: add a points layer with the image selected."
        )
    places = [image.world_to_data(points.data_to_world(point))[-3:] for point in points.data]
    voxels = np.rint(places).astype(int)
    return np.pad(voxels, ((0, 0), (3 - voxels.shape[1], 0)))


def place_of(layer: Any) -> dict[str, Any]:
    """Keyword arguments that put another layer where this one is."""
    return {name: getattr(layer, name) for name in PLACE if hasattr(layer, name)}
