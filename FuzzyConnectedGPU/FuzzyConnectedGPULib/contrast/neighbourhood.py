"""Small parts of a volume round a click, in multiples of the smallest spacing."""

import numpy as np
from scipy import ndimage


class Ball:
    """The box round a click that holds a ball.

    Attributes
    ----------
    box : tuple of slice
        Of the volume.
    squared : ndarray, float32
        Squared distance of the box's voxels to the click.
    centre : tuple of int
        The click within the box.
    """

    def __init__(self, shape, click, radius, unit):
        reach = np.ceil(radius / unit).astype(int)
        self.box = tuple(
            slice(max(int(c - r), 0), min(int(c + r + 1), n))
            for c, r, n in zip(click, reach, shape)
        )
        self.centre = tuple(int(c - s.start) for c, s in zip(click, self.box))
        self.squared = squared_distance(self.box, click, unit)
        self.radius = radius

    @property
    def inside(self):
        """Voxels of the box within the ball."""
        return self.squared <= self.radius**2


def squared_distance(box, point, unit):
    """Squared distance (float32) of a box's voxels to a point of the volume."""
    axes = np.ogrid[box]
    return sum(((x - c) * u) ** 2 for x, c, u in zip(axes, point, unit)).astype(np.float32)


def at_click(values, click):
    """The median of the 27 voxels round a click, or its own value where that is higher."""
    near = values[tuple(slice(max(c - 1, 0), c + 2) for c in click)]
    return max(float(np.median(near)), float(values[tuple(click)]))


def ridge_near(values, click, radius, unit):
    """The highest value near a click, noise apart: (value, voxel).

    A click beside the middle of a vessel means the vessel, not its border.
    """
    ball = Ball(values.shape, click, radius, unit)
    calm = ndimage.median_filter(values[ball.box], 3, mode="nearest")
    calm[~ball.inside] = -np.inf
    place = np.unravel_index(calm.argmax(), calm.shape)
    voxel = tuple(int(a + s.start) for a, s in zip(place, ball.box))
    return float(calm[place]), voxel


def peaks_near(values, box, radius, unit):
    """The highest value within a radius (box-shaped) of each voxel of a box."""
    reach = [round(radius / u) for u in unit]
    wide = tuple(slice(max(s.start - r, 0), s.stop + r) for s, r in zip(box, reach))
    highest = ndimage.maximum_filter(values[wide], [2 * r + 1 for r in reach], mode="nearest")
    return highest[tuple(slice(s.start - w.start, s.stop - w.start) for s, w in zip(box, wide))]


def inscribed_radius(labels, click, most, unit):
    """Radius of the largest ball round a click within the labels; at most `most`."""
    if not labels[tuple(click)]:
        return 0.0
    ball = Ball(labels.shape, click, most, unit)
    part = np.pad(labels[ball.box], 1)
    distance = ndimage.distance_transform_edt(part, sampling=unit)[1:-1, 1:-1, 1:-1]
    return float(min(distance[ball.centre], most))


def piece_of(labels, voxel):
    """The 6-connected piece of a boolean array that holds a voxel; empty where it is not set."""
    if not labels[voxel]:
        return np.zeros_like(labels)
    pieces, _count = ndimage.label(labels)
    return pieces == pieces[voxel]
