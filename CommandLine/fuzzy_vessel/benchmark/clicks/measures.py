"""How well a result agrees with the known vessels.

Dice, recall and precision count voxels. clDice (Shit et al., CVPR 2021) counts the voxels of the
skeletons instead, so that a thin vessel counts as much as a wide one of the same length; it needs
scikit-image. Surface Dice (Nikolov et al., 2018) counts border voxels that lie within one voxel, in
the 26-neighbourhood, of the other border.
"""

from importlib.util import find_spec
from typing import Any

import numpy as np
from scipy import ndimage

KEYS = ("dice", "recall", "precision", "cldice", "surface")
BOX = np.ones((3, 3, 3), bool)


class Measures:
    """Compares results with one truth, whose skeleton and border are computed once.

    Parameters
    ----------
    truth : ndarray of bool
        Not empty.
    """

    def __init__(self, truth: np.ndarray) -> None:
        self.truth = truth
        self._skeleton = skeleton(truth)
        self._border = border(truth)
        self._near_border = ndimage.binary_dilation(self._border, BOX)

    def of(self, result: np.ndarray) -> dict[str, Any]:
        """Scores of a result: a dict with `KEYS`; clDice is None without scikit-image."""
        return {
            "dice": dice(result, self.truth),
            "recall": share(self.truth, result),
            "precision": share(result, self.truth),
            "cldice": self._cldice(result),
            "surface": self._surface_dice(result),
        }

    def _cldice(self, result):
        if self._skeleton is None:
            return None
        own = skeleton(result)
        return harmonic_mean(share(own, self.truth), share(self._skeleton, result))

    def _surface_dice(self, result):
        own = border(result)
        near = np.count_nonzero(own & self._near_border)
        near += np.count_nonzero(self._border & ndimage.binary_dilation(own, BOX))
        total = np.count_nonzero(own) + np.count_nonzero(self._border)
        return float(near / total) if total else 1.0


def dice(first: np.ndarray, second: np.ndarray) -> float:
    """Twice the common voxels over the voxels of both; 1 for two empty masks."""
    total = np.count_nonzero(first) + np.count_nonzero(second)
    return float(2 * np.count_nonzero(first & second) / total) if total else 1.0


def share(part: np.ndarray, whole: np.ndarray) -> float:
    """Share of a part's voxels that lie in the whole; 0 for an empty part."""
    size = np.count_nonzero(part)
    return float(np.count_nonzero(part & whole) / size) if size else 0.0


def harmonic_mean(first: float, second: float) -> float:
    """0 where both are 0."""
    return 2 * first * second / (first + second) if first + second else 0.0


def border(mask: np.ndarray) -> np.ndarray:
    """Voxels of a mask with a face neighbour outside it; the volume's own border is none."""
    return mask & ~ndimage.binary_erosion(mask, border_value=1)


def skeleton(mask: np.ndarray) -> np.ndarray | None:
    """The curve skeleton as a mask (Lee et al., 1994), or None without scikit-image."""
    if not find_spec("skimage"):
        return None
    from skimage.morphology import skeletonize

    thin = np.zeros(mask.shape, bool)
    box = ndimage.find_objects(mask.astype(np.uint8))
    if box:
        thin[box[0]] = skeletonize(mask[box[0]], method="lee") > 0
    return thin
