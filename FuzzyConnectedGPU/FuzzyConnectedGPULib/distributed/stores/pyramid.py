"""Coarser resolutions of an OME-NGFF image: what they show where the first one lacks a chunk."""

import math
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from FuzzyVesselCoreLib.files.zarr_guard import array_header, attributes_of, image_of, path_inside

from .chunks import ChunkGrid

MOST_VOXELS = 1 << 27  # of a resolution that is read as a whole
# Voxels of that resolution which do not count at the sides of a chunk: filters of pyramids look as
# far beyond them.
MARGIN = 2


def shown_elsewhere(
    place: Path, grid: ChunkGrid, fill: Any, read: Callable[[Path], np.ndarray]
) -> tuple[tuple[int, int, int], str] | None:
    """A chunk without a file of whose voxels a coarser resolution shows others than the fill value.

    Parameters
    ----------
    place : Path
        The image, or its first resolution.
    grid : ChunkGrid
        Of the first resolution.
    fill : number
        The fill value.
    read : callable
        The voxels (K, J, I) of the array in a folder.

    Returns
    -------
    index : tuple of int
        Position of the chunk.
    resolution : str
        Name of the one that shows them. Nothing is returned where none does, or none is small
        enough to be read.
    """
    for folder in _coarser(place):
        header = array_header(folder)
        if math.prod(header.shape) > MOST_VOXELS or len(header.shape) < 3:
            continue
        shown = read(folder) != fill
        factors = np.array(grid.voxels) / shown.shape
        for index in np.argwhere(~grid.stored()).tolist():
            box = grid.box((index[0], index[1], index[2]))
            low = np.ceil(box.start / factors).astype(int) + MARGIN
            high = np.floor(box.stop / factors).astype(int) - MARGIN
            if (low < high).all() and shown[tuple(map(slice, low, high))].any():
                return (index[0], index[1], index[2]), folder.name
        return None
    return None


def _coarser(place: Path) -> Iterator[Path]:
    """Folders of the resolutions after the first, from fine to coarse."""
    for image in (place, place.parent):
        images = image_of(attributes_of(image)).get("multiscales")
        if images:
            folders = [image / path_inside(each["path"]) for each in images[0]["datasets"]]
            if place in (image, folders[0]):
                yield from folders[1:]
            return
