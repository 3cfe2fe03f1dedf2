"""The fuzzy scene, and its labels: thresholds by hand, by background seeds and automatic; gaps.

The object at threshold t is ``{c : C(c) >= t}`` (Udupa and Samarasekera 1996).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any, NamedTuple, Self

import numpy as np

from FuzzyVesselCoreLib.errors import InputError
from FuzzyVesselCoreLib.progress import in_parts
from FuzzyVesselCoreLib.voxels.masks import bounding_box

from .affinity import TOP_LEVEL, level_values
from .input_validation import BackgroundConnectedError, checked_seeds

MAX_ROUNDS = 10  # in which gaps are filled
CHUNK = 1 << 18  # voxels that are counted at a time, in a core's cache
UNSURE = 0.5  # an automatic threshold of lower confidence (0..1) is reported as unsure
TINY = np.finfo(np.float32).tiny
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


@dataclass(frozen=True)
class FuzzyScene:
    """Connectedness of every voxel to the seeds, and how it was computed.

    Attributes
    ----------
    values : ndarray, float32, of the volume's shape (K, J, I)
        0..1; seeds have 1, voxels that no path reaches have 0.
    solver : str
    device : str
        "cpu", or the ordinal and name of the CUDA device.
    rounds : int
        Kernel rounds until nothing changed; 0 on the CPU.
    seconds : dict of str to float
        Time of each stage, in the order of the stages.
    peak_bytes : int
        Most memory of the solver at a time: on the device for CUDA, else in host memory, without
        the given volume and the returned values.
    notes : tuple of str
        Messages for the user, for example why the CPU was used.
    """

    values: np.ndarray
    solver: str
    device: str
    rounds: int
    seconds: dict[str, float]
    peak_bytes: int
    notes: tuple[str, ...] = ()


def error_voxels(scene: FuzzyScene | np.ndarray, reference: FuzzyScene | np.ndarray) -> int:
    """Number of voxels whose connectedness differs from the reference's (the papers' error points).

    Raises `InputError` if the shapes differ.

    Examples
    --------
    >>> import numpy as np
    >>> error_voxels(np.array([0.2, 1.0]), np.array([0.3, 1.0]))
    1
    """
    first, second = scene_values(scene), scene_values(reference)
    if first.shape != second.shape:
        raise InputError(
            f"The scenes have shapes {first.shape} and {second.shape}; they must agree."
        )
    return int(np.count_nonzero(first != second))


def scene_values(scene: FuzzyScene | np.ndarray) -> np.ndarray:
    """The values of a `FuzzyScene`, or the array itself."""
    return scene.values if isinstance(scene, FuzzyScene) else np.asarray(scene)


def binarize(scene: FuzzyScene | np.ndarray, threshold: float) -> np.ndarray:
    """The object (uint8, 0 or 1): voxels whose connectedness reaches the threshold.

    The threshold is above 0 and at most 1, else `InputError`; it is compared in the scene's
    precision, float32.

    Examples
    --------
    >>> import numpy as np
    >>> binarize(np.array([[[1.0, 0.5, 0.2]]]), 0.5)
    array([[[1, 1, 0]]], dtype=uint8)
    """
    values, lowest = scene_values(scene), lowest_value(threshold)
    labels = np.empty(values.shape, bool)

    def compare(first: int, last: int) -> None:
        np.greater_equal(values[first:last], lowest, out=labels[first:last])

    in_parts(compare, len(values), values.size)
    return labels.view(np.uint8)


def lowest_value(threshold: Any) -> np.float32:
    """The lowest connectedness of the object at a threshold; raises as `binarize`."""
    try:
        value = float(threshold)
    except (TypeError, ValueError):
        raise InputError(f"The threshold is {threshold!r}, but must be a number.") from None
    if not 0 < value <= 1:
        raise InputError(f"The threshold is {value:g}, but must be above 0 and at most 1.")
    return max(np.float32(value), TINY)


def check_threshold(threshold: float | None, cut: float) -> None:
    """Raise `InputError` where a threshold is outside 0..1 or below the cut; None is automatic."""
    if threshold is None:
        return
    lowest_value(threshold)
    if threshold < cut:
        raise InputError(
            f"The threshold {threshold:g} is below the cut {cut:g}, where nothing is computed: "
            "lower the cut or raise the threshold."
        )


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


def volume_curve(scene: FuzzyScene | np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Number of the object's voxels at every threshold.

    Returns
    -------
    thresholds : ndarray, float32, shape (65535,)
        All values above 0 that a scene can have, ascending: 1/65535 .. 1.
    counts : ndarray, int64, shape (65535,)

    Raises `InputError` if a value is not within 0..1.

    Examples
    --------
    >>> import numpy as np
    >>> thresholds, counts = volume_curve(np.array([[[1.0, 0.5, 0.2]]]))
    >>> counts[[0, 30000, 65534]].tolist()
    [3, 2, 1]
    """
    return curve_of(level_histogram(scene_values(scene)))


