"""From the fuzzy scene to an object: thresholds by hand and by background seeds.

The object at threshold t is ``{c : C(c) >= t}`` (Udupa and Samarasekera 1996).
"""

from collections.abc import Sequence

import numpy as np

from FuzzyVesselCoreLib.errors import InputError
from FuzzyVesselCoreLib.threads import in_parts
from FuzzyVesselCoreLib.voxels.large_arrays import Allocate, at_least

from ..affinity import TOP_LEVEL, level_values
from ..input_errors import BackgroundConnectedError
from ..input_validation import checked_seeds
from ..scene import FuzzyScene, scene_values

CHUNK = 1 << 18  # voxels that are counted at a time, in a core's cache


def binarize(
    scene: FuzzyScene | np.ndarray, threshold: float, allocate: Allocate = np.empty
) -> np.ndarray:
    """Voxels whose connectedness reaches the threshold.

    Parameters
    ----------
    scene : FuzzyScene or ndarray
        Connectedness, 0..1.
    threshold : float
        Above 0 and at most 1; compared in the scene's precision, float32.
    allocate : callable, optional
        ``allocate(shape, dtype) -> ndarray``, of the result.

    Returns
    -------
    ndarray, uint8
        1 in the object, else 0; of the scene's shape.

    Raises
    ------
    InputError
        If the threshold is not a number in (0, 1].

    Examples
    --------
    >>> import numpy as np
    >>> binarize(np.array([[[1.0, 0.5, 0.2]]]), 0.5)
    array([[[1, 1, 0]]], dtype=uint8)
    """
    return at_least(scene_values(scene), lowest_value(threshold), allocate)


def lowest_value(threshold: float) -> np.float32:
    """The lowest connectedness of the object at a threshold; raises as `binarize`."""
    try:
        value = float(threshold)
    except (TypeError, ValueError):
        raise InputError(f"The threshold is {threshold!r}, but must be a number.") from None
    if not 0 < value <= 1:
        raise InputError(f"The threshold is {value:g}, but must be above 0 and at most 1.")
    return max(np.float32(value), np.finfo(np.float32).tiny)


def background_threshold(
    scene: FuzzyScene | np.ndarray, background_seeds: np.ndarray | Sequence
) -> float:
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
        as a seed itself (connectedness 1), so that no threshold separates them.

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
    above = np.nextafter(np.float32(connected[highest]), np.float32(1))
    return float(max(above, np.finfo(np.float32).tiny))


def volume_curve(scene: FuzzyScene | np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Number of the object's voxels at every threshold.

    Parameters
    ----------
    scene : FuzzyScene or ndarray

    Returns
    -------
    thresholds : ndarray, float32, shape (65535,)
        All values above 0 that a scene can have, ascending: 1/65535 .. 1.
    counts : ndarray, int64, shape (65535,)
        Number of voxels with a connectedness of at least each threshold.

    Raises
    ------
    InputError
        If a value is not within 0..1.

    Examples
    --------
    >>> import numpy as np
    >>> thresholds, counts = volume_curve(np.array([[[1.0, 0.5, 0.2]]]))
    >>> counts[[0, 30000, 65534]].tolist()
    [3, 2, 1]
    """
    return curve_of(level_histogram(scene_values(scene)))


def level_histogram(values: np.ndarray) -> np.ndarray:
    """Number of voxels of each level (int64, 65536), of a scene's values 0..1.

    A value counts for the highest level that it reaches; 0 does not count. Histograms of a volume's
    parts add up to its own.

    Raises
    ------
    InputError
        If a value is not within 0..1.

    Examples
    --------
    >>> import numpy as np
    >>> np.flatnonzero(level_histogram(np.array([1.0, 0.5, 0.0])))
    array([32767, 65535])
    """
    values = values.reshape(-1)
    scale = level_values(np.arange(TOP_LEVEL + 1))

    def count(first: int, last: int) -> np.ndarray:
        starts = range(first * CHUNK, min(last * CHUNK, values.size), CHUNK)
        levels = [_levels(values[start : start + CHUNK], scale) for start in starts]
        return np.bincount(np.concatenate(levels), minlength=TOP_LEVEL + 1)

    histograms = in_parts(count, -(-values.size // CHUNK), values.size)
    return sum(histograms, np.zeros(TOP_LEVEL + 1, np.int64))


def _levels(values: np.ndarray, scale: np.ndarray) -> np.ndarray:
    """The highest level that each value above 0 reaches."""
    part = np.asarray(values, np.float32)
    least = part.min()
    part = part[part > 0]  # most voxels have no path to a seed
    if not (least >= 0 and part.max(initial=0) <= 1):  # of NaN, too, the minimum is NaN
        raise InputError("A fuzzy scene's values lie within 0..1; these do not.")
    level = np.rint(part * np.float32(TOP_LEVEL)).astype(np.int32)
    level -= part < scale[level]
    return level


def curve_of(histogram: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The volume curve from the scene's `level_histogram`."""
    return level_values(np.arange(1, TOP_LEVEL + 1)), histogram[:0:-1].cumsum()[::-1]
