"""From the fuzzy scene to an object: thresholds, chosen by hand, by background clicks or by itself.

The object at threshold t is ``{c : C(c) >= t}`` (Udupa and Samarasekera 1996).
"""

import numpy as np

from FuzzyVesselCoreLib.errors import InputError

from ..affinity.gaussian_affinity import TOP_LEVEL, level_values
from ..input_validation import checked_seeds
from ..scene import scene_values

SLAB_VOXELS = 1 << 22

# The automatic threshold. An affinity exp(-z*z/2) belongs to a link z sigmas off, so
# log z = log(-2 log t) / 2 is a scale on which a sigma estimated too wide or too narrow only
# shifts the volume curve. The constants were chosen by Testing/benchmarks/threshold_study.py.
STEP = 0.02  # of log z
REACH = 0.4  # of log z: growth is compared over this much on both sides
SMALLEST_LEAK = 0.08, 0.25  # of all connected voxels: slower growth than this is no leak; more ..
SMALLEST_LEAK_OF_GRID = 0.02  # .. where they are few in the grid, as in a mask
SMALLEST_LEAK_AFTER_CUT = 0.03  # of the grid, where a cut may have left nothing but vessels
CLEAR_GROWTH = 2.2  # a leak makes the object grow at least this many times faster
DISTANCE = 0.13  # of log z, to stay above the leak's edge, for each e-fold of faster growth
THREE_SIGMAS = float(np.exp(-4.5))  # affinity of a link three sigmas off
NEARLY_SEED = 0.8  # a leak above this connectedness: the affinity hardly tells tissues apart


def binarize(scene, threshold):
    """Voxels whose connectedness reaches the threshold.

    Parameters
    ----------
    scene : FuzzyScene or ndarray
        Connectedness, 0..1.
    threshold : float
        Above 0 and at most 1; compared in the scene's precision, float32.

    Returns
    -------
    ndarray, uint8
        1 in the object, else 0; of the scene's shape.

    Raises
    ------
    InputError
        If the threshold is not a number in (0, 1].
    """
    try:
        value = float(threshold)
    except (TypeError, ValueError):
        raise InputError(f"The threshold is {threshold!r}, but must be a number.") from None
    if not 0 < value <= 1:
        raise InputError(f"The threshold is {value:g}, but must be above 0 and at most 1.")
    value = max(np.float32(value), np.finfo(np.float32).tiny)
    return (scene_values(scene) >= value).view(np.uint8)


def background_threshold(scene, background_seeds):
    """Lowest threshold that keeps every background seed out of the object.

    The object is ``{C > max over t of C(t)}`` for the background seeds t. For one seed it equals
    relative fuzzy connectedness (Udupa, Saha and Lotufo 2002) of the seed against the background
    seeds. For several seeds it is a part of that, since relative connectedness has a bound for
    each seed and this is the highest of them: see `relative_connectedness`.

    Parameters
    ----------
    scene : FuzzyScene or ndarray, shape (K, J, I)
    background_seeds : array_like, shape (n, 3), integers K, J, I

    Returns
    -------
    float
        The float32 number next above the highest connectedness of a background seed, so that
        `binarize` gives the object.

    Raises
    ------
    InputError
        If there is no background seed, if one lies outside the scene, or if one is as connected
        as a seed itself (connectedness 1), so that no threshold parts them.
    """
    values = np.atleast_3d(scene_values(scene).T).T  # a slice (J, I) is a volume (1, J, I)
    seeds = checked_seeds(background_seeds, values.shape, "background seed")
    connected = values[tuple(seeds.T)]
    highest = int(np.argmax(connected))
    if connected[highest] >= 1:
        k, j, i = seeds[highest]
        raise InputError(
            f"The background seed at I,J,K = {i},{j},{k} is as connected as a seed "
            "(connectedness 1), so no threshold can part them: move it to where the object leaks."
        )
    above = np.nextafter(np.float32(connected[highest]), np.float32(1))
    return float(max(above, np.finfo(np.float32).tiny))


