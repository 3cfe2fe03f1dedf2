"""The threshold of a scene of the model "affinity": automatic, or by background seeds."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from FuzzyVesselCoreLib.translation import tr as _

from .input_validation import BackgroundConnectedError, checked_seeds
from .scene import TINY, TOP_LEVEL, AutomaticThreshold, FuzzyScene, scene_values, volume_curve

UNSURE = 0.5  # an automatic threshold of lower confidence (0..1) is reported as unsure
# An affinity exp(-z*z/2) belongs to a link z sigmas off, so on the scale log z = log(-2 log t) / 2
# a sigma estimated too wide or too narrow only shifts the volume curve. The constants were chosen
# on phantoms of several sizes, noises and affinities.
STEP = 0.02  # of log z
REACH = 0.4  # of log z: growth is compared over this much on both sides
MIN_LEAK = 0.08, 0.25  # of all connected voxels: slower growth than this is no leak; more ..
MIN_LEAK_OF_GRID = 0.02  # .. where they are few in the grid, as in a mask
MIN_LEAK_AFTER_CUT = 0.03  # of the grid, where a cut may have left nothing but vessels
CLEAR_GROWTH = 2.2  # a leak makes the object grow at least this many times faster
DISTANCE = 0.13  # of log z, to stay above the leak's edge, for each e-fold of faster growth
THREE_SIGMAS = float(np.exp(-4.5))  # affinity of a link three sigmas off
NEARLY_SEED = 0.8  # a leak above this connectedness: the affinity hardly tells tissues apart


def background_threshold(
    scene: FuzzyScene | np.ndarray, background_seeds: np.ndarray | Sequence
) -> float:
    """Lowest threshold that keeps every background seed out of the object.

    The object is ``{C > max over t of C(t)}`` for the background seeds t. For one seed it equals
    relative fuzzy connectedness (Udupa, Saha and Lotufo 2002) of the seed against the background
    seeds. For several seeds it is a part of that: see `relative_connectedness`.

    Parameters
    ----------
    scene : FuzzyScene or ndarray, shape (K, J, I)
    background_seeds : array_like, shape (n, 3), integers K, J, I

    Raises `InputError` where there is none, one lies outside the scene, or one is as connected as
    a seed itself (connectedness 1).

    Examples
    --------
    >>> import numpy as np
    >>> round(background_threshold(np.array([[[1.0, 0.5, 0.2]]]), [[0, 0, 1]]), 3)
    0.5
    """
    values = np.atleast_3d(scene_values(scene).T).T  # a slice (J, I) is a volume (1, J, I)
    seeds = checked_seeds(background_seeds, values.shape, "background seed")
    return next_above(values[tuple(seeds.T)], seeds)


def next_above(connected: np.ndarray, seeds: np.ndarray) -> float:
    """`background_threshold` from the connectedness of each background seed (K, J, I)."""
    highest = int(np.argmax(connected))
    if connected[highest] >= 1:
        raise BackgroundConnectedError(tuple(map(int, seeds[highest])))
    return float(max(np.nextafter(np.float32(connected[highest]), np.float32(1)), TINY))


def automatic_threshold(scene: FuzzyScene | np.ndarray) -> AutomaticThreshold:
    """The threshold just above the leak into the background; all seeds are in the object.

    Lowering the threshold, the object grows slowly inside the vessels and fast where it leaks. The
    leak is where the growth of the volume curve rises most, on a scale of the affinity's sigmas.

    Raises `InputError` if a value is not within 0..1.

    Examples
    --------
    >>> import numpy as np
    >>> automatic_threshold(np.zeros((2, 2, 2))).reason
    'no voxel is connected to a seed'
    """
    return threshold_of_curve(*volume_curve(scene), scene_values(scene).size)


def threshold_of_curve(
    thresholds: np.ndarray, counts: np.ndarray, voxels: int
) -> AutomaticThreshold:
    """`automatic_threshold` from the volume curve of a scene of so many voxels."""
    if counts[0] == 0:
        return AutomaticThreshold(1.0, 0.0, "no voxel is connected to a seed")
    lowest = float(thresholds[np.flatnonzero(counts == counts[0])[-1]])
    at, growth = _rise_of_growth(counts, voxels, lowest)
    if growth < CLEAR_GROWTH:
        value = _reached(thresholds, max(lowest, THREE_SIGMAS))
        reason = _("no leak was found; all that is connected with at least {value:.3g} is taken")
        return AutomaticThreshold(value, 0.0, reason.format(value=value))
    value = _reached(thresholds, max(_connectedness(at - DISTANCE * np.log(growth)), lowest))
    confidence = 1 - 1 / growth
    reason = _(
        "below {leak:.3g} it leaks into the surroundings: it grows {growth:.0f} times faster"
    )
    reason = reason.format(leak=_connectedness(at), growth=growth)
    if value > NEARLY_SEED:
        confidence *= (1 - value) / (1 - NEARLY_SEED)
        reason += _("; so high a leak means that vessels and surroundings look alike")
    return AutomaticThreshold(value, confidence, reason)


def _connectedness(log_z: Any) -> Any:
    """Affinity of a link with a deviation of so many sigmas (logarithm)."""
    return np.exp(-np.exp(2 * log_z) / 2)


def _reached(thresholds: np.ndarray, value: float) -> float:
    """The lowest value of a scene that is not below the given one."""
    return float(thresholds[np.searchsorted(thresholds, np.float32(min(value, 1.0)))])


def _rise_of_growth(counts: np.ndarray, voxels: int, lowest: float) -> tuple[float, float]:
    """The log z at which the growth rises most towards lower thresholds, and the factor."""
    log_z = np.arange(-2.6, 1.46, STEP)  # connectedness 0.997 .. 0.0001
    log_z = log_z[_connectedness(log_z) >= lowest]
    if not len(log_z):
        return 0.0, 0.0
    level = np.ceil(_connectedness(log_z) * TOP_LEVEL).astype(int)
    volume = counts[level - 1].astype(float)
    below = np.interp(log_z + REACH, log_z, volume) - volume
    above = volume - np.interp(log_z - REACH, log_z, volume)
    if lowest > THREE_SIGMAS:  # growth, in voxels per unit of log z, that does not count as a leak
        slow = max(MIN_LEAK[0] * counts[0], MIN_LEAK_AFTER_CUT * voxels)
    else:
        slow = np.clip(MIN_LEAK_OF_GRID * voxels / counts[0], *MIN_LEAK) * counts[0]
    growth = (below + slow * REACH) / (above + slow * REACH)
    steepest = int(np.argmax(growth))
    return log_z[steepest], float(growth[steepest])


def choose_threshold(
    scene: FuzzyScene | np.ndarray,
    background_seeds: np.ndarray | Sequence | None = None,
    cut: float = 0.0,
) -> AutomaticThreshold | float:
    """The automatic threshold of the scene, raised where background seeds require it.

    Where its confidence is low, the background seeds and the cut (below which the scene is 0)
    decide, if they can; the result is then a plain float. Raises as `background_threshold`.
    """
    automatic = automatic_threshold(scene)
    if background_seeds is None or not np.size(background_seeds):
        return automatic
    return raised(automatic, background_threshold(scene, background_seeds), cut)


def raised(
    automatic: AutomaticThreshold, background: float, cut: float
) -> AutomaticThreshold | float:
    """`choose_threshold` from the automatic one and that of the background seeds."""
    # Without a cut, a background seed that no path reaches has no information.
    informative = max(background, cut) > TINY
    if background > automatic or (automatic.confidence < UNSURE and informative):
        return max(background, cut)
    return automatic
