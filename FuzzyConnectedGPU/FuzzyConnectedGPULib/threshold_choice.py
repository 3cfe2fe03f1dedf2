"""Which threshold a run uses: the given one, the background seeds', or the scene's own."""

from FuzzyVesselCommon.errors import InputError

from .threshold import automatic_threshold, background_threshold


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
    """The threshold from background seeds where there are any, else from the scene's histogram.

    Parameters
    ----------
    scene : FuzzyScene
    background_seeds : array_like, shape (n, 3), integers K, J, I, optional
    cut : float
        Below it the scene is 0, so the threshold is at least that.

    Returns
    -------
    float
        An `AutomaticThreshold` where it comes from the histogram.

    Raises
    ------
    InputError
        As `background_threshold` does.
    """
    if background_seeds is None:
        return automatic_threshold(scene)
    return max(background_threshold(scene, background_seeds), cut)
