"""Intensities of black and white for slices."""

import numpy as np

from .slices import plane_of
from .subject import Oriented

NEAR_VOXELS = 12  # so far round the vessels lies their surrounding tissue


def grey_window(view: Oriented, mean: float, sigma: float) -> tuple[float, float]:
    """Return intensities of black and white that set the vessels off from surrounding tissue.

    White is a little above the vessels; black as far below the median of the surrounding tissue
    as a picture needs to show it in a middle grey, but never below the darkest voxels.

    Parameters
    ----------
    view : Oriented
    mean, sigma : float
        Intensities of the vessels.
    """
    near = np.concatenate(
        [
            _near_vessels(view, axis, int(at))
            for seed in view.seeds[:4]
            for axis, at in enumerate(seed)
        ]
    )
    white = mean + 2.5 * sigma
    coarse = view.volume[::4, ::4, ::4]
    tissue = float(np.median(near)) if near.size else float(np.median(view.volume))
    darkest = float(np.percentile(coarse, 0.5))
    if tissue >= mean:
        return darkest, float(np.percentile(coarse, 99.5))
    return max(darkest, tissue - 1.4 * (white - tissue)), white


def _near_vessels(view, axis, at):
    """Intensities of a slice near its vessels, but outside of them."""
    from scipy import ndimage

    vessels = plane_of(view.labels, axis, at) > 0
    near = ndimage.binary_dilation(vessels, iterations=NEAR_VOXELS) & ~vessels
    return plane_of(view.volume, axis, at)[near]
