"""The object that a skeleton is taken of: checked, cleaned, in its components."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from FuzzyVesselCoreLib.errors import InputError
from FuzzyVesselCoreLib.progress import Progress
from FuzzyVesselCoreLib.voxels.components.labels import boxes_of, sizes_of
from FuzzyVesselCoreLib.voxels.single_thread import own_thread_if_small

from ..graph.radii import radius_at
from . import cleaning
from .solids import fill_cavities, label_components
from .voxel_classes import checked_object


@dataclass
class Prepared:
    """The object, with what was changed in it before.

    Attributes
    ----------
    object : ndarray, shape (K, J, I)
        Of the volume; not 0 in the object.
    sizes : ndarray of int
        Voxels of each component.
    changes : dict of str to int
        The report's counts of what was filled, dropped and closed.
    warnings : list of str
    parts : ComponentsOnCpu, or the same on the card
    """

    object: np.ndarray
    sizes: np.ndarray
    changes: dict
    warnings: list
    parts: Any


class ComponentsOnCpu:
    """The components of an object, one after the other.

    Parameters
    ----------
    labels : ndarray of int32
        Numbers of the components, from 1, in the object's box.
    count : int
    origin : ndarray of int, (3,)
        Of the box in the volume.
    spacing : 3 floats K, J, I, in mm
    """

    def __init__(self, labels, count, origin, spacing):
        self._labels, self._origin, self._spacing = labels, origin, spacing
        self._boxes = boxes_of(labels, count)

    def origin(self, number):
        """Where the component's array begins in the volume."""
        return np.array([side.start - 1 for side in self._boxes[number]]) + self._origin

    def mask(self, number):
        """One component, counted from 0, in its box with an empty voxel round it; bool."""
        return np.pad(self._labels[self._boxes[number]] == number + 1, 1)

    def radius_at(self, points, report=None):
        """Distance of points (n, 3), in voxels of the volume, to all components' outside; in mm."""
        with own_thread_if_small(self._labels.shape):
            progress = Progress.of(report)
            return radius_at(points - self._origin, self._labels, self._spacing, progress)


def prepare(mask, spacing, options, tick):
    """The `Prepared` object of a mask, on the CPU."""
    given = checked_object(mask)
    values = np.asarray(mask).reshape(given.shape)
    box = box_of(given)
    notes = remarks_on(values, given.all() if box else None, box, options.strength)
    tick()
    solid = np.ascontiguousarray(given[box])
    with own_thread_if_small(solid.shape):
        solid, *cavities = fill_cavities(solid, tick)
        tick()
        solid, cleaned = clean(solid, spacing, options, tick)
        labels, count = label_components(solid, tick)
        sizes = sizes_of(labels, count, tick)[1:]
    if any(cavities) or any(cleaned.values()):
        given = given.copy()
        given[box] = solid
    origin = np.array([side.start for side in box])
    parts = ComponentsOnCpu(labels, count, origin, spacing)
    return Prepared(given, sizes, filled(cavities) | cleaned, notes, parts)


def remarks_on(values, is_full, box, strength):
    """What is to be said of a labelmap; `InputError` if it is empty.

    Parameters
    ----------
    values : ndarray, shape (K, J, I)
    is_full : bool
        Whether no voxel is 0.
    box : tuple of slice or None
        Of the object; None if there is none.
    strength : int
    """
    if box is None:
        raise InputError("The labelmap is empty: there is no object to take a skeleton of.")
    notes = []
    if strength == 2:
        notes.append("At strength 2 the field has no attractors; choose 3 to 9 for a skeleton.")
    if is_full:
        notes.append("The object fills the volume: its border is taken to be the volume's.")
    if values.dtype.kind == "f" and (values != np.rint(values)).any():
        notes.append("The labelmap has values that are no whole numbers; all but 0 are the object.")
    return notes


def filled(cavities):
    """The report's part on cavities: their number and voxels."""
    return dict(zip(("cavities_filled", "cavity_voxels"), cavities, strict=True))


def clean(solid, spacing, options, tick):
    """Drop islands and close tunnels, as far as the options say so; and the report's part on it."""
    islands = tunnels = (0, 0)
    if options.drop_islands > 1:
        solid, *islands = cleaning.drop_islands(solid, options.drop_islands, tick)
        tick()
    if options.close_tunnels > 0:
        solid, *tunnels = cleaning.close_tunnels(solid, options.close_tunnels, spacing, tick)
        tick()
    return solid, dict(
        islands_dropped=islands[0], island_voxels=islands[1],
        tunnels_closed=tunnels[0], tunnel_voxels=tunnels[1],
    )  # fmt: skip


def box_of(mask):
    """The smallest box that holds all of a mask; a tuple of 3 slices, None if it is empty."""
    sides = []
    for axis in range(3):
        used = np.flatnonzero(mask.any(axis=tuple(a for a in range(3) if a != axis)))
        if not len(used):
            return None
        sides.append(slice(int(used[0]), int(used[-1]) + 1))
    return tuple(sides)
