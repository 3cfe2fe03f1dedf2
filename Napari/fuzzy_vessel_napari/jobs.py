"""Both jobs on layers: what goes into the algorithms, and the layers that come out.

Each takes layers in the main thread and returns a function that runs in another one; a layer is
napari's tuple of data, keyword arguments and kind.
"""

import colorsys
from collections.abc import Callable
from typing import Any

import numpy as np

from FuzzyConnectedGPULib import segment
from FuzzyVesselCoreLib.errors import InputError
from PotentialSkeletonLib import skeletonize

from .layers import mask_on, place_of, points_in, spacing_of, voxels_of

Progress = Callable[[float], bool]
Job = Callable[[Progress], tuple[list[tuple], str]]


def vessels_job(
    image: Any,
    points: Any,
    background: Any = None,
    mask: Any = None,
    threshold: float | None = None,
    device: str = "auto",
) -> Job:
    """Prepare the segmentation of the vessels that points lie in.

    Parameters
    ----------
    image : napari.layers.Image
    points, background : napari.layers.Points or None
        In vessels, and in what is none.
    mask : napari.layers.Labels or None
    threshold : float, optional
        0 to 1; None for the automatic one.
    device : str

    Returns
    -------
    callable
        ``job(progress) -> (layers, text)``.

    Raises
    ------
    InputError
        A layer does not fit; the message names it.
    """
    if image is None:
        raise InputError("Choose the image with the vessels: open one first.")
    volume, place, name = voxels_of(image), place_of(image), image.name
    seeds = points_in(points, image, "vessel")
    if seeds is None:
        raise InputError("Add a points layer, and place a point in a vessel.")
    others = points_in(background, image, "background")
    inside, spacing, flat = mask_on(mask, image), spacing_of(image), image.ndim == 2

    def run(progress: Progress) -> tuple[list[tuple], str]:
        found = segment(
            volume,
            seeds,
            spacing=spacing,
            background_seeds=others,
            mask=inside,
            threshold=threshold,
            device=device,
            progress=progress,
        )
        labels = found.labels[0] if flat else found.labels
        text = f"{np.count_nonzero(labels):,} voxels from strength {float(found.threshold):.3g} on"
        return [(labels, {"name": f"{name} vessels", **place}, "labels")], text

    return run


def _color(generation: int) -> tuple[float, float, float, float]:
    """A colour that differs from those of the generations nearby."""
    golden_ratio = 0.618034
    return (*colorsys.hsv_to_rgb(generation * golden_ratio % 1.0, 0.65, 0.95), 1.0)


def centrelines_job(labels: Any, label: int = 0, level: int = 2, device: str = "auto") -> Job:
    """Prepare the centrelines of a labels layer.

    Parameters
    ----------
    labels : napari.layers.Labels
    label : int
        0 takes all labels.
    level : int
        1 to 3.
    device : str

    Returns
    -------
    callable
        ``job(progress) -> (layers, text)``; a path a branch, with its measures as features.

    Raises
    ------
    InputError
        The layer is empty, or lacks the label.
    """
    if labels is None:
        raise InputError("Choose the labels with the vessels: find them first.")
    voxels = voxels_of(labels)
    mask = voxels != 0 if label == 0 else voxels == label
    if not mask.any():
        missing = "is empty" if label == 0 else f"has no label {label}"
        raise InputError(f"The layer '{labels.name}' {missing}.")
    place, name, spacing, flat = place_of(labels), labels.name, spacing_of(labels), labels.ndim == 2

    def run(progress: Progress) -> tuple[list[tuple], str]:
        skeleton = skeletonize(mask, spacing, level=level, device=device, progress=progress)
        if not skeleton.branches:
            raise InputError(f"The object in '{name}' has no branch: it is a single spot.")
        table = skeleton.to_table()
        paths = [branch.points[:, 1:] if flat else branch.points for branch in skeleton.branches]
        options = {
            "name": f"{name} centrelines",
            "shape_type": "path",
            "features": table,
            "edge_width": 0.6,  # voxels
            "edge_color": [_color(generation) for generation in table["generation"]],
            "face_color": "transparent",
            "blending": "translucent_no_depth",  # seen inside the labels, too
            "opacity": 1.0,
            **place,
        }
        total = sum(table["length_mm"])
        return [(paths, options, "shapes")], f"{len(paths):,} branches, {total:.4g} long"

    return run
