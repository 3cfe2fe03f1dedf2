"""The object inside a block: voxels of the scene that reach the threshold, with filled gaps."""

from dataclasses import dataclass

import numpy as np

from FuzzyVesselCoreLib.errors import InputError
from FuzzyVesselCoreLib.voxels.labels import Connectivity
from FuzzyVesselCoreLib.voxels.masks import mask_voxels

from ...affinity import TOP_LEVEL, level_values
from ...threshold.gaps import fill_gaps
from ...threshold.thresholds import level_histogram, lowest_value
from ..partition import Box
from ..steps import checksum_of
from ..stores import Store

SCENE_TYPES = ("uint16", "float32")
MASK_TYPES = ("bool", "uint8", "uint32", "uint64", "int8", "int32", "int64")


@dataclass(frozen=True)
class ObjectBlocks:
    """Reads the object of a scene, or of a labelmap, block by block.

    Attributes
    ----------
    scene : Store
        Levels or values; or a labelmap, whose object is where it is not 0.
    lowest : int or float
        The lowest value of the object, in the scene's type.
    rounds : int
        In which gaps are filled.
    mask : Store or None
        No gap is filled where it is 0.
    background : ndarray of int64, (n, 3)
        Voxels K, J, I; no gap is filled there.
    inverse : bool
        Whether all voxels but the object's are taken, and hang together over faces alone.
    """

    scene: Store
    lowest: float
    rounds: int
    mask: Store | None
    background: np.ndarray
    inverse: bool = False

    @property
    def connectivity(self) -> Connectivity:
        """Over how many neighbours voxels hang together."""
        return 6 if self.inverse else 26

    def read(self, box: Box) -> tuple[np.ndarray, np.ndarray]:
        """The object (uint8, 0 or 1) in a box, and the checksum of what was read."""
        grown, inner = with_margin(box, self.rounds, self.scene.shape)
        values = self.scene.read(grown)
        refuse_values(values, grown)
        labels = is_labelmap(self.scene)
        found = (values != 0).view(np.uint8) if labels else np.greater_equal(values, self.lowest)
        if self.inverse:
            found ^= 1
        if not self.rounds:
            return found, checksum_of(values)
        region = None if self.mask is None else mask_voxels(self.mask.read(grown))
        barred = np.stack(np.unravel_index(grown.flat_indices(self.background), grown.shape), 1)
        filled = fill_gaps(found, self.rounds, region, barred)
        return np.ascontiguousarray(filled[inner]), checksum_of(values, region)


def is_labelmap(scene: Store) -> bool:
    """Whether values are numbers of objects, not connectedness: by the type, or the image says so.

    Connectedness is of uint16 or float32. Of labelmaps those of int16 and uint16 must be images
    that say what they are (OME-NGFF's "image-label"), since most volumes have these types.
    """
    if scene.voxel_type.name in MASK_TYPES:
        return True
    return scene.voxel_type.kind in "iu" and scene.is_label_image


def with_margin(box: Box, margin: int, shape: tuple[int, ...]) -> tuple[Box, tuple[slice, ...]]:
    """A box with a margin, as far as the volume goes, and where in it the box itself lies.

    Examples
    --------
    >>> with_margin(Box((0, 4, 4), (4, 8, 8)), 1, (4, 9, 8))[0]
    Box(start=(0, 3, 3), stop=(4, 9, 8))
    """
    k, j, i = (max(n - margin, 0) for n in box.start)
    start = (k, j, i)
    k, j, i = (min(n + margin, size) for n, size in zip(box.stop, shape))
    inner = tuple(slice(a - n, b - n) for a, b, n in zip(box.start, box.stop, start))
    return Box(start, (k, j, i)), inner


def lowest_of(scene: Store, threshold: float) -> float:
    """The lowest value of the object at a threshold 0..1, in the scene's type.

    Raises
    ------
    InputError
        The threshold is no number in (0, 1].
    """
    lowest = lowest_value(threshold)
    if scene.voxel_type.kind == "f":
        return float(lowest)
    return int(np.searchsorted(level_values(np.arange(TOP_LEVEL + 1)), lowest))


def refuse_values(values: np.ndarray, box: Box) -> None:
    """Refuse values of a scene that are not within 0..1; the message names the block.

    Raises
    ------
    InputError
    """
    if values.dtype.kind != "f":
        return
    low, high = (float(values.min()), float(values.max()))
    if low >= 0 and high <= 1:  # NaN compares as False
        return
    wrong = ~((values >= 0) & (values <= 1))
    at = np.argwhere(wrong)[0]
    k, j, i = at + box.start
    raise InputError(
        f"The scene's block {box} has {np.count_nonzero(wrong)} voxels that are not within 0..1, "
        f"the first {values[tuple(at)]} at I,J,K = {i},{j},{k}: give the connectedness itself."
    )


def histogram_of(values: np.ndarray) -> np.ndarray:
    """Number of a block's voxels of each level, those of level 0 left out; int64 (65536,)."""
    if values.dtype.kind == "f":
        return level_histogram(values)
    return np.bincount(values[values > 0], minlength=TOP_LEVEL + 1)
