"""Clicks as the contrast model takes them: inside the mask, each once, and never both kinds."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import ndimage

from FuzzyVesselCoreLib.errors import InputError

from ..input_validation import SameVoxelError, checked_seeds


@dataclass(frozen=True)
class Clicks:
    """Voxels (int64, K, J, I) of the vessels, shape (n, 3), and of the background, shape (m, 3)."""

    positive: np.ndarray
    negative: np.ndarray

    def within(self, box: tuple[slice, ...]) -> "Clicks":
        """The clicks in the coordinates of a box; background clicks outside of it are dropped."""
        origin = np.array([s.start for s in box])
        shape = [s.stop - s.start for s in box]
        negative = self.negative - origin
        negative = negative[((negative >= 0) & (negative < shape)).all(axis=1)]
        return Clicks(self.positive - origin, negative)


def checked_clicks(
    seeds: np.ndarray,
    background_seeds: np.ndarray | None,
    mask: np.ndarray | None,
    shape: tuple[int, ...],
) -> Clicks:
    """The seeds inside the mask, each once, in their order, and the background seeds.

    Raises `InputError` where no seed is inside volume and mask, a background seed lies outside the
    volume, or a voxel is both.
    """
    seeds = checked_seeds(seeds, shape)
    positive = np.array(list(dict.fromkeys(map(tuple, seeds.tolist()))), np.int64)
    if mask is not None:
        positive = positive[mask[tuple(positive.T)] > 0]
        if not len(positive):
            raise InputError(
                "Every seed lies outside the mask: place one inside it, or choose another mask."
            )
    negative = np.empty((0, 3), np.int64)
    if background_seeds is not None and np.size(background_seeds):
        checked = checked_seeds(background_seeds, shape, "background seed")
        negative = np.unique(checked, axis=0)
    both = set(map(tuple, positive.tolist())) & set(map(tuple, negative.tolist()))
    if both:
        raise SameVoxelError(min(both))
    return Clicks(positive, negative)


# ---- Neighbourhoods of a click; lengths are multiples of the smallest spacing

MAX_RADIUS = 30.0  # of a ball that is searched around a click


class Ball:
    """The box around a click that holds a ball.

    `box` are slices of the volume, `centre` is the click within the box.
    """

    def __init__(
        self, shape: Sequence[int], click: Sequence[int], radius: float, unit: np.ndarray
    ) -> None:
        reach = np.ceil(radius / unit).astype(int)
        self.box = tuple(
            slice(max(int(c - r), 0), min(int(c + r + 1), n))
            for c, r, n in zip(click, reach, shape)
        )
        self.centre = tuple(int(c - s.start) for c, s in zip(click, self.box))
        self.radius = radius
        self._click, self._unit = click, unit

    @cached_property
    def squared(self) -> np.ndarray:
        """Squared distance (float32) of the box's voxels to the click."""
        return squared_distance(self.box, self._click, self._unit)

    @property
    def inside(self) -> np.ndarray:
        """Voxels of the box within the ball."""
        return self.squared <= self.radius**2


def squared_distance(box: tuple[slice, ...], point: Sequence[int], unit: np.ndarray) -> np.ndarray:
    """Squared distance (float32) of a box's voxels to a point of the volume."""
    axes = np.ogrid[box]
    squares = [((x - c) * u) ** 2 for x, c, u in zip(axes, point, unit)]
    return np.asarray(sum(squares)).astype(np.float32)


def at_click(values: np.ndarray, click: Sequence[int]) -> float:
    """The median of the 27 voxels around a click, or its own value where that is higher."""
    near = values[tuple(slice(max(c - 1, 0), c + 2) for c in click)]
    return max(float(np.median(near)), float(values[tuple(click)]))


def ridge_near(
    values: np.ndarray, click: Sequence[int], radius: float, unit: np.ndarray
) -> tuple[float, tuple[int, ...]]:
    """The highest median-filtered value near a click, and its voxel.

    A click beside the middle of a vessel means the vessel, not its border.
    """
    ball = Ball(values.shape, click, radius, unit)
    filtered = ndimage.median_filter(values[ball.box], 3, mode="nearest")
    filtered[~ball.inside] = -np.inf
    highest = np.unravel_index(filtered.argmax(), filtered.shape)
    voxel = tuple(int(a + s.start) for a, s in zip(highest, ball.box))
    return float(filtered[highest]), voxel


def peaks_near(
    values: np.ndarray, box: tuple[slice, ...], radius: float, unit: np.ndarray
) -> np.ndarray:
    """The highest value within a radius (box-shaped) of each voxel of a box."""
    reach = [round(radius / u) for u in unit]
    wide = tuple(slice(max(s.start - r, 0), s.stop + r) for s, r in zip(box, reach))
    highest = ndimage.maximum_filter(values[wide], [2 * r + 1 for r in reach], mode="nearest")
    return highest[tuple(slice(s.start - w.start, s.stop - w.start) for s, w in zip(box, wide))]


def inscribed_radius(labels: np.ndarray, click: Sequence[int], unit: np.ndarray) -> float:
    """Radius of the largest ball around a click within the labels, up to `MAX_RADIUS`."""
    if not labels[tuple(click)]:
        return 0.0
    ball = Ball(labels.shape, click, MAX_RADIUS, unit)
    outside = np.pad(~labels[ball.box], 1, constant_values=True)
    squares = [
        ((np.arange(n) - c - 1) * u) ** 2 for n, c, u in zip(outside.shape, ball.centre, unit)
    ]
    squared = squares[0][:, None, None] + squares[1][:, None] + squares[2]
    return float(min(np.sqrt(squared.min(where=outside, initial=np.inf)), MAX_RADIUS))


def component_of(labels: np.ndarray, voxel: tuple[int, ...]) -> np.ndarray:
    """The 6-connected component of a boolean array at a voxel; empty where it is not set."""
    if not labels[voxel]:
        return np.zeros_like(labels)
    components, _count = ndimage.label(labels)
    return components == components[voxel]
