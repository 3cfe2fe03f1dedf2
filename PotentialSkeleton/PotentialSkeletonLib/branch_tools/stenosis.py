"""The narrowest place of a branch, and how much narrower it is than a reference."""

from dataclasses import dataclass

import numpy as np

from FuzzyVesselCoreLib.errors import InputError
from FuzzyVesselCoreLib.translation import tr as _

from ..graph.curve_skeleton import CurveSkeleton
from ..graph.lines import Course


@dataclass(frozen=True)
class NarrowestPlace:
    """Where a branch is narrowest.

    Attributes
    ----------
    position : ndarray of float, (3,)
        Voxels K, J, I.
    length : float
        From the branch's first point, mm.
    diameter : float
        Of the maximal inscribed ball, mm.
    """

    position: np.ndarray
    length: float
    diameter: float


def narrowest_place(skeleton: CurveSkeleton, branch: int, margin: float = 1.0) -> NarrowestPlace:
    """The place of a branch with the smallest inscribed diameter.

    Parameters
    ----------
    skeleton : CurveSkeleton
    branch : int
        Number of the branch.
    margin : float
        How much of each end is left out, as a multiple of the radius there: at a junction the ball
        is the parent's. At a tip the ball is as small as the end of the object is near, and that
        stretch is left out, too. Where that leaves nothing, the middle of the branch is taken. With
        0 nothing is left out.

    Raises
    ------
    InputError
        If there is no such branch, or the margin is negative.

    Examples
    --------
    >>> from PotentialSkeletonLib.tree import skeleton_of_polylines
    >>> vessel = skeleton_of_polylines(
    ...     [[[0, 0, z] for z in range(21)]], [[2.0] * 10 + [0.8] + [2.0] * 10]
    ... )
    >>> found = narrowest_place(vessel, 0)
    >>> found.length, found.diameter, percent_stenosis(found.diameter, 4.0)
    (10.0, 1.6, 60.0)
    """
    if not 0 <= branch < len(skeleton.branches):
        raise InputError(
            _("There is no branch {branch}: the skeleton has {count}, from 0.").format(
                branch=branch, count=len(skeleton.branches)
            )
        )
    if not 0 <= margin < np.inf:
        raise InputError(
            _("The margin must be a number from 0 up, not {margin}.").format(margin=margin)
        )
    own = skeleton.branches[branch]
    course = Course(own.points * np.asarray(skeleton.spacing), own.radius)
    lengths = course.lengths
    inside = course.inner_points(margin)
    at = inside[own.radius[inside].argmin()]
    return NarrowestPlace(own.points[at], float(lengths[at]), float(2 * own.radius[at]))


def percent_stenosis(diameter: float, reference: float) -> float:
    """How many percent smaller a diameter is than a reference that the user sets.

    The measure of the NASCET trial (1991) by diameters; negative where the place is wider.

    Parameters
    ----------
    diameter, reference : float
        mm.

    Raises
    ------
    InputError
        If the reference is not above 0, or the diameter is below 0.

    Examples
    --------
    >>> percent_stenosis(2.0, 8.0)
    75.0
    """
    if not 0 < reference < np.inf or not 0 <= diameter < np.inf:
        raise InputError(
            _(
                "The reference diameter must be above 0 mm ({reference}), and the diameter "
                "from 0 up ({diameter})."
            ).format(reference=reference, diameter=diameter)
        )
    return 100.0 * (1.0 - diameter / reference)