def level_histogram(values: np.ndarray) -> np.ndarray:
    """Number of voxels (int64, 65536) of each level, of a scene's values; raises as `volume_curve`.

    A value counts for the highest level that it reaches; 0 does not count. Histograms of a volume's
    parts add up to its own.
    """
    flat, scale = values.reshape(-1), level_values(np.arange(TOP_LEVEL + 1))

    def count(first: int, last: int) -> np.ndarray:
        found = np.zeros(TOP_LEVEL + 1, np.int64)
        for start in range(first * CHUNK, min(last * CHUNK, flat.size), CHUNK):
            part = np.asarray(flat[start : start + CHUNK], np.float32)
            if not (part.min() >= 0 and part.max() <= 1):  # of NaN, too, the minimum is NaN
                raise InputError("A fuzzy scene's values lie within 0..1; these do not.")
            part = part[part > 0]  # most voxels have no path to a seed
            level = np.rint(part * np.float32(TOP_LEVEL)).astype(np.int32)
            level -= part < scale[level]
            found += np.bincount(level, minlength=TOP_LEVEL + 1)
        return found

    histograms = in_parts(count, -(-flat.size // CHUNK), flat.size)
    return sum(histograms, np.zeros(TOP_LEVEL + 1, np.int64))


def curve_of(histogram: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The volume curve from the scene's `level_histogram`."""
    return level_values(np.arange(1, TOP_LEVEL + 1)), histogram[:0:-1].cumsum()[::-1]


class Leak(NamedTuple):
    """The connectedness below which an object leaks, and how many times faster it grows there.

    `alike`: the leak is so high that seeds and background look alike.
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
        self.confidence, self.reason, self.leak = float(confidence), reason, leak
        return self

    def __getnewargs__(self) -> tuple[float, float, str, Leak | None]:  # type: ignore[override]
        return float(self), self.confidence, self.reason, self.leak


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
        reason = "no leak into the background found; all that is connected with at least "
        return AutomaticThreshold(value, 0.0, f"{reason}{value:.3g} is taken")
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
    if background_seeds is None:
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


# ---- gaps: voxels that noise left out of a wide vessel


def check_rounds(rounds: int) -> None:
    """Raise `InputError` unless rounds is an integer from 0 to `MAX_ROUNDS`."""
    whole = isinstance(rounds, Integral) and not isinstance(rounds, bool)
    if not whole or not 0 <= rounds <= MAX_ROUNDS:
        raise InputError(
            f"Gaps are filled in {rounds!r} rounds, but it must be a whole number from 0 to "
            f"{MAX_ROUNDS}."
        )


def fill_gaps(
    labels: np.ndarray,
    rounds: int = 1,
    mask: np.ndarray | None = None,
    background_seeds: np.ndarray | Sequence | None = None,
) -> np.ndarray:
    """Add voxels that the object surrounds: those with most of their neighbours in it.

    These are 14 of 26, in a single slice 5 of 8. Nothing is removed. The border of a smooth object
    is unchanged, as a voxel outside of it has at most half of its neighbours inside.

    Parameters
    ----------
    labels : ndarray, shape (K, J, I) or (J, I), uint8, 0 or 1
        The result is a new array, unless nothing can be added.
    rounds : int
        0 to 10, else `InputError`; each uses the result of the one before.
    mask : ndarray of the same shape, optional
        Nothing is added where it is 0, nor at background seeds.
    background_seeds : array_like, shape (n, 3), integers K, J, I, optional
    """
    check_rounds(rounds)
    if rounds == 0 or not labels.any():
        return labels
    result = labels.copy()
    solid = result.reshape((1,) * (3 - labels.ndim) + labels.shape)  # of a slice (1, J, I)
    majority = 3 ** sum(length > 1 for length in solid.shape) // 2 + 1
    allowed = np.ones(solid.shape, bool)
    if mask is not None:
        allowed &= np.reshape(mask, solid.shape) != 0
    if background_seeds is not None and np.size(background_seeds):
        allowed[tuple(np.reshape(background_seeds, (-1, 3)).T)] = False
    box = bounding_box(solid)  # nothing beyond it can have a majority
    part, allowed = solid[box], allowed[box]
    for _round in range(rounds):
        added = (_neighbours(part) >= majority) & (part == 0) & allowed
        if not added.any():
            break
        part[added] = 1
    return result


def _neighbours(labels: np.ndarray) -> np.ndarray:
    """Number of set voxels among the 27 of each neighbourhood."""
    total = np.pad(labels, 1)
    for axis in range(labels.ndim):
        total = np.moveaxis(total, axis, 0)
        total = np.moveaxis(total[:-2] + total[1:-1] + total[2:], 0, axis)
    return total
