"""Seeds of curves where the unit force converges: local minima of its divergence."""

import numpy as np
from numba import njit

from FuzzyVesselCoreLib.jit.decorators import inlined
from FuzzyVesselCoreLib.progress import Progress
from FuzzyVesselCoreLib.threads import in_parts

from .local_minima import inner_slabs, local_minima, lowest_first, spans_of, whole_rows


def divergence_seeds(
    vectors: np.ndarray,
    share: float,
    progress: Progress | None = None,
    classes: np.ndarray | None = None,
) -> np.ndarray:
    """Return local minima of the unit force's divergence in the lowest part of its range.

    Parameters
    ----------
    vectors : ndarray, shape (K, J, I, 3)
        Forces, 0 where there is none.
    share : float
        0 to 100: per cent of the range between the lowest and the highest divergence (Cornea et
        al. 2005); 0 gives no seeds.
    progress : Progress, optional
        Checked between slabs.
    classes : ndarray of uint8, shape (K, J, I), optional
        Not 0 wherever there is a force: other rows are skipped.

    Returns
    -------
    ndarray of int, (n, 3)
        Voxels K, J, I, the lowest divergence first.
    """
    progress = Progress.of(progress)
    spans = whole_rows(vectors.shape) if classes is None else spans_of(classes)
    divergence, low, high = unit_divergence(vectors, spans, progress)
    if share <= 0 or low > high:
        return np.empty((0, 3), np.int64)
    progress.check()
    seeds = local_minima(divergence, spans, highest_seed(low, high, share), progress)
    return seeds[lowest_first(divergence[tuple(seeds.T)])]


def highest_seed(low: np.float32, high: np.float32, share: float) -> np.float32:
    """Return the highest divergence of a seed, from the lowest and the highest of all."""
    return low + share / 100 * (high - low)


def unit_divergence(
    vectors: np.ndarray, spans: np.ndarray, progress: Progress
) -> tuple[np.ndarray, np.float32, np.float32]:
    """Return the divergence of the unit force, its lowest and its highest finite value.

    It is infinite where a neighbour has no force; if it is nowhere finite they are inf and -inf.
    """
    divergence = np.full(vectors.shape[:3], np.inf, np.float32)
    limits: list[tuple[float, float]] = [(np.inf, -np.inf)]
    for first, last in inner_slabs(divergence.shape):

        def work(low: int, high: int, first: int = first) -> tuple[float, float]:
            return divergence_of_planes(vectors, divergence, spans, first + low, first + high)

        limits += in_parts(work, last - first, (last - first) * divergence[0].size)
        progress.check()
    low, high = min(low for low, _ in limits), max(high for _, high in limits)
    return divergence, np.float32(low), np.float32(high)


@njit(cache=True, nogil=True, error_model="numpy")
def divergence_of_planes(
    vectors: np.ndarray, divergence: np.ndarray, spans: np.ndarray, first: int, last: int
) -> tuple[float, float]:
    """Write the divergence in the spans of rows of some planes; its lowest and highest."""
    lowest, highest = np.inf, -np.inf
    for k in range(first, last):
        for j in range(1, vectors.shape[1] - 1):
            low = max(spans[k, j, 0], 1)
            for i in range(low, min(spans[k, j, 1], vectors.shape[2] - 1)):
                divergence[k, j, i] = divergence_at(vectors, k, j, i)
                value = np.float64(divergence[k, j, i])  # as it is written, rounded
                if -np.inf < value < np.inf:
                    lowest, highest = min(lowest, value), max(highest, value)
    return lowest, highest


@inlined
def divergence_at(vectors: np.ndarray, k: int, j: int, i: int) -> float:
    """Return the divergence at one voxel, by central differences."""
    total = 0.0
    for axis in range(3):
        for sign in (-1, 1):
            a = k + sign if axis == 0 else k
            b = j + sign if axis == 1 else j
            c = i + sign if axis == 2 else i
            length = 0.0
            for n in range(3):
                length += np.float64(vectors[a, b, c, n]) ** 2
            if not length > 0:
                return np.inf
            total += 0.5 * sign * vectors[a, b, c, axis] / np.sqrt(length)
    return total
