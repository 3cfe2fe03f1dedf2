"""The threshold of a run: given, from the background seeds, or automatic."""

from collections.abc import Sequence

import numpy as np

from FuzzyVesselCoreLib.errors import InputError

from ..scene import FuzzyScene
from .automatic import AutomaticThreshold, automatic_threshold
from .thresholds import background_threshold

# An automatic threshold of lower confidence (0..1) is reported as unsure.
UNSURE = 0.5


def check_threshold(threshold: float | None, cut: float) -> None:
    """Validate a given threshold; None is chosen later.

    Raises
    ------
    InputError
        It is not within 0..1, or below the cut.
    """
    if threshold is None:
        return
    if not 0 < threshold <= 1:
        raise InputError(f"The threshold is {threshold:g}, but must be above 0 and at most 1.")
    if threshold < cut:
        raise InputError(
            f"The threshold {threshold:g} is below the cut {cut:g}, where nothing is computed: "
            "lower the cut or raise the threshold."
        )


def choose_threshold(
    scene: FuzzyScene | np.ndarray,
    background_seeds: np.ndarray | Sequence | None = None,
    cut: float = 0.0,
) -> AutomaticThreshold | float:
    """The automatic threshold of the scene, raised where background seeds require it.

    Where its confidence is low, the background seeds and the cut decide, if they can.

    Parameters
    ----------
    scene : FuzzyScene or ndarray
    background_seeds : array_like, shape (n, 3), integers K, J, I, optional
    cut : float
        Below it the scene is 0, so the threshold is at least that.

    Returns
    -------
    AutomaticThreshold or float
        A plain float where a background seed determined it.

    Raises
    ------
    InputError
        As `background_threshold` does.
    """
    automatic = automatic_threshold(scene)
    if background_seeds is None:
        return automatic
    return raised(automatic, background_threshold(scene, background_seeds), cut)


def raised(
    automatic: AutomaticThreshold, background: float, cut: float
) -> AutomaticThreshold | float:
    """`choose_threshold` from the automatic one and that of the background seeds."""
    # Without a cut, a background seed that no path reaches has no information.
    informative = max(background, cut) > np.finfo(np.float32).tiny
    if background > automatic or (automatic.confidence < UNSURE and informative):
        return max(background, cut)
    return automatic
