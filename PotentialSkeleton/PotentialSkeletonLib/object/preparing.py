"""The object of a labelmap: checked, cleaned and split into components, on the CPU."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from FuzzyVesselCoreLib.errors import InputError
from FuzzyVesselCoreLib.progress import Progress
from FuzzyVesselCoreLib.threads import single_threaded_if_small
from FuzzyVesselCoreLib.translation import tr as _
from FuzzyVesselCoreLib.voxels.bounding_box import Box, bounding_box
from FuzzyVesselCoreLib.voxels.components.labels import (
    component_sizes,
    fill_cavities,
    label_components,
)

from ..options import SkeletonOptions
from . import cleaning
from .components import Components, CpuComponents
from .voxel_classes import checked_object


@dataclass
class Prepared:
    """The object, with what was changed in it before.

    Attributes
    ----------
    object : ndarray, shape (K, J, I)
        Of the volume; not 0 in the object.
    sizes : ndarray of int
        Number of voxels of each component.
    changes : dict of str to int
        The report's counts of what was filled, dropped and closed.
    warnings : list of str
    parts : Components
    """

    object: np.ndarray
    sizes: np.ndarray
    changes: dict[str, int]
    warnings: list[str]
    parts: Components


def prepare(
    mask: np.ndarray,
    spacing: Sequence[float],
    options: SkeletonOptions,
    progress: Progress | None = None,
) -> Prepared:
    """Return the `Prepared` object of a labelmap.

    Raises
    ------
    InputError
        The labelmap cannot be used, or is empty.
    Cancelled
        The progress callback returned False.
    """
    progress = Progress.of(progress)
    given = checked_object(mask)
    values = np.asarray(mask).reshape(given.shape)
    box = checked_box(bounding_box(given))
    warnings = input_warnings(values, bool(given.all()), options.strength)
    progress.check()
    solid = np.ascontiguousarray(given[box])
    with single_threaded_if_small(solid.shape):
        solid, *cavities = fill_cavities(solid, progress)
        progress.check()
        solid, cleaned = clean(solid, spacing, options, progress)
        labels, count = label_components(solid, progress=progress)
        sizes = component_sizes(labels, count, progress)[1:]
    if any(cavities) or any(cleaned.values()):
        given = given.copy()
        given[box] = solid
    origin = np.array([side.start for side in box])
    parts = CpuComponents(labels, count, origin, spacing)
    return Prepared(given, sizes, cavity_counts(cavities) | cleaned, warnings, parts)


def checked_box(box: Box | None) -> Box:
    """Return the bounding box of an object; raises `InputError` if there is none."""
    if box is None:
        raise InputError(_("The labelmap is empty: there is no object to take a skeleton of."))
    return box


def input_warnings(values: np.ndarray, is_full: bool, strength: int) -> list[str]:
    """Return the warnings about a labelmap, and the strength of the force.

    Parameters
    ----------
    values : ndarray, shape (K, J, I)
    is_full : bool
        Whether no voxel is 0.
    strength : int
    """
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


def cavity_counts(cavities: list[int]) -> dict[str, int]:
    """Return the report's counts of cavities and their voxels."""
    return dict(zip(("cavities_filled", "cavity_voxels"), cavities, strict=True))


def clean(
    solid: np.ndarray, spacing: Sequence[float], options: SkeletonOptions, progress: Progress
) -> tuple[np.ndarray, dict[str, int]]:
    """Drop islands and close tunnels as the options say; return the report's counts, too."""
    islands = tunnels = [0, 0]
    if options.drop_islands > 1:
        solid, *islands = cleaning.drop_islands(solid, options.drop_islands, progress)
        progress.check()
    if options.close_tunnels > 0:
        solid, *tunnels = cleaning.close_tunnels(solid, options.close_tunnels, spacing, progress)
        progress.check()
    return solid, dict(
        islands_dropped=islands[0], island_voxels=islands[1],
        tunnels_closed=tunnels[0], tunnel_voxels=tunnels[1],
    )  # fmt: skip
