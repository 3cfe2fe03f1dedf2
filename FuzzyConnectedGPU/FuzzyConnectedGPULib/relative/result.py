"""The result of relative connectedness: which group has each voxel, and how strongly."""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class RelativeConnectedness:
    """The group of each voxel, and how strongly it is connected.

    Attributes
    ----------
    labels : ndarray, uint8, of the volume's shape (K, J, I)
        1 for the first group, and so on; 0 where there is no path, and in disputed voxels that no
        rule gives to a group.
    strength : ndarray, float32, same shape
        Largest connectedness over all groups, 0..1: that of the voxel's own group; in a disputed
        voxel the value that the groups have in common.
    disputed : ndarray, bool, same shape
        Where two groups or more are equally strong, before any rule for ties.
    names : tuple of str
        The groups'.
    device : str
        "cpu", or the ordinal and name of the CUDA device.
    seconds : dict of str to float
        Time of each stage, in the order of the stages.
    peak_bytes : int
        As of `FuzzyScene`.
    notes : tuple of str
        Messages for the user, for example why the CPU was used.
    """

    labels: np.ndarray
    strength: np.ndarray
    disputed: np.ndarray
    names: tuple[str, ...]
    device: str
    seconds: dict[str, float]
    peak_bytes: int
    notes: tuple[str, ...] = ()
