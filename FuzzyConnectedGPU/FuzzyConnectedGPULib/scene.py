"""The fuzzy scene: its values, volume curve, the automatic threshold, labels; gaps in them.

The object at threshold t is ``{c : C(c) >= t}`` (Udupa and Samarasekera 1996).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any, Self

import numpy as np

from FuzzyVesselCoreLib.errors import InputError
from FuzzyVesselCoreLib.progress import in_parts
from FuzzyVesselCoreLib.translation import tr as _
from FuzzyVesselCoreLib.voxels.masks import bounding_box

from .input_validation import checked_background, volume_shape

TOP_LEVEL = 65535  # of affinities and their scenes: a value is ``level / 65535``, rounded once
CHUNK = 1 << 18  # voxels that are counted at a time, in a core's cache
MAX_ROUNDS = 10  # in which gaps are filled
TINY = np.finfo(np.float32).tiny
CONTRAST_THRESHOLD = 0.5  # of every scene of the model "contrast"
# The note of a scene with seeds `without_contrast`.
NO_CONTRAST = _(
    "A point has no contrast to its surroundings: only voxels close by were added there."
)


@dataclass(frozen=True)
class FuzzyScene:
    """Connectedness of every voxel to the seeds, and how it was computed.

    Attributes
    ----------
    values : ndarray, float32, of the volume's shape (K, J, I)
        0..1; seeds have 1, voxels that no path reaches and no faint click has added have 0.
    solver : str
    device : str
        "cpu", or the ordinal and name of the CUDA device.
    rounds : int
        Kernel rounds of a CUDA solver until nothing changed; else 0.
    seconds : dict of str to float
        Time of each stage, in the order of the stages.
    peak_bytes : int
        Most memory of the solver at a time: on the device for CUDA, else in host memory, without
        the given volume and the returned values.
    notes : tuple of str
        Messages for the user, for example why the CPU was used.
    least_contrast, noise : float or None
        Of the model "contrast", in the volume's unit: voxels on paths that differ so much from
        their local background belong to the vessels, unless background clicks or clicks that no
        path reaches have changed that; and the standard deviation where there is no vessel.
    without_contrast : tuple of tuple of 3 int
        K, J, I of clicks that differ from their surroundings in no way.
    """

    values: np.ndarray
    solver: str
    device: str
    rounds: int
    seconds: dict[str, float]
    peak_bytes: int
    notes: tuple[str, ...] = ()
    least_contrast: float | None = None
    noise: float | None = None
    without_contrast: tuple[tuple[int, ...], ...] = ()


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


def level_values(levels: Any) -> np.ndarray:
    """The affinity or connectedness (float32, 0..1) of each level: rounded once."""
    levels = np.asarray(levels)
    values = np.empty(levels.shape, np.float32)
    flat, out, top = levels.reshape(-1), values.reshape(-1), np.float32(TOP_LEVEL)
    in_parts(
        lambda a, b: np.divide(flat[a:b], top, out=out[a:b], dtype=np.float32), flat.size, flat.size
    )
    return values


def volume_curve(scene: FuzzyScene | np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Number of the object's voxels at every threshold.

    Returns
    -------
    thresholds : ndarray, float32, shape (65535,)
        1/65535 .. 1, ascending: all values above 0 that a scene of the model "affinity" can have.
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


# ---- The threshold that a run chose, with the reason


class AutomaticThreshold(float):
    """A threshold with its confidence.

    Attributes
    ----------
    confidence : float
        0..1: the share of the growth just below the threshold that is not there just above it;
        0 where no leak into the background was found.
    reason : str
        Why this threshold, in one sentence.
    """

    confidence: float
    reason: str

    def __new__(cls, value: float, confidence: float, reason: str) -> Self:
        self = super().__new__(cls, value)
        self.confidence, self.reason = float(confidence), reason
        return self

    def __getnewargs__(self) -> tuple[float, float, str]:  # type: ignore[override]
        return float(self), self.confidence, self.reason


# ---- Labels of a scene at a threshold


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
    voxels = result.reshape(volume_shape(labels.shape))
    majority = 3 ** sum(length > 1 for length in voxels.shape) // 2 + 1
    allowed = np.ones(voxels.shape, bool)
    if mask is not None:
        allowed &= np.reshape(mask, voxels.shape) != 0
    allowed[tuple(checked_background(background_seeds, voxels.shape).T)] = False
    box = bounding_box(voxels)  # nothing beyond it can have a majority
    part, allowed = voxels[box], allowed[box]
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
