"""Clicks: the formulas of the model, and neighbourhoods.

A voxel of contrast s has the membership ``s / (s + t)``, where t is the least contrast from which
on voxels belong to the vessel: 0.5 where they are equal. The path to it needs less, the path
contrast p, which is near the noise: weak links connect, but only voxels with contrast belong. The
weakest voxel of the path, w, counts in the same way, by ``w / (w + p)``; the connectedness is the
lower one of the two. Lengths are multiples of the smallest spacing.
"""

from collections.abc import Sequence
from functools import cached_property

import numpy as np
from scipy import ndimage

from .filters import Voxel

HAS_CONTRAST = 3.0  # deviations of the noise from which on a click counts as one with contrast
# The least contrast of a click's vessel: the geometric mean of noise and contrast, times this.
ABOVE_MIDWAY = 1.2
# Paths: at least this share of the least contrast, and this many deviations of the noise.
PATH_SHARE, PATH_DEVIATIONS = 0.2, 3.0
MAX_RADIUS = 30.0  # of a ball that is searched around a click
CLIMB = 2.5  # distance to the middle of a clicked vessel


def midway(noise: float, contrast: float) -> float:
    """The least contrast of a click's vessel, between the noise and the click's own contrast."""
    return ABOVE_MIDWAY * float(np.sqrt(noise * contrast))


def path_contrast_of(least: float, noise: float) -> float:
    """The contrast that paths need to voxels of the least contrast."""
    return min(least, max(PATH_SHARE * least, PATH_DEVIATIONS * noise))


def membership(contrast: np.ndarray, least: float | np.ndarray) -> np.ndarray:
    """``s / (s + t)`` of contrasts s above 0, else 0, as float32; t is the least contrast."""
    contrast = np.maximum(contrast, np.float32(0))
    return contrast / (contrast + np.asarray(least, np.float32))


# ---- Neighbourhoods of a click


class Ball:
    """The box around a click that holds a ball.

    `box` are slices of the volume, `centre` is the click within the box.
    """

    def __init__(
        self, shape: Sequence[int], click: Sequence[int], radius: float, spacing: np.ndarray
    ) -> None:
        reach = np.ceil(radius / spacing).astype(int)
        self.box = tuple(
            slice(max(int(c - r), 0), min(int(c + r + 1), n))
            for c, r, n in zip(click, reach, shape)
        )
        self.centre = tuple(int(c - s.start) for c, s in zip(click, self.box))
        self.radius = radius
        self._click, self._spacing = click, spacing

    @cached_property
    def squared(self) -> np.ndarray:
        """Squared distance (float32) of the box's voxels to the click."""
        return squared_distance(self.box, self._click, self._spacing)

    @property
    def inside(self) -> np.ndarray:
        """Voxels of the box within the ball."""
        return self.squared <= self.radius**2


def squared_distance(
    box: tuple[slice, ...], point: Sequence[int], spacing: np.ndarray
) -> np.ndarray:
    """Squared distance (float32) of a box's voxels to a point of the volume."""
    axes = np.ogrid[box]
    squares = [((x - c) * u) ** 2 for x, c, u in zip(axes, point, spacing)]
    return np.asarray(sum(squares)).astype(np.float32)


def ridge_near(
    values: np.ndarray, click: Sequence[int], spacing: np.ndarray
) -> tuple[float, Voxel]:
    """The highest median-filtered value near a click, and its voxel.

    A click beside the middle of a vessel means the vessel, not its border.
    """
    ball = Ball(values.shape, click, CLIMB, spacing)
    filtered = ndimage.median_filter(values[ball.box], 3, mode="nearest")
    filtered[~ball.inside] = -np.inf
    highest = np.unravel_index(filtered.argmax(), filtered.shape)
    voxel = tuple(int(a + s.start) for a, s in zip(highest, ball.box))
    return float(filtered[highest]), voxel


def peaks_near(
    values: np.ndarray, box: tuple[slice, ...], radius: float, spacing: np.ndarray
) -> np.ndarray:
    """The highest value within a radius (box-shaped) of each voxel of a box."""
    reach = [round(radius / u) for u in spacing]
    wide = tuple(slice(max(s.start - r, 0), s.stop + r) for s, r in zip(box, reach))
    highest = ndimage.maximum_filter(values[wide], [2 * r + 1 for r in reach], mode="nearest")
    return highest[tuple(slice(s.start - w.start, s.stop - w.start) for s, w in zip(box, wide))]


def inscribed_radius(labels: np.ndarray, click: Sequence[int], spacing: np.ndarray) -> float:
    """Radius of the largest ball around a click within the labels, up to `MAX_RADIUS`."""
    if not labels[tuple(click)]:
        return 0.0
    ball = Ball(labels.shape, click, MAX_RADIUS, spacing)
    outside = np.pad(~labels[ball.box], 1, constant_values=True)
    squares = [
        ((np.arange(n) - c - 1) * u) ** 2 for n, c, u in zip(outside.shape, ball.centre, spacing)
    ]
    squared = squares[0][:, None, None] + squares[1][:, None] + squares[2]
    return float(min(np.sqrt(squared.min(where=outside, initial=np.inf)), MAX_RADIUS))


def component_of(labels: np.ndarray, voxel: Voxel) -> np.ndarray:
    """The 6-connected component of a boolean array at a voxel; empty where it is not set."""
    if not labels[voxel]:
        return np.zeros_like(labels)
    components, _count = ndimage.label(labels)
    return components == components[voxel]
