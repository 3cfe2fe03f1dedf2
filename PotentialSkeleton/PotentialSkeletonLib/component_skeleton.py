"""The result of one component, from which the graph and the report are made."""

from dataclasses import dataclass

import numpy as np

from .critical_points.critical_points import CriticalPoint


@dataclass(frozen=True)
class ComponentSkeleton:
    """What was found in one component, in voxels of its box.

    Attributes
    ----------
    voxels : ndarray of int, (n, 3)
        The skeleton, in ascending order of K, J, I.
    positions : ndarray of float, (n, 3)
        Where the skeleton passes in each voxel.
    traced : ndarray of bool, (n,)
        Whether a traced curve passes the voxel.
    critical_points : list of CriticalPoint
    level_voxels : list of int
        Skeleton voxels of each level.
    joins : int
        Gaps between traced curves that were closed.
    removable : int
        Voxels that could go without a change of topology and are no ends.
    is_thin : bool
        Whether all of these belong to the level before, which must stay whole.
    characteristic : int
        The component's Euler characteristic.
    charge_distance : int or None
        None where the component is too small for a field.
    index_sum : int or None
    messages : tuple of str
        From the field.
    """

    voxels: np.ndarray
    positions: np.ndarray
    traced: np.ndarray
    critical_points: list[CriticalPoint]
    level_voxels: list[int]
    joins: int
    removable: int
    is_thin: bool
    characteristic: int
    charge_distance: int | None
    index_sum: int | None
    messages: tuple[str, ...]