def volume_curve(scene):
    """How many voxels the object has at every threshold.

    Parameters
    ----------
    scene : FuzzyScene or ndarray

    Returns
    -------
    thresholds : ndarray, float32, shape (65535,)
        All values above 0 that a scene can have, rising: 1/65535 .. 1.
    counts : ndarray, int64, shape (65535,)
        Number of voxels with a connectedness of at least each threshold.

    Raises
    ------
    InputError
        If a value is not within 0..1.
    """
    values = scene_values(scene).reshape(-1)
    scale = level_values(np.arange(TOP_LEVEL + 1))
    histogram = np.zeros(TOP_LEVEL + 1, np.int64)
    for first in range(0, values.size, SLAB_VOXELS):
        part = np.asarray(values[first : first + SLAB_VOXELS], np.float32)
        if not (part.min() >= 0 and part.max() <= 1):
            raise InputError("A fuzzy scene's values lie within 0..1; these do not.")
        level = np.rint(part * np.float32(TOP_LEVEL)).astype(np.int32)
        level -= part < scale[level]  # the highest level that the value reaches
        histogram += np.bincount(level, minlength=TOP_LEVEL + 1)
    return scale[1:], histogram[:0:-1].cumsum()[::-1]


class AutomaticThreshold(float):
    """A threshold that says how sure it is.

    Attributes
    ----------
    confidence : float
        0..1: the share of the growth just below the threshold that is not there just above it;
        0 where no leak into the background was found.
    reason : str
        Why this threshold, in a sentence.
    """

    def __new__(cls, value, confidence, reason):
        self = super().__new__(cls, value)
        self.confidence = float(confidence)
        self.reason = reason
        return self

    def __getnewargs__(self):
        return float(self), self.confidence, self.reason


def automatic_threshold(scene):
    """Threshold just above the leak into the background.

    Going down from 1, the object first grows slowly, vessel by vessel; where it leaks into the
    tissue around, it suddenly grows many times faster. The threshold stands above the bend of
    the volume curve at which the growth rises most, on the scale log z of the link's deviation
    z in sigmas. Growth slower than a small share of all connected voxels counts as none, so
    that a vessel that joins is not taken for a leak.

    Parameters
    ----------
    scene : FuzzyScene or ndarray

    Returns
    -------
    AutomaticThreshold
        A float in (0, 1] at which all seeds are in the object.

    Raises
    ------
    InputError
        If a value is not within 0..1.
    """
    thresholds, counts = volume_curve(scene)
    if counts[0] == 0:
        return AutomaticThreshold(1.0, 0.0, "no voxel is connected to a seed")
    lowest = float(thresholds[np.flatnonzero(counts == counts[0])[-1]])
    at, growth = _rise_of_growth(counts, scene_values(scene).size, lowest)
    if growth < CLEAR_GROWTH:
        value = _reached(thresholds, max(lowest, THREE_SIGMAS))
        return AutomaticThreshold(
            value,
            0.0,
            "no leak into the background found; "
            f"all that is connected with at least {value:.3g} is taken",
        )
    value = _reached(thresholds, max(_connectedness(at - DISTANCE * np.log(growth)), lowest))
    confidence = 1 - 1 / growth
    reason = (
        f"below {_connectedness(at):.3g} the object leaks into the background: "
        f"it grows {growth:.0f} times faster there than above"
    )
    if value > NEARLY_SEED:
        confidence *= (1 - value) / (1 - NEARLY_SEED)
        reason += "; so high a leak means that seeds and background look alike"
    return AutomaticThreshold(value, confidence, reason)


def _connectedness(log_z):
    return np.exp(-np.exp(2 * log_z) / 2)


def _reached(thresholds, value):
    """The lowest value of a scene that is not below the given one."""
    return float(thresholds[np.searchsorted(thresholds, np.float32(min(value, 1.0)))])


def _rise_of_growth(counts, voxels, lowest):
    """Where, in log z, the volume's growth rises most towards lower thresholds; and how much."""
    log_z = np.arange(-2.6, 1.46, STEP)  # connectedness 0.997 .. 0.0001
    log_z = log_z[_connectedness(log_z) >= lowest]
    if not len(log_z):
        return 0.0, 0.0
    level = np.ceil(_connectedness(log_z) * TOP_LEVEL).astype(int)
    volume = counts[level - 1].astype(float)
    below = np.interp(log_z + REACH, log_z, volume) - volume
    above = volume - np.interp(log_z - REACH, log_z, volume)
    slow = _slow_growth(counts[0], voxels, lowest) * REACH
    growth = (below + slow) / (above + slow)
    steepest = int(np.argmax(growth))
    return log_z[steepest], float(growth[steepest])


def _slow_growth(connected, voxels, lowest):
    """Growth, in voxels for a unit of log z, that does not count as a leak."""
    if lowest > THREE_SIGMAS:
        return max(SMALLEST_LEAK[0] * connected, SMALLEST_LEAK_AFTER_CUT * voxels)
    share = np.clip(SMALLEST_LEAK_OF_GRID * voxels / connected, *SMALLEST_LEAK)
    return share * connected
