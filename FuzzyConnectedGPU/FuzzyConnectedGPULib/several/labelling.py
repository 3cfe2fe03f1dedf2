"""A divided scene at a threshold: the label of each voxel, after gaps and hand-overs."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from FuzzyVesselCoreLib.progress import Progress

from ..relative.groups import DISPUTED
from ..threshold.gaps import fill_gaps
from ..threshold.thresholds import binarize
from .branches import HandOver, apply_hand_overs
from .division import BACKGROUND


@dataclass(frozen=True)
class Clicks:
    """What a person clicked, as voxels K, J, I.

    Attributes
    ----------
    points : sequence of ndarray, shape (n, 3)
        Of each vessel.
    background : ndarray, shape (m, 3), or None
    hand_overs : sequence of HandOver
    """

    points: Sequence[np.ndarray]
    background: Any = None
    hand_overs: Sequence[HandOver] = field(default=())


def label_vessels(
    scene: np.ndarray,
    owners: np.ndarray,
    threshold: float,
    clicks: Clicks,
    spacing: Sequence[float],
    *,
    rounds: int = 0,
    mask: np.ndarray | None = None,
) -> tuple[np.ndarray, np.ndarray, tuple[str, ...]]:
    """Label the voxels of a divided scene.

    Parameters
    ----------
    scene : ndarray, float32, shape (K, J, I)
    owners : ndarray, uint8, same shape
        From `division`.
    threshold : float
    clicks : Clicks
    spacing : 3 floats K, J, I, in mm
    rounds : int
        Of `fill_gaps`.
    mask : ndarray, optional
        Gaps outside of it are not filled.

    Returns
    -------
    labels : ndarray, uint8, same shape
        1 for the first vessel, and so on; 0 elsewhere, where the voxel is disputed, and where it is
        background's.
    disputed : ndarray of bool, same shape
        Vessel voxels that two vessels reach equally.
    notes : tuple of str
        Hand-overs without effect.
    """
    inside = fill_gaps(binarize(scene, threshold), rounds, mask, clicks.background) > 0
    own = np.where(inside, owners, 0).astype(np.uint8)
    if rounds:
        from .unowned import share_unowned  # numba

        own = share_unowned(own, inside, Progress.of(None))
    disputed = own == DISPUTED
    own[disputed | (own == BACKGROUND)] = 0
    notes = apply_hand_overs(own, clicks.points, clicks.hand_overs, spacing)
    return own, disputed, notes
