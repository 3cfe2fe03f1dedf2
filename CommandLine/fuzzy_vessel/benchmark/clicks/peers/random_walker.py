"""Peer: the random walker (Grady, IEEE TPAMI 2006) of scikit-image, from clicks."""

import numpy as np

from .markers import VESSEL, markers
from .thresholds import smoothed

BETA = 130  # scikit-image's default; several times more makes the equations very slow to solve
MAX_VOXELS = 8_000_000  # more, inside the mask, are solved on every second one along each axis


def segment(
    volume: np.ndarray,
    vessel: list[tuple[int, int, int]],
    background: list[tuple[int, int, int]],
    mask: np.ndarray | None,
    spacing: tuple[float, float, float],
) -> np.ndarray:
    """See `methods.ClickMethod`."""
    from skimage.segmentation import random_walker

    image = smoothed(volume)
    labels = markers(image, vessel, background, mask).astype(np.int32)
    if mask is not None:
        labels[~mask] = -1
    step = 2 if np.count_nonzero(labels >= 0) > MAX_VOXELS else 1
    coarse = _thinned(labels, [*background, *vessel], step)
    found = random_walker(
        image[::step, ::step, ::step],
        coarse,
        beta=BETA,
        mode="cg_j",
        spacing=np.asarray(spacing) / min(spacing),
    )
    found = found == VESSEL
    for axis in range(3) if step > 1 else ():
        found = found.repeat(step, axis)
    found = found[tuple(slice(n) for n in volume.shape)]
    return found if mask is None else found & mask


def _thinned(labels, clicks, step):
    """Every `step`-th label along each axis, the clicked ones among them."""
    coarse = labels[::step, ::step, ::step].copy()
    for voxel in clicks:
        coarse[tuple(at // step for at in voxel)] = labels[voxel]
    return coarse
