"""Layers to arrays (K, J, I), and arrays to layers in the same place."""

from typing import Any

import numpy as np

from FuzzyVesselCoreLib.errors import InputError

# Where a layer lies: what a result has in common with its source.
PLACE = ("scale", "translate", "rotate", "shear", "affine", "units")


def voxels_of(layer: Any) -> np.ndarray:
    """The voxels of an image or labels layer; of several resolutions the finest.

    Raises
    ------
    InputError
        It has colours, or is no stack of slices; the message names the layer.
    """
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


def points_in(points: Any, image: Any, kind: str) -> np.ndarray | None:
    """The points of a layer as voxels (n, 3; K, J, I) of an image layer; None without points.

    Raises
    ------
    InputError
        A point lies outside of the image; the message names the layer.
    """
    if points is None or len(points.data) == 0:
        return None
    shape = voxels_of(image).shape
    if points.ndim < image.ndim:
        raise InputError(
            f"The points '{points.name}' have {points.ndim} dimensions, '{image.name}' has "
            f"{image.ndim}: add a points layer with the image selected."
        )
    voxels = []
    for point in points.data:
        place = np.asarray(image.world_to_data(points.data_to_world(point)), float)[-3:]
        place = np.concatenate([np.zeros(3 - len(place)), place])
        voxel = np.rint(place).astype(int)
        if not all(0 <= index < size for index, size in zip(voxel, shape)):
            at = ", ".join(f"{index:.1f}" for index in place)
            raise InputError(
                f"A {kind} point of '{points.name}' lies outside of '{image.name}', at voxel {at}."
            )
        voxels.append(voxel)
    return np.array(voxels)


def mask_on(mask: Any, image: Any) -> np.ndarray | None:
    """The voxels of a labels layer that are not 0; None without a layer.

    Raises
    ------
    InputError
        It has another shape than the image.
    """
    if mask is None:
        return None
    voxels, shape = voxels_of(mask), voxels_of(image).shape
    if voxels.shape != shape:
        raise InputError(
            f"The mask '{mask.name}' has {voxels.shape} voxels, '{image.name}' {shape}: they must "
            "have the same."
        )
    return voxels != 0


def place_of(layer: Any) -> dict[str, Any]:
    """Keyword arguments that put another layer where this one is."""
    return {name: getattr(layer, name) for name in PLACE if hasattr(layer, name)}
