"""What the clicks are judged by: contrast, noise and tissue of the part of the volume in use."""

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from FuzzyVesselCoreLib.compilation import needs_numba

from ..clicks.membership import connectedness_of
from ..contrast_threshold import CONTRAST_THRESHOLD
from ..neighbourhood import at_click, ridge_near
from ..paths.reached import Reached
from .difference import difference
from .near_click import near_click

if TYPE_CHECKING:
    from FuzzyVesselCoreLib.gpu.device import CudaDevice

WIDE_BACKGROUND = 20.0  # sigma, in multiples of the smallest spacing
# Voxels brighter than so many times the brightest click's difference to the tissue are no vessel
# (bone, metal); that difference counts as at least so many of the tissue's deviations.
FAR_BRIGHTER, FAR_FROM_TISSUE = 2.0, 6.0
CLIMB = 2.5  # distance to the middle of a clicked vessel, in multiples of the smallest spacing
DARK = -4.0  # contrast in standard deviations at the first click below which vessels are dark


@dataclass(frozen=True)
class Evidence:
    """What the clicks are judged by, on the box of the volume that the mask needs.

    Attributes
    ----------
    box : tuple of 3 slice
        Of the volume, K, J, I; all arrays have its shape.
    contrast : ndarray, float32
        Denoised intensity minus local background; vessels are above 0, bright or dark.
    noise : float
        Standard deviation of the contrast where there is no vessel.
    smooth : ndarray, float32
        Denoised intensity, with the opposite sign for dark vessels.
    inside : ndarray of uint8 or None
        1 where vessels may be.
    unit : ndarray, shape (3,)
        Spacing along K, J, I in multiples of the smallest.
    polarity : int
        1 for bright vessels, -1 for dark ones.
    """

    box: tuple[slice, ...]
    contrast: np.ndarray
    noise: float
    smooth: np.ndarray
    inside: np.ndarray | None
    unit: np.ndarray
    polarity: int
    _tissue: Any = field(repr=False)
    _first_seed: tuple[int, ...] = field(repr=False, default=())

    device_bytes = 0  # on a device

    def bytes_beside(self, gpu: "CudaDevice") -> int:
        """Of `device_bytes`, those of an earlier run, which are not among this one's."""
        return 0

    def serves(self, gpu: "CudaDevice | None") -> bool:
        """Whether a run on this device, or on the CPU, can use it; it is then its run's own."""
        return True

    def within(self, inside: np.ndarray | None) -> "Evidence":
        """The same evidence with another mask (uint8, of the box) for the paths."""
        return replace(self, inside=inside)

    @property
    def origin(self) -> np.ndarray:
        """K, J, I of the box's first voxel in the volume."""
        return np.array([s.start for s in self.box])

    def masked(self, labels: np.ndarray, box: tuple[slice, ...]) -> np.ndarray:
        """Boolean labels of a box with the voxels outside the mask set to False."""
        return labels if self.inside is None else labels & (self.inside[box] > 0)

    def middle_near(self, voxel: tuple[int, ...]) -> tuple[float, tuple[int, ...]]:
        """The contrast in the middle of the vessel that a click means, and its voxel."""
        return ridge_near(self.contrast, voxel, CLIMB, self.unit)

    def write_paths(self, scene: np.ndarray, reached: Reached, threshold: float) -> int:
        """Write the connectedness of what paths reach into a scene; returns the object's size."""
        connected = connectedness_of(reached.levels, reached.contrast, threshold)
        scene.ravel()[reached.voxels] = connected
        return int(np.count_nonzero(connected >= CONTRAST_THRESHOLD))

    def changes(
        self, box: tuple[slice, ...], *, lowers: bool = False, clears: bool = False
    ) -> None:
        """Told before rules change the scene in a box; evidence that is kept listens.

        Parameters
        ----------
        box : tuple of slice
        lowers, clears : bool
            Whether voxels are lowered, and whether to 0.
        """

    def holds_for(self, first_seed: Any) -> bool:
        """Whether another first seed would give the same evidence."""
        seed = tuple(int(c) for c in np.asarray(first_seed) - self.origin)
        if seed == self._first_seed:
            return True
        dark = self.polarity * self.contrast[seed] < DARK * self.noise
        return self._tissue.alone and dark == (self.polarity < 0)

    @property
    def several_tissues(self) -> bool:
        """Whether the volume holds several tissues, as a CT of the body does without a mask."""
        return not self._tissue.whole

    def brighter_objects(self, clicks: list[tuple[int, ...]]) -> float | None:
        """The intensity (smooth) above which voxels are other objects, as bone or metal, or None.

        Only where the volume holds several tissues: elsewhere brighter voxels are vessels.
        """
        if not self.several_tissues:
            return None
        brightest = max(self._smooth_at(click) for click in clicks)
        tissue = self.polarity * self._tissue.median
        least = FAR_FROM_TISSUE * self._tissue.deviation
        return tissue + FAR_BRIGHTER * max(brightest - tissue, least)

    def _smooth_at(self, click: tuple[int, ...]) -> float:
        return at_click(self.smooth, click)

    def widest_paths(
        self,
        starts: list[tuple[int, ...]],
        unit: float,
        floor: int,
        brighter: float | None = None,
        gpu: "CudaDevice | None" = None,
    ) -> Reached:
        """The widest paths through the contrast; see `widest_paths.widest_paths`.

        Parameters
        ----------
        brighter : float or None
            Result of `brighter_objects`.
        gpu : CudaDevice, optional
            Computes the paths.
        """
        with needs_numba():  # a run on CUDA has paths of its own, and need not import it
            from ..paths.widest_paths import widest_paths
        rivals = None if brighter is None else (self.smooth, brighter)
        return widest_paths(self.contrast, self.inside, starts, unit, floor, rivals, gpu)

    def component(
        self, values: np.ndarray, start: tuple[int, ...], threshold: float, limit: int
    ) -> tuple[np.ndarray, np.ndarray] | None:
        """The 26-connected component of a voxel among the values of at least a threshold.

        Parameters
        ----------
        values : ndarray
            Contrast, wide contrast or difference.
        start, threshold, limit
            As of `flood.component`.

        Returns
        -------
        voxels : ndarray, int64
            Flat indices.
        own : ndarray, float32
            Their values. None instead of both where they are more than the limit.
        """
        with needs_numba():
            from ..paths.flood import component
        found = component(values, self.inside, start, threshold, limit)
        return None if found.size > limit else (found, values.ravel()[found])

    def near_click(
        self, values: Any, click: tuple[int, ...], threshold: float, most: float, radii: float
    ) -> tuple[np.ndarray, np.ndarray]:
        """The 6-connected component of a click within some inscribed radii of it.

        Parameters
        ----------
        values : ndarray
            Contrast, wide contrast or difference.
        click : (K, J, I)
        threshold, most, radii : float
            See `near_click.near_click`.

        Returns
        -------
        voxels, own
            As of `component`.
        """
        return near_click(values, self.masked, click, (threshold, most), radii, self.unit)

    @cached_property
    def wide_contrast(self) -> tuple[np.ndarray, float]:
        """Contrast to a wider background, and its noise: for vessels as wide as the first one."""
        smooth = self.polarity * self.smooth
        background = self._tissue.background(smooth, WIDE_BACKGROUND / self.unit)
        contrast = difference(smooth, np.float32(self._tissue.median))
        difference(contrast, background, out=contrast)
        return self._tissue.centred(self.polarity * contrast)

    @cached_property
    def difference(self) -> tuple[np.ndarray, float]:
        """Difference to the median of the tissue, and its noise: no local background at all."""
        return self._tissue.centred(self.smooth)
