"""The automatic threshold of a fuzzy scene, from the bend of its volume curve."""

from typing import Any, NamedTuple, Self

import numpy as np

from ..affinity import TOP_LEVEL
from ..scene import FuzzyScene, scene_values
from .thresholds import volume_curve

# An affinity exp(-z*z/2) belongs to a link z sigmas off, so on the scale log z = log(-2 log t) / 2
# a sigma estimated too wide or too narrow only shifts the volume curve. The constants were chosen
# by Testing/benchmarks/threshold_study.py.
STEP = 0.02  # of log z
REACH = 0.4  # of log z: growth is compared over this much on both sides
MIN_LEAK = 0.08, 0.25  # of all connected voxels: slower growth than this is no leak; more ..
MIN_LEAK_OF_GRID = 0.02  # .. where they are few in the grid, as in a mask
MIN_LEAK_AFTER_CUT = 0.03  # of the grid, where a cut may have left nothing but vessels
CLEAR_GROWTH = 2.2  # a leak makes the object grow at least this many times faster
DISTANCE = 0.13  # of log z, to stay above the leak's edge, for each e-fold of faster growth
THREE_SIGMAS = float(np.exp(-4.5))  # affinity of a link three sigmas off
NEARLY_SEED = 0.8  # a leak above this connectedness: the affinity hardly tells tissues apart


class Leak(NamedTuple):
    """Where the object leaks into the background.

    Attributes
    ----------
    below : float
        Connectedness below which it leaks.
    growth : float
        How many times faster the object grows there than above.
    alike : bool
        Whether that is so high that seeds and background look alike.
    """

    below: float
    growth: float
    alike: bool


class AutomaticThreshold(float):
    """A threshold with its confidence.

    Attributes
    ----------
    confidence : float
        0..1: the share of the growth just below the threshold that is not there just above it;
        0 where no leak into the background was found.
    reason : str
        Why this threshold, in one sentence.
    leak : Leak or None
        The same as numbers; None where no leak was found.
    """

    confidence: float
    reason: str
    leak: Leak | None

    def __new__(
        cls, value: float, confidence: float, reason: str, leak: Leak | None = None
    ) -> Self:
        self = super().__new__(cls, value)
        self.confidence = float(confidence)
        self.reason, self.leak = reason, leak
        return self

    def __getnewargs__(self) -> tuple[float, float, str, Leak | None]:  # type: ignore[override]
        return float(self), self.confidence, self.reason, self.leak


def automatic_threshold(scene: FuzzyScene | np.ndarray) -> AutomaticThreshold:
    """Threshold just above the leak into the background.

    With a falling threshold the object first grows slowly, vessel by vessel; where it leaks into
    the surrounding tissue, it suddenly grows many times faster. The threshold is above the bend of
    the volume curve at which the growth rises most, on the scale log z of the link's deviation z in
    sigmas. Growth slower than a small share of all connected voxels counts as none, so that a
    vessel that joins is not mistaken for a leak.

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

    Examples
    --------
    >>> import numpy as np
    >>> automatic_threshold(np.zeros((2, 2, 2))).reason
    'no voxel is connected to a seed'
    """
    thresholds, counts = volume_curve(scene)
    return threshold_of_curve(thresholds, counts, scene_values(scene).size)


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
    leak = Leak(_connectedness(at), growth, value > NEARLY_SEED)
    if leak.alike:
        confidence *= (1 - value) / (1 - NEARLY_SEED)
        reason += "; so high a leak means that seeds and background look alike"
    return AutomaticThreshold(value, confidence, reason, leak)


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
    slow = _slow_growth(counts[0], voxels, lowest) * REACH
    growth = (below + slow) / (above + slow)
    steepest = int(np.argmax(growth))
    return log_z[steepest], float(growth[steepest])


def _slow_growth(connected: int, voxels: int, lowest: float) -> float:
    """Growth, in voxels per unit of log z, that does not count as a leak."""
    if lowest > THREE_SIGMAS:
        return max(MIN_LEAK[0] * connected, MIN_LEAK_AFTER_CUT * voxels)
    share = np.clip(MIN_LEAK_OF_GRID * voxels / connected, *MIN_LEAK)
    return share * connected
