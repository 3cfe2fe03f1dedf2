"""Area and both kinds of diameter of each branch, from cross-sections along it."""

import numpy as np

from FuzzyVesselCoreLib.progress import Progress, ProgressCallback

from ..graph.curve_skeleton import CurveSkeleton
from .cross_sections import sections_of, solid_of

COLUMNS = (
    "min_area_mm2",
    "mean_area_mm2",
    "inscribed_diameter_mm",
    "equivalent_diameter_mm",
)


def section_measures(
    mask: np.ndarray,
    skeleton: CurveSkeleton,
    step: float | None = None,
    progress: Progress | ProgressCallback | None = None,
) -> dict[str, list]:
    """Measure the cross-sections of every branch.

    Parameters
    ----------
    mask : ndarray, (K, J, I)
        Not 0 in the object.
    skeleton : CurveSkeleton
        On the same grid.
    step : float, optional
        Between sections, mm; see `cross_sections`.
    progress : callable, optional
        ``progress(share) -> bool``; False cancels.

    Returns
    -------
    dict of str to list
        One value a branch: min_area_mm2, mean_area_mm2, inscribed_diameter_mm (mean of the maximal
        ball's) and equivalent_diameter_mm (mean of the circles' of the same area). Both ends are
        left out by as much as the radius there, as long as that leaves a section: at a junction the
        section is the parent's. None where no section lies in the object.

    Raises
    ------
    InputError
        If the mask is on another grid.

    Examples
    --------
    >>> import dataclasses
    >>> from PotentialSkeletonLib.tree import skeleton_of_polylines
    >>> j, i = np.ogrid[-10:11, -10:11]
    >>> rod = np.repeat((j**2 + i**2 <= 36)[None], 40, axis=0)
    >>> axis = skeleton_of_polylines([[[2, 10, 10], [37, 10, 10]]], [[6, 6]])
    >>> axis = dataclasses.replace(axis, shape=rod.shape)
    >>> {name: round(values[0]) for name, values in section_measures(rod, axis, 5).items()}
    {'min_area_mm2': 113, 'mean_area_mm2': 113, 'inscribed_diameter_mm': 12, 'equivalent_diameter_mm': 12}
    """  # noqa: E501
    columns: dict[str, list] = {name: [] for name in COLUMNS}
    solid, root = solid_of(mask, skeleton), Progress.of(progress)
    for number, branch in enumerate(skeleton.branches):
        found = sections_of(solid, skeleton, number, step)
        last = found.length[-1]
        inside = (found.length >= branch.radius[0]) & (found.length <= last - branch.radius[-1])
        middle = np.abs(found.length - last / 2).argmin()
        used = inside if inside.any() else np.arange(len(found.length)) == middle
        used &= found.area > 0
        for name, value in zip(COLUMNS, _values(found, used), strict=True):
            columns[name].append(value)
        root.advance((number + 1) / len(skeleton.branches))
    return columns


def _values(found, used):
    if not used.any():
        return (None,) * len(COLUMNS)
    return (
        float(found.area[used].min()),
        float(found.area[used].mean()),
        float(found.inscribed_diameter[used].mean()),
        float(found.equivalent_diameter[used].mean()),
    )
