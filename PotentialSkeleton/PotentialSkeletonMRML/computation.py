"""The skeleton, and where it is asked for the force field, of an object."""

import warnings
from typing import Any

from FuzzyVesselCoreLib.progress import ProgressCallback
from PotentialSkeletonLib import force_field, skeletonize

# Share of a run after which the force field, where it is asked for, is summed once more.
FIELD_FROM = 0.7


def compute(
    solid: Any, options: dict[str, Any], wants_field: bool, progress: ProgressCallback | None
) -> tuple[Any, Any]:
    """Run the algorithms; the scene is not touched.

    Parameters
    ----------
    solid : SolidInput
    options : dict
        Of `PotentialSkeletonLib.skeletonize`.
    wants_field : bool
    progress : callable or None

    Returns
    -------
    skeleton : CurveSkeleton
    field : ForceField or None
    """
    end = FIELD_FROM if wants_field else 1.0
    progress_of_skeleton = _share(progress, 0.0, end)
    skeleton = skeletonize(solid.mask, solid.spacing, progress=progress_of_skeleton, **options)
    if not wants_field:
        return skeleton, None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the skeleton's report has them
        field = force_field(
            solid.mask,
            options["strength"],
            method=options["method"],
            charge_distance=_charge_distance(options["charge_distance"], skeleton),
            device=options["device"],
            progress=_share(progress, FIELD_FROM, 1.0),
        )
    return skeleton, field


def _share(progress: ProgressCallback | None, start: float, end: float) -> ProgressCallback | None:
    """A callback for a part of the run, from `start` to `end`."""
    if progress is None:
        return None
    return lambda fraction: progress(start + fraction * (end - start))


def _charge_distance(asked: int | None, skeleton: Any) -> int:
    """The charge distance that was asked for, else the largest that was chosen."""
    if asked is not None:
        return asked
    return max((each for each in skeleton.report["charge_distances"] if each), default=0)
