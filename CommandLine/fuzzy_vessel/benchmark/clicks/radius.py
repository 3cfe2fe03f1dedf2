"""Recall by the width of vessels: thin vessels are most of a tree and few of its voxels.

A voxel's radius is that of the largest ball which fits into the vessels and holds the voxel (local
thickness), in units of the smallest spacing. Outside the volume nothing is known, so that a vessel
cut off by its border does not become thinner there.
"""

from collections.abc import Sequence

import numpy as np
from scipy import ndimage

EDGES = (1.5, 2.5, 4.0)  # of the bins, in units of the smallest spacing
BINS = ("< 1.5", "1.5 to 2.5", "2.5 to 4", "> 4")


def radius_bins(truth: np.ndarray, spacing: Sequence[float]) -> np.ndarray:
    """The bin of every voxel's radius.

    Parameters
    ----------
    truth : ndarray of bool
    spacing : tuple of 3 float

    Returns
    -------
    ndarray of uint8
        0 outside the vessels, else 1 to 4, the place in `BINS` from 1.
    """
    box = ndimage.find_objects(truth.astype(np.uint8))[0]
    box = tuple(slice(max(s.start - 1, 0), s.stop + 1) for s in box)
    vessels = truth[box]
    steps = np.asarray(spacing) / min(spacing)
    depth = ndimage.distance_transform_edt(vessels, sampling=steps)
    bins = np.zeros(truth.shape, np.uint8)
    bins[box] = vessels
    for edge in EDGES:  # the opening by a ball of this radius
        centres = depth > edge
        if not centres.any():
            break
        away = ndimage.distance_transform_edt(~centres, sampling=steps)
        bins[box] += vessels & (away <= edge)
    return bins


def recall_by_radius(result: np.ndarray, bins: np.ndarray) -> list[float | None]:
    """Share of each bin's voxels that the result has, as a list; None for an empty bin."""
    sizes = np.bincount(bins.ravel(), minlength=len(BINS) + 1)[1:]
    found = np.bincount(bins[result], minlength=len(BINS) + 1)[1:]
    return [float(hit / size) if size else None for hit, size in zip(found, sizes)]


def sizes_by_radius(bins: np.ndarray) -> list[int]:
    """Voxels of each bin, as a list."""
    return np.bincount(bins.ravel(), minlength=len(BINS) + 1)[1:].tolist()
