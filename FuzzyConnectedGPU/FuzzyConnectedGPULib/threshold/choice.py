"""Which threshold a run uses: the given one, the background seeds', or the scene's own."""

import numpy as np

from FuzzyVesselCoreLib.errors import InputError

from .thresholds import automatic_threshold, background_threshold

# An automatic threshold with less confidence (0..1) is reported as unsure.
UNSURE = 0.5


def check_threshold(threshold, cut):
    """Refuse a given threshold that the scene cannot answer; None is chosen later.

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


def choose_threshold(scene, background_seeds=None, cut=0.0):
    """The threshold of the scene's volume curve, raised where background seeds ask for it.

    Where the curve leaves it unsure, the background seeds and the cut decide, if they can.

    Parameters
    ----------
    scene : FuzzyScene
    background_seeds : array_like, shape (n, 3), integers K, J, I, optional
    cut : float
        Below it the scene is 0, so the threshold is at least that.

    Returns
    -------
    AutomaticThreshold or float
        A plain float where a background seed made it.

    Raises
    ------
    InputError
        As `background_threshold` does.
    """
    automatic = automatic_threshold(scene)
    if background_seeds is None:
        return automatic
    background = background_threshold(scene, background_seeds)
    # Without a cut, a background seed that no path reaches says nothing.
    telling = max(background, cut) > np.finfo(np.float32).tiny
    if background > automatic or (automatic.confidence < UNSURE and telling):
        return max(background, cut)
    return automatic
