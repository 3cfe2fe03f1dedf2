"""The object of a labelmap: checked, cleaned and split into components."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from FuzzyVesselCoreLib.errors import InputError
from FuzzyVesselCoreLib.progress import Progress
from FuzzyVesselCoreLib.translation import tr as _
from FuzzyVesselCoreLib.voxels.labels import (
    component_boxes,
    component_sizes,
    fill_cavities,
    label_components,
)
from FuzzyVesselCoreLib.voxels.masks import bounding_box

from ..options import SkeletonOptions
from .tunnels import close_tunnels
from .voxel_classes import checked_labelmap


@dataclass
class Prepared:
    """The object, with what was changed in it before.

    Attributes
    ----------
    sizes : ndarray of int
        Number of voxels of each component.
    changes : dict of str to int
        The report's counts of what was filled, dropped and closed.
    warnings : list of str
    components : iterable of (ndarray of int, ndarray of bool)
        Of each component where its array begins in the volume, and the array: the component in its
        box with a margin of one empty voxel.
    """

    sizes: np.ndarray
    changes: dict[str, int]
    warnings: list[str]
    components: Iterable[tuple[np.ndarray, np.ndarray]]


def prepare(
    mask: np.ndarray,
    spacing: Sequence[float],
    options: SkeletonOptions,
    progress: Progress | None = None,
) -> Prepared:
    """The `Prepared` object of a labelmap; `InputError` if it cannot be used or is empty."""
    progress = Progress.of(progress)
    values = checked_labelmap(mask)
    given = values != 0
    box = bounding_box(given)
    if box is None:
        raise InputError(_("The labelmap is empty: there is no object to take a skeleton of."))
    warnings = input_warnings(values, bool(given.all()), options.strength)
    solid, *cavities = fill_cavities(np.ascontiguousarray(given[box]), progress)
    changes = cavity_counts(cavities) | dict(
        islands_dropped=0, island_voxels=0, tunnels_closed=0, tunnel_voxels=0
    )
    if options.drop_islands > 1:
        labels, count = label_components(solid, progress=progress)
        sizes = component_sizes(labels, count, progress)
        small = small_components(sizes, options.drop_islands)
        solid = solid & ~small[labels]
        changes |= dict(islands_dropped=int(small.sum()), island_voxels=int(sizes[small].sum()))
    if options.close_tunnels > 0:
        solid, *closed = close_tunnels(solid, options.close_tunnels, spacing, progress)
        changes |= dict(zip(("tunnels_closed", "tunnel_voxels"), closed, strict=True))
    progress.check()
    labels, count = label_components(solid, progress=progress)
    sizes = np.array([np.count_nonzero(solid)])
    if count > 1:
        sizes = component_sizes(labels, count, progress)[1:]
    origin = np.array([side.start - 1 for side in box])
    components = (
        (origin + [side.start for side in own], np.pad(labels[own] == number, 1))
        for number, own in enumerate(component_boxes(labels, count), 1)
    )
    return Prepared(sizes, changes, warnings, components)


def input_warnings(values: np.ndarray, is_full: bool, strength: int) -> list[str]:
    """Warnings about a labelmap (full: no voxel is 0), and about the strength of the force."""
    warnings = []
    if strength == 2:
        warnings.append(
            _("At strength 2 the field has no attractors; choose 3 to 9 for a skeleton.")
        )
    if is_full:
        warnings.append(_("The object fills the volume: its border is taken to be the volume's."))
    if values.dtype.kind == "f" and (values != np.rint(values)).any():
        warnings.append(
            _("The labelmap has values that are no whole numbers; all but 0 are the object.")
        )
    return warnings


def cavity_counts(cavities: Sequence[int]) -> dict[str, int]:
    """The report's counts of cavities and their voxels."""
    return dict(zip(("cavities_filled", "cavity_voxels"), cavities, strict=True))


def small_components(sizes: np.ndarray, smallest: int) -> np.ndarray:
    """Which labels (bool) have fewer voxels; not label 0 nor the largest component."""
    small = sizes < smallest
    small[0] = False
    small[1 + np.argmax(sizes[1:])] = False
    return small
